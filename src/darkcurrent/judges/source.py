"""Which files the answers of an imported function come from, as far as its text tells."""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol.configurations import FunctionConfiguration

__all__ = ["source_file", "source_files"]

_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}
"""Folders whose modules have nothing to do with each other."""


def source_file(configuration: FunctionConfiguration, folder: Path) -> Path:
    """Return the file of the callable's module, without running it.

    Raises
    ------
    ProtocolError
        Where there is no such module.
    """
    module = configuration.callable.partition(":")[0]
    beside = folder.joinpath(*module.split(".")).with_suffix(".py")
    if beside.is_file():
        return beside
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None or not spec.has_location:
        raise ProtocolError(
            f"configuration `{configuration.name}`: there is no module `{module}`, neither as {beside} nor installed."
        )
    return Path(spec.origin)


def source_files(configuration: FunctionConfiguration, folder: Path) -> dict[str, Path]:
    """Return the file of the callable's module as `source`, and those that it imports from its own folder or package.

    Import statements are followed wherever they stand, through all of these files. What is imported by a computed
    name, what other packages do, and files that are merely read are not covered.
    """
    first = source_file(configuration, folder)
    root = first.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    # A module of its own among installed ones has no folder of its own, a package there has.
    own = root / first.relative_to(root).parts[0] if root.resolve() in _INSTALLED else root
    found = {first: "source"}
    waiting = [first]
    while waiting:
        path = waiting.pop()
        for other in _imported(path, root):
            if other not in found and other.is_file() and other.is_relative_to(own):
                found[other] = f"source {other.relative_to(root).as_posix()}"
                waiting.append(other)
    return {name: path for path, name in sorted(found.items(), key=lambda entry: entry[1])}


def _imported(path: Path, root: Path) -> Iterator[Path]:
    """Yield the files that the import statements of a file can mean."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return  # loading it says what is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(root, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = root if node.level == 0 else path.parents[min(node.level, len(path.parents)) - 1]
            parts = node.module.split(".") if node.module else []
            yield from _files(base, parts)
            for alias in node.names:
                yield from _files(base, [*parts, alias.name])


def _files(base: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the module of a dotted name and the packages above it, which are run first."""
    for length in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:length])
        yield place / "__init__.py"
        yield place.with_name(f"{place.name}.py")
