"""What a stranger's container may be: a folder, a zip or a tar of plain files whose names are known; nothing else."""

from __future__ import annotations

import io
import os
import random
import stat
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest
from backports import zstd

from darkcurrent.archive import containers
from darkcurrent.archive.containers import read_files, write_files
from darkcurrent.archive.layout import check_tags
from darkcurrent.errors import IntegrityError, UsageError
from support.archives import files_of

FORMS = ("bag", "bag.zip", "bag.tar.zst")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_is_read(tmp_path, form):
    write_files(tmp_path / form, files_of())
    assert read_files(tmp_path / form) == files_of()
    with pytest.raises(UsageError, match="never overwritten"):
        write_files(tmp_path / form, files_of())


def test_another_program_takes_it_for_a_bag(tmp_path):
    bagit = pytest.importorskip("bagit")
    write_files(tmp_path / "bag", files_of())
    bag = bagit.Bag(str(tmp_path / "bag"))
    assert bag.validate() is True
    assert bag.algorithms == ["sha256"]


def test_the_same_files_give_the_same_container(tmp_path):
    for form in FORMS[1:]:
        (tmp_path / "again").mkdir(exist_ok=True)
        write_files(tmp_path / form, files_of())
        write_files(tmp_path / "again" / form, files_of())
        assert (tmp_path / form).read_bytes() == (tmp_path / "again" / form).read_bytes()


@pytest.mark.parametrize("name", ["bag.tar", "bag.tar.gz", "bag.7z", "bag.tgz"])
def test_a_form_that_is_not_written_is_said(tmp_path, name):
    with pytest.raises(UsageError, match=r"\.zip or \.tar\.zst"):
        write_files(tmp_path / name, files_of())


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(UsageError, match="is no folder"):
        write_files(tmp_path / "absent" / "bag.zip", files_of())
    with pytest.raises(UsageError, match="no archive at"):
        read_files(tmp_path / "absent")
    (tmp_path / "text").write_text("hello", encoding="ascii")
    with pytest.raises(UsageError, match="is no archive"):
        read_files(tmp_path / "text")


# -- names --

NAMES = {
    "a traversal": "../evil",
    "a traversal inside": "data/../../evil",
    "an absolute path": "/etc/passwd",
    "a path of Windows": "C:\\evil",
    "backslashes": "data\\tables\\items.parquet",
    "a file that nobody knows": "data/notes.txt",
    "a code file": "data/tables/__init__.py",
    "a name in another case": "data/Tables/items.parquet",
    "a tag in another case": "BagIt.txt",
    "a manifest of another algorithm": "manifest-md5.txt",
    "a tag manifest of another algorithm": "tagmanifest-sha512.txt",
    "a list of files to fetch": "fetch.txt",
    "a name with a line break": "data/tables/items.parquet\nx",
    "a name that looks the same": "data/tables/it\u0435ms.parquet",
}


def in_zip(path: Path, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w") as container, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in members:
            container.writestr(name, data)
    return path


def in_tar(path: Path, members: list[tuple[tarfile.TarInfo | str, bytes]]) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as container:
        for member, data in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            if info.isfile():
                info.size = len(data)
            container.addfile(info, io.BytesIO(data))
    path.write_bytes(zstd.compress(buffer.getvalue()))
    return path


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("pack", [in_zip, in_tar])
def test_a_foreign_name_is_refused_and_nothing_is_written(tmp_path, kind, pack):
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    path = pack(home / "bag", [*files_of().items(), (NAMES[kind], b"evil")])
    with pytest.raises(IntegrityError, match="is no file of an archive"):
        read_files(path)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["bag"]


@pytest.mark.parametrize("name", ["data/notes.txt", "manifest-md5.txt", "data/tables/ITEMS.parquet"])
def test_a_file_more_in_a_folder_is_refused(tmp_path, name):
    write_files(tmp_path / "bag", files_of())
    (tmp_path / "bag" / name).write_bytes(b"x")
    with pytest.raises(IntegrityError, match="is no file of an archive"):
        read_files(tmp_path / "bag")


def test_a_folder_more_is_refused(tmp_path):
    write_files(tmp_path / "bag", files_of())
    (tmp_path / "bag" / "data" / "more").mkdir()
    with pytest.raises(IntegrityError, match="data/more is no folder of an archive"):
        read_files(tmp_path / "bag")


@pytest.mark.parametrize("pack", [in_zip, in_tar])
def test_a_name_twice_is_refused(tmp_path, pack):
    path = pack(tmp_path / "bag", [*files_of().items(), ("bagit.txt", files_of()["bagit.txt"])])
    with pytest.raises(IntegrityError, match=r"bagit\.txt is there twice"):
        read_files(path)


@pytest.mark.parametrize("pack", [in_zip, in_tar])
@pytest.mark.parametrize("top", ["", "bag/", "./", "my bag/"])
def test_one_folder_around_the_files_is_allowed(tmp_path, pack, top):
    path = pack(tmp_path / "bag", [(f"{top}{name}", data) for name, data in files_of().items()])
    assert read_files(path) == files_of()


def test_two_folders_around_the_files_are_not(tmp_path):
    members = [
        (f"{'one' if index else 'two'}/{name}", data) for index, (name, data) in enumerate(files_of().items())
    ]
    with pytest.raises(IntegrityError, match="is no file of an archive"):
        read_files(in_zip(tmp_path / "bag", members))


# -- links, devices, pipes --


def test_links_and_pipes_in_a_folder_are_refused(tmp_path):
    name = "data/report.md"
    for number, make in enumerate(
        (
            lambda path: path.symlink_to("/etc/passwd"),
            lambda path: path.symlink_to(path.parent / "report.html"),
            os.mkfifo,
        )
    ):
        bag = tmp_path / str(number)
        write_files(bag, files_of())
        (bag / name).unlink()
        make(bag / name)
        with pytest.raises(IntegrityError, match=r"data/report\.md is no plain file"):
            read_files(bag)
    bag = tmp_path / "folder"
    write_files(bag, files_of())
    (bag / "data" / "schemas").rename(tmp_path / "schemas")
    (bag / "data" / "schemas").symlink_to(tmp_path / "schemas")
    with pytest.raises(IntegrityError, match="data/schemas is no plain file"):
        read_files(bag)


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE],
)
def test_what_is_no_plain_file_in_a_tar_is_refused(tmp_path, kind):
    member = tarfile.TarInfo("data/report.md")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(IntegrityError, match=r"data/report\.md is no plain file"):
        read_files(in_tar(tmp_path / "bag", [(member, b"")]))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_in_a_zip_is_refused(tmp_path, mode):
    member = zipfile.ZipInfo("data/report.md")
    member.external_attr = (mode | 0o777) << 16
    with pytest.raises(IntegrityError, match=r"data/report\.md is no plain file"):
        read_files(in_zip(tmp_path / "bag", [(member, b"/etc/passwd")]))


def test_an_encrypted_member_and_a_rare_method_are_refused(tmp_path):
    path = in_zip(tmp_path / "bag", [("bagit.txt", b"x")])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(IntegrityError, match="is encrypted"):
        read_files(path)
    member = zipfile.ZipInfo("bagit.txt")
    member.compress_type = zipfile.ZIP_LZMA
    with pytest.raises(IntegrityError, match="other than deflate"):
        read_files(in_zip(tmp_path / "other", [(member, b"x")]))


# -- sizes --


def test_a_bomb_of_a_zip_is_refused(tmp_path):
    member = zipfile.ZipInfo("data/README.md")
    member.compress_type = zipfile.ZIP_DEFLATED
    path = in_zip(tmp_path / "bag", [(member, bytes(30 << 20))])
    assert path.stat().st_size < 100_000
    with pytest.raises(IntegrityError, match=r"data/README\.md is larger than the 1048576 bytes"):
        read_files(path)


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path):
    member = zipfile.ZipInfo("data/README.md")
    member.compress_type = zipfile.ZIP_DEFLATED
    path = in_zip(tmp_path / "bag", [(member, bytes(30 << 20))])
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.index(mark) + place
        data[start : start + 4] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(IntegrityError):
        read_files(path)


def test_a_bomb_of_a_tar_is_refused(tmp_path):
    path = in_tar(tmp_path / "bag", [("data/README.md", bytes(30 << 20))])
    assert path.stat().st_size < 100_000
    with pytest.raises(IntegrityError, match=r"data/README\.md is larger than the 1048576 bytes"):
        read_files(path)


def test_a_tar_whose_headers_are_the_bomb_is_refused(tmp_path):
    buffer = io.BytesIO()
    header = tarfile.TarInfo("./PaxHeaders/x")
    header.type, header.size = tarfile.XHDTYPE, 64 << 20
    buffer.write(header.tobuf(tarfile.USTAR_FORMAT) + bytes(64 << 20))
    path = tmp_path / "bag"
    path.write_bytes(zstd.compress(buffer.getvalue()))
    with pytest.raises(IntegrityError, match="unpacks to more bytes"):
        read_files(path)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_headers_of_headers_without_end_are_refused(tmp_path, kind):
    header = tarfile.TarInfo("x")
    header.type = kind
    path = tmp_path / "bag"
    path.write_bytes(zstd.compress(header.tobuf(tarfile.GNU_FORMAT) * 1500))
    with pytest.raises(IntegrityError, match=r"The tar\.zst is damaged"):
        read_files(path)


def test_a_window_that_takes_too_much_memory_is_refused(tmp_path):
    data = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 28})
    (tmp_path / "bag").write_bytes(data.compress(bytes(1 << 20)) + data.flush())
    with pytest.raises(IntegrityError, match="is damaged"):
        read_files(tmp_path / "bag")


def test_all_files_together_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "LARGEST_TOTAL", 50_000)
    for form in FORMS:
        write_files(tmp_path / form, files_of())
        with pytest.raises(IntegrityError, match="is larger than the"):
            read_files(tmp_path / form)


def test_too_many_members_are_refused(tmp_path):
    with pytest.raises(IntegrityError, match="more than 100 members"):
        read_files(in_tar(tmp_path / "bag", [("data", b"")] * 0 + [_folder("data") for _ in range(101)]))


def _folder(name: str) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type = tarfile.DIRTYPE
    return member, b""


# -- damage --


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_cut_container_is_refused(tmp_path, form):
    write_files(tmp_path / form, files_of())
    data = (tmp_path / form).read_bytes()
    for keep in (5, 200, len(data) // 2, len(data) - 30):
        (tmp_path / form).write_bytes(data[:keep])
        with pytest.raises(IntegrityError):
            check_tags(read_files(tmp_path / form))


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_flipped_byte_of_a_container_never_changes_what_is_read(tmp_path, form):
    """A container has bytes that mean nothing, such as a date; whatever is read of it is what was written, or refused."""
    path = tmp_path / form
    write_files(path, files_of())
    data = path.read_bytes()
    stream = random.Random(7)
    read, refused = 0, 0
    for _ in range(150):
        spoiled = bytearray(data)
        spoiled[stream.randrange(len(data))] ^= stream.randrange(1, 256)
        path.write_bytes(spoiled)
        try:
            files = read_files(path)
            check_tags(files)
        except (IntegrityError, UsageError):
            refused += 1
            continue
        assert files == files_of()
        read += 1
    assert refused > read
