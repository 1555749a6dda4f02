"""Every snippet of the tutorial and of the how-to pages runs, in order, in one folder per page.

A comment before a fenced block says what becomes of it: `run` (with `: exit N` where it fails on purpose),
`background` (a server; the address in it is moved to a free port), `file: PATH` (written there), `shown: COMMAND`
(the last lines that the command prints), `python`, or `read: WHY` where it cannot run here, with the reason.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *(
        DOCS / f"{name}.md"
        for name in (
            "tutorial",
            "concepts",
            "arms",
            "api",
            "plan",
            "ci",
            "archive",
            "studies",
            "risk",
            "compare",
            "report",
        )
    ),
    *sorted((DOCS / "howto").glob("*.md")),
]
ELSEWHERE = {
    "backends.md": "tests/judges/test_backends.py",
    "batteries.md": "tests/batteries/test_batteries_page.py",
    "contracts.md": "tests/verdicts/test_contracts_page.py",
    "importers.md": "tests/importers/test_importers_page.py",
    "randomization.md": "tests/stats/test_randomization.py",
    "schedules.md": "tests/schedules/test_schedules_page.py",
}
"""Pages whose blocks are run or read by tests of their own part."""
BLOCK = re.compile(
    r"(?:^<!-- ([a-z]+)(?:: ([^\n]*?))? -->\n+)?^```([a-z]+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    "COLUMNS": "100",
    "MY_API_KEY": "not-a-real-key",
}


def blocks(page: Path) -> list[tuple[str, str, str, str]]:
    return [
        (do or "", what or "", kind, text)
        for do, what, kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def test_the_pages_are_these():
    assert [page.name for page in PAGES[:2]] == ["tutorial.md", "concepts.md"]
    assert len(PAGES) >= 6


def test_no_page_has_a_block_that_nothing_runs():
    """A page is run here or elsewhere, or each of its blocks says why it is only read."""
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        if page in PAGES or name == "reference/cli.md":  # that page is made of the program's own words
            continue
        if name in ELSEWHERE:
            test = DOCS.parent / ELSEWHERE[name]
            assert f'"{name}"' in test.read_text(encoding="utf-8"), name
        else:
            assert [text for do, *_, text in blocks(page) if do != "read"] == [], name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_snippet_runs(page, tmp_path):
    port = _free_port()
    ran = 0
    with ExitStack() as servers:
        for do, what, kind, text in blocks(page):
            text = text.replace(":8000", f":{port}").replace("--port 8000", f"--port {port}")
            if do == "run":
                wanted = int(what.removeprefix("exit ")) if what else 0
                done = _shell(text, tmp_path)
                assert done.returncode == wanted, f"{text}\n{done.stdout}\n{done.stderr}"
            elif do == "background":
                servers.enter_context(_server(text, tmp_path))
            elif do == "file":
                (tmp_path / what).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / what).write_text(text, encoding="utf-8")
            elif do == "shown":
                assert _squeezed(text) in _squeezed(_shell(f"darkcurrent {what}", tmp_path).stdout), text
            elif do == "python":
                done = subprocess.run(
                    [sys.executable, "-c", text],
                    cwd=tmp_path,
                    env=ENVIRONMENT,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"{text}\n{done.stderr}"
            else:
                assert do == "read", f"{page.name}: nothing says what becomes of this {kind} block:\n{text}"
                assert len(what) > 10, f"{page.name}: no reason why this does not run:\n{text}"
                continue
            ran += 1
    assert ran > 0, f"{page.name}: nothing ran"


def test_the_session_of_the_page_on_risk_gives_what_it_shows():
    result = doctest.testfile(str(DOCS / "risk.md"), module_relative=False)
    assert result.attempted == 6
    assert result.failed == 0


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def _server(command: str, folder: Path) -> Iterator[None]:
    bash = shutil.which("bash")
    with subprocess.Popen(
        [bash, "-c", f"exec {command.strip()}"],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout.readline().startswith("http://"), command
            yield
        finally:
            server.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]
