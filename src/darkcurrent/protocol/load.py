"""Reading `protocol.toml`: strict, with errors that name the key and the line."""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol.lines import line_of
from darkcurrent.protocol.model import (
    FiniteCodeBattery,
    FunctionConfiguration,
    LlamaCppConfiguration,
    OpenAIChatConfiguration,
    PairsBattery,
    Protocol,
)

__all__ = ["load_protocol", "parse_protocol"]

_UNIONS: dict[tuple[str, str], type[BaseModel]] = {
    ("battery", "pairs"): PairsBattery,
    ("battery", "finite-code"): FiniteCodeBattery,
    ("configuration", "openai-chat"): OpenAIChatConfiguration,
    ("configuration", "llama-cpp"): LlamaCppConfiguration,
    ("configuration", "function"): FunctionConfiguration,
}


def load_protocol(path: Path) -> Protocol:
    """Read and check a protocol file.

    Raises
    ------
    ProtocolError
        Where the file is missing, is not UTF-8 or TOML, or a key is unknown, missing, or has a wrong value.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ProtocolError(
            f"There is no {path}: write one with `darkcurrent init {path.parent}`."
        ) from error
    except IsADirectoryError as error:
        raise ProtocolError(
            f"{path} is a folder, not a protocol file: name the file or the study's folder."
        ) from error
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
    return parse_protocol(text, str(path))


def parse_protocol(text: str, name: str = "protocol.toml") -> Protocol:
    """Check the text of a protocol; `name` stands for the file in errors."""
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(f"{name} is not valid TOML: {error}.") from error
    _check_json_values(data, text, name, ())
    try:
        return Protocol.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise ProtocolError(_explain(error.errors()[0], data, text, name)) from error


def _check_json_values(value: Any, text: str, name: str, path: tuple[str | int, ...]) -> None:
    """Refuse what TOML knows and JSON does not: dates and numbers that are not finite."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_json_values(inner, text, name, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_json_values(inner, text, name, (*path, index))
    elif not isinstance(value, str | bool | int | float) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise ProtocolError(
            f"{_place(path, text, name)} is `{value}`, which a protocol cannot hold: use a string or a finite number."
        )


def _explain(error: ErrorDetails, data: dict[str, Any], text: str, name: str) -> str:
    path = _path_in_file(error["loc"], data)
    where = _place(path, text, name)
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"{where} is not a known key{_suggest(error['loc'], str(path[-1]))}"
    if kind == "missing":
        table = _place(path[:-1], text, name) if len(path) > 1 else name
        return f"{table} lacks the key `{path[-1]}`: add it."
    context = error.get("ctx") or {}
    tag = str(context.get("discriminator", "")).strip("'")
    if kind == "union_tag_not_found":
        return f"{where} lacks the key `{tag}`: add it."
    if kind == "union_tag_invalid":
        return (
            f"{where}: `{tag}` is '{context.get('tag')}', which is not one of {context.get('expected_tags')}."
        )
    message = error["msg"].removeprefix("Value error, ")
    shown = error["input"]
    if isinstance(shown, dict | list) or kind == "value_error":
        return f"{where}: {message[0].lower()}{message[1:]}."
    return f"{where} is {json.dumps(shown, ensure_ascii=False)}: {message[0].lower()}{message[1:]}."


def _path_in_file(loc: tuple[str | int, ...], data: Any) -> tuple[str | int, ...]:
    """Drop what pydantic adds to a location and the file does not have: the tags of unions, `[key]` marks."""
    path: list[str | int] = []
    here: Any = data
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        in_table = isinstance(here, dict) and part in here
        if in_table or (isinstance(here, list) and isinstance(part, int) and part < len(here)):
            here = here[part]
            path.append(part)
        elif last and part != "[key]" and not _is_tag(loc, index):
            path.append(part)
    return tuple(path)


def _is_tag(loc: tuple[str | int, ...], index: int) -> bool:
    return (str(loc[0]), str(loc[index])) in _UNIONS


def _place(path: tuple[str | int, ...], text: str, name: str) -> str:
    line = line_of(text, path)
    dotted = ""
    for part in path:
        dotted += f"[{part}]" if isinstance(part, int) else f".{part}" if dotted else part
    return f"{name}:{line}: `{dotted}`" if line else f"{name}: `{dotted}`" if dotted else name


def _suggest(loc: tuple[str | int, ...], key: str) -> str:
    """Name the nearest known key of the table in which an unknown one stands."""
    model: Any = Protocol
    for part in loc[:-1]:
        union = _UNIONS.get((str(loc[0]), str(part)))
        if union is not None:
            model = union
        elif isinstance(part, str) and part in getattr(model, "model_fields", {}):
            annotation = model.model_fields[part].annotation
            model = (
                annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else model
            )
    known = list(model.model_fields)
    if loc[0] == "criteria" and len(loc) > 2:
        known = ["rubric", "rubric_file"]
    close = difflib.get_close_matches(key, known, n=1)
    return (
        f": did you mean `{close[0]}`?"
        if close
        else f": known here are {', '.join(f'`{k}`' for k in known)}."
    )
