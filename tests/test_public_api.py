"""What `import darkcurrent` promises."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import darkcurrent


def _in_a_new_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_every_public_name_is_there_and_is_listed():
    assert sorted(darkcurrent.__all__) == dir(darkcurrent)
    for name in darkcurrent.__all__:
        assert getattr(darkcurrent, name) is not None
    with pytest.raises(AttributeError, match="'darkcurrent' has no attribute 'nothing'"):
        _ = darkcurrent.nothing


def test_the_names_that_others_rely_on():
    verdict = darkcurrent.parse_verdict('{"winner":"tie"}', contract="sole-object", finish_reason="stop")
    assert (verdict.value, verdict.reason) == ("tie", None)
    verdict = darkcurrent.parse_verdict("A")
    assert verdict.value is None
    assert isinstance(verdict.reason, str)
    assert darkcurrent.stats.clopper_pearson_upper(0, 102) == pytest.approx(0.0289, abs=5e-5)
    assert darkcurrent.stats.clone_tail(2, 102) > 0.05
    assert darkcurrent.stats.holm([0.01, 0.02]) == pytest.approx([0.02, 0.02])
    assert darkcurrent.stats.bootstrap([1.0, 0.5], ["s", "s"]).mean == 0.75
    assert darkcurrent.patterns.classify("u", "u") == "stable"
    assert issubclass(darkcurrent.errors.IntegrityError, darkcurrent.errors.DarkcurrentError)
    assert darkcurrent.Study(Path("absent")).is_frozen is False


def test_import_is_lazy():
    code = "import sys, darkcurrent; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in _in_a_new_process(code).split()}
    assert "darkcurrent" in loaded
    assert (
        loaded & {"polars", "scipy", "numpy", "aiohttp", "pydantic", "typer", "rich", "jinja2", "sqlite3"}
        == set()
    )


def test_a_star_import_gives_every_name():
    out = _in_a_new_process("from darkcurrent import *; import json; print(json.dumps(sorted(globals())))")
    assert set(darkcurrent.__all__) <= set(json.loads(out))


def test_import_writes_nothing(tmp_path):
    there = f"import os, sys; sys.path[:] = map(os.path.abspath, sys.path); os.chdir({str(tmp_path)!r}); "
    _in_a_new_process(there + "import darkcurrent.study, darkcurrent.cli.main, darkcurrent.judges")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.walk_packages(darkcurrent.__path__, "darkcurrent.")]
)
def test_what_a_module_lists_is_there(name):
    module = import_module(name)
    listed = getattr(module, "__all__", [])
    assert len(set(listed)) == len(listed)
    assert [attribute for attribute in listed if not hasattr(module, attribute)] == []
