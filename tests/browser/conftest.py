"""A real browser: Debian's chromium, with no network, and what it complained of."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from darkcurrent.study import Study
from support.pages import KINDS, page_study


@pytest.fixture(scope="module")
def browser(studies) -> Iterator[Browser]:
    """Chromium. It is driven by an event loop in this thread, so that all studies are captured before it starts, and it
    ends with its module. Where it is missing the tests are skipped, but not where `DARKCURRENT_BROWSER=required` is set."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("DARKCURRENT_BROWSER") == "required":
            pytest.fail("there is no chromium: install it, e.g. with `apt-get install chromium`")
        pytest.skip("there is no chromium; `apt-get install chromium` brings it")
    # As root, in a container, chromium has no sandbox of its own.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, and everything that it said, asked for or tried."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Opener = Callable[..., Any]


@pytest.fixture
def opened(browser) -> Opener:
    """Return a way to open a file: `with opened(path, scheme=..., width=..., link=...) as it`."""

    @contextmanager
    def make(
        path: Path, scheme: str = "light", width: int = 1280, link: str = "", script: bool = True
    ) -> Iterator[Opened]:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            offline=True,
            java_script_enabled=script,
        )
        page = context.new_page()
        it = Opened(page)
        page.on("console", lambda message: it.complaints.append(message.text))
        page.on("pageerror", lambda error: it.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (it.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: it.requests.append(request.url))
        page.goto(path.as_uri() + link)
        yield it
        context.close()

    return make


@pytest.fixture(scope="session")
def rich(tmp_path_factory) -> tuple[Study, Path]:
    """A study with much in it: eight cells, one campaign on HOLD, strata that a pass hides."""
    judges = {name: KINDS[name] for name in ("solid", "weak", "first", "fenced")}
    study = page_study(tmp_path_factory.mktemp("pages") / "rich", judges, items=80)
    study.report(study.analyze())
    return study, study.folder / "report.html"


JUDGE = """
def echo(prompt, a, b):
    return prompt + a

def fair(prompt, a, b):
    return "tie" if a == b else "A" if a.startswith("good") else "B"
"""


@pytest.fixture(scope="session")
def hostile(tmp_path_factory) -> Path:
    """The page of a study whose items, strata and replies are hostile."""
    folder = tmp_path_factory.mktemp("pages") / "hostile"
    folder.mkdir()
    text = "</script><script>hacked=1</script>{{7*7}}<img src=x onerror=hacked=1>\u202e"
    rows = [
        {"id": f"{n}{text}", "prompt": f"{n}{text}", "chosen": f"good{text}", "rejected": f"bad{text}"}
        | {"stratum": f"{n % 3}{text}" + "W" * 100_000 * (n % 3 == 1)}
        for n in range(12)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    judges = "".join(
        f'[[configuration]]\nname = "{name}"\nbackend = "function"\ncallable = "judge:{name}"\n'
        for name in ("echo", "fair")
    )
    head = f'format = 1\n[study]\nname = "hostile"\ntitle = {json.dumps(text)}\n'
    body = '[battery]\nsource = "pairs"\npath = "pairs.jsonl"\n[criteria.neutral]\nrubric = "neutral"\n[schedule]\nseed = 1\n'
    (folder / "protocol.toml").write_text(head + body + judges, encoding="utf-8")
    study = Study(folder)
    study.freeze()
    for name in ("echo", "fair"):
        study.run(name)
    study.report(study.analyze())
    return folder / "report.html"


@pytest.fixture(scope="session")
def studies(rich, hostile) -> None:
    """All studies that need an event loop to be captured."""
