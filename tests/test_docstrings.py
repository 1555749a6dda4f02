from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import darkcurrent.stats

MODULES = [
    "darkcurrent.planning.budget",
    "darkcurrent.auditing.call",
    "darkcurrent.auditing.result",
    "darkcurrent.comparing",
    "darkcurrent.errors",
    "darkcurrent.patterns",
    "darkcurrent.risk",
    "darkcurrent.study",
    "darkcurrent.verdicts.reading",
    *(f"darkcurrent.stats.{module.name}" for module in pkgutil.iter_modules(darkcurrent.stats.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_every_example_gives_what_it_says(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", sorted(set(darkcurrent.__all__) - {"__version__"}))
def test_every_public_name_has_an_example(name: str) -> None:
    public = getattr(darkcurrent, name)
    texts = [public.__doc__ or ""]
    if name == "stats":  # a folder: its functions have them
        texts = [getattr(public, one).__doc__ for one in public.__all__ if callable(getattr(public, one))]
        texts = [text for text in texts if "Parameters" in text]
    elif name == "patterns":
        texts = [public.classify.__doc__, public.pair_patterns.__doc__]
    assert texts
    assert [text[:60] for text in texts if ">>> " not in text] == []
