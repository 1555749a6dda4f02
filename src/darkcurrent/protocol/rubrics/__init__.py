"""Rubrics: whole system messages. The built-in ones are text files beside this module, in our own words."""

from __future__ import annotations

import difflib
from importlib.resources import files
from pathlib import Path

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol.model import Criterion

__all__ = ["built_in_rubrics", "rubric_text"]


def built_in_rubrics() -> list[str]:
    """Return the names of the rubrics that ship with the package."""
    return sorted(
        entry.name.removesuffix(".txt") for entry in files(__name__).iterdir() if entry.name.endswith(".txt")
    )


def rubric_text(name: str, criterion: Criterion, folder: Path, instruction: str = "") -> str:
    """Return the system message of a criterion, exactly as its file holds it, but for a byte-order mark at its head.

    Parameters
    ----------
    name : str
        The criterion's name, for errors.
    criterion : Criterion
        What the protocol declares.
    folder : Path
        The study's folder, which a `rubric_file` is relative to.
    instruction : str
        What the battery has every rubric say besides.
    """
    if criterion.rubric_file is not None:
        path = folder / criterion.rubric_file
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ProtocolError(
                f"`criteria.{name}.rubric_file`: {path} is not UTF-8 text: save it as UTF-8."
            ) from error
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            raise ProtocolError(
                f"`criteria.{name}.rubric_file`: {path} cannot be read: name an existing text file."
            ) from error
    else:
        known = built_in_rubrics()
        if criterion.rubric not in known:
            close = difflib.get_close_matches(str(criterion.rubric), known, n=1)
            hint = (
                f"did you mean `{close[0]}`?"
                if close
                else f"known are {', '.join(known)}; or give a `rubric_file`."
            )
            raise ProtocolError(
                f"`criteria.{name}.rubric` is `{criterion.rubric}`, which does not ship with darkcurrent: {hint}"
            )
        text = files(__name__).joinpath(f"{criterion.rubric}.txt").read_text(encoding="utf-8")
    if not text.strip():
        raise ProtocolError(f"The rubric of criterion `{name}` is empty: write what the judge is to decide.")
    return f"{text}\n{instruction}\n" if instruction else text
