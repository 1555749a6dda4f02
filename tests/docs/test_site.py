"""The documentation builds without a warning, its generated pages follow from the code, and its index is whole."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

from generate import PAGES  # noqa: E402 - the path has to be there first


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_what_the_code_gives(page):
    assert (DOCS / page).read_text(encoding="utf-8") == PAGES[page](), "run `python docs/generate.py`"


def test_the_site_builds_strictly(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in DOCS.rglob("*.md"):
        assert (tmp_path / "site" / page.relative_to(DOCS).with_suffix(".html")).is_file(), page
    assert (tmp_path / "site" / "llms.txt").is_file()
    fetched = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["']https?://(?!example)""")
    for page in (tmp_path / "site").rglob("*.html"):
        found = [tag for tag in fetched.findall(page.read_text(encoding="utf-8")) if "canonical" not in tag]
        assert not found, f"{page.name} fetches something from elsewhere"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} == listed


def test_the_links_of_llms_txt_exist():
    links = re.findall(r"\]\((.*?)\)", (DOCS / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (DOCS / link).is_file()] == []
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
    assert pages - set(links) == set()


def test_the_extras_of_the_first_page_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = re.findall(r"^\| `(\w+)` \|", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table) == sorted(project["optional-dependencies"])


def test_every_command_is_in_the_page_of_commands():
    import typer

    from darkcurrent.cli.main import app

    group = typer.main.get_command(app)
    names = group.list_commands(group.context_class(group))
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`darkcurrent {name}" not in text] == []
