from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import darkcurrent.stats

MODULES = [
    "darkcurrent.patterns",
    "darkcurrent.risk",
    *(f"darkcurrent.stats.{module.name}" for module in pkgutil.iter_modules(darkcurrent.stats.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_every_example_gives_what_it_says(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
