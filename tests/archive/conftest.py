"""The program in this process: a new one for each command would take longer than what it does."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from darkcurrent.archive import pack as pack_module
from darkcurrent.cli.main import main


@pytest.fixture(autouse=True)
def _without_charts(monkeypatch, request):
    """Leave the page out, whose charts take seconds; a test that asks for `charts` has the real one."""
    if "charts" not in request.fixturenames:
        monkeypatch.setattr(
            pack_module, "html_report", lambda analysis: "<p>charts are left out in this test</p>"
        )


@pytest.fixture
def charts():
    """Have the real page in the archives of a test."""


@pytest.fixture
def program(capsys, monkeypatch):
    """Return a function that runs the program and gives its exit code and what it said."""

    def run(*arguments: object) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["darkcurrent", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)

    return run
