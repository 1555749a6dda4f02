"""A file of declared losses: the fields of `darkcurrent.risk.Losses` as TOML."""

from __future__ import annotations

import difflib
import sys
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path

from darkcurrent.errors import ProtocolError, StatsInputError
from darkcurrent.protocol.lines import line_of
from darkcurrent.risk import Losses

__all__ = ["load_losses"]

_FIELDS = {field.name: field.default is MISSING for field in fields(Losses)}
"""Key to whether it must be given."""

_STDIN = Path("-")


def load_losses(path: Path) -> Losses:
    """Read declared losses. Nothing is assumed: a loss that is left out is an error, but for those of equivalents.

    Parameters
    ----------
    path : Path
        A TOML file; `-` is stdin.

    Raises
    ------
    ProtocolError
        Where the file cannot be read, is not TOML, or a key is unknown, missing, or has a value that cannot be used.
    """
    name = "stdin" if path == _STDIN else str(path)
    try:
        content = sys.stdin.buffer.read() if path == _STDIN else path.read_bytes()
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{name} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
    except OSError as error:
        raise ProtocolError(f"{name} cannot be read ({error.strerror}): name a file of losses.") from error
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"{name} is not valid TOML: {error or 'it is nested too deeply'}.") from error
    for key, value in data.items():
        place = f"{name}:{line_of(text, (key,)) or 1}: `{key}`"
        if key not in _FIELDS:
            close = difflib.get_close_matches(key.lower(), _FIELDS, n=1)
            known = ", ".join(f"`{each}`" for each in _FIELDS)
            raise ProtocolError(
                f"{place} is not a known key: "
                + (f"did you mean `{close[0]}`?" if close else f"known are {known}.")
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ProtocolError(f"{place} is no number: give one of 0 or more.")
        highest = 1 if key.startswith("pi_") else sys.float_info.max
        if not 0 <= value <= highest:
            allowed = "0 to 1" if highest == 1 else "0 or more"
            raise ProtocolError(f"{place} is {str(value)[:20]}: give a finite number of {allowed}.")
    missing = [f"`{key}`" for key, must in _FIELDS.items() if must and key not in data]
    if missing:
        raise ProtocolError(f"{name} lacks {', '.join(missing)}: nothing is assumed of a loss, so add it.")
    if data.get("pi_e", 0) > 0 and "lambda_e" not in data:
        raise ProtocolError(f"{name} has `pi_e` and lacks `lambda_e`: say what such a preference costs.")
    try:
        return Losses(**{key: float(value) for key, value in data.items()})
    except (
        StatsInputError
    ) as error:  # each value was checked: what is left is that two prevalences are too much
        raise ProtocolError(f"{name}:{line_of(text, ('pi_e',)) or 1}: {error}") from None
