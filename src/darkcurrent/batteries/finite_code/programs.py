"""Running the bundled programs on declared inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from darkcurrent.batteries.finite_code.family import Argument

__all__ = ["Raised", "agrees", "load", "outcomes"]

# All that the bundled programs call. A program that wanted to import or to open something could not.
_BUILTINS: dict[str, object] = {
    function.__name__: function
    for function in (abs, any, divmod, enumerate, len, list, max, min, range, reversed, set, sorted, sum)
}


@dataclass(frozen=True)
class Raised:
    """What a program gives that ends in an exception: the name of the exception's class."""

    kind: str


def load(source: str) -> Callable[..., object]:
    """Return the function `solve` of a bundled program. Never call this with a text from anywhere else."""
    namespace: dict[str, object] = {"__builtins__": _BUILTINS}
    exec(compile(source, "<bundled program>", "exec"), namespace)  # noqa: S102 - only texts of this package
    solve = namespace["solve"]
    assert callable(solve)
    return solve


def outcomes(solve: Callable[..., object], domain: Iterable[tuple[Argument, ...]]) -> list[object]:
    """Return what a function gives on each input; an exception becomes a `Raised`, which no value equals."""
    results: list[object] = []
    for arguments in domain:
        # A list is built anew for each call, so that no program can change what the next one is given.
        fresh = [list(value) if isinstance(value, tuple) else value for value in arguments]
        try:
            results.append(solve(*fresh))
        except Exception as error:  # noqa: BLE001 - whatever a faulty program raises is its outcome
            results.append(Raised(type(error).__name__))
    return results


def agrees(outcome: object, expected: object) -> bool:
    """Tell whether an outcome is the expected one, in value and in type: `True` is not 1."""
    return type(outcome) is type(expected) and outcome == expected
