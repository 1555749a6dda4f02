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
from darkcurrent.protocol.batteries import (
    ContextBattery,
    ControlsBattery,
    FiniteCodeBattery,
    LadderBattery,
    PairsBattery,
)
from darkcurrent.protocol.configurations import (
    AnthropicConfiguration,
    CallableConfiguration,
    FunctionConfiguration,
    LlamaCppConfiguration,
    LlamaCppRawConfiguration,
    OllamaConfiguration,
    OllamaRawConfiguration,
    OpenAIChatConfiguration,
    OpenAICompletionsConfiguration,
    SimulatedConfiguration,
    VllmConfiguration,
    VllmRawConfiguration,
)
from darkcurrent.protocol.lines import line_of
from darkcurrent.protocol.model import Protocol
from darkcurrent.protocol.outside import EquivalenceBattery, RewardBench2Battery, StudyBattery

__all__ = ["load_protocol", "parse_protocol"]

_UNIONS: dict[tuple[str, str], type[BaseModel]] = {
    ("battery", "pairs"): PairsBattery,
    ("battery", "finite-code"): FiniteCodeBattery,
    ("battery", "context"): ContextBattery,
    ("battery", "controls"): ControlsBattery,
    ("battery", "ladder"): LadderBattery,
    ("battery", "rewardbench2"): RewardBench2Battery,
    ("battery", "study"): StudyBattery,
    ("battery", "equivalence"): EquivalenceBattery,
    ("configuration", "openai-chat"): OpenAIChatConfiguration,
    ("configuration", "openai-completions"): OpenAICompletionsConfiguration,
    ("configuration", "anthropic"): AnthropicConfiguration,
    ("configuration", "ollama"): OllamaConfiguration,
    ("configuration", "ollama-raw"): OllamaRawConfiguration,
    ("configuration", "llama-cpp"): LlamaCppConfiguration,
    ("configuration", "llama-cpp-raw"): LlamaCppRawConfiguration,
    ("configuration", "vllm"): VllmConfiguration,
    ("configuration", "vllm-raw"): VllmRawConfiguration,
    ("configuration", "function"): FunctionConfiguration,
    ("configuration", "callable"): CallableConfiguration,
    ("configuration", "simulated"): SimulatedConfiguration,
}

_TAG_AT = {"battery": 1, "configuration": 2}
"""Where in a location pydantic puts the tag of a union."""

_FORMS = {
    "name": "must begin with a letter or digit and hold at most 63 letters, digits, dots, hyphens and underscores",
    "base_url": "must be an address that begins with http:// or https:// and has no user, query or fragment",
    "api_key_env": "must be the name of an environment variable; the key itself never stands in a protocol",
    "callable": "must have the form `module:name`",
    "revision": "must be a full commit of the data set: 40 digits in lower-case hex",
    "dataset": "must have the form `owner/name`",
}
"""What a string must look like, by its key; names of criteria are keys themselves and have the form of `name`."""

_DEEPEST = 32
_SHOWN = 60


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
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
    except OSError as error:
        raise ProtocolError(
            f"{path} cannot be read ({error.strerror}): name a study's folder that holds a `protocol.toml`."
        ) from error
    return parse_protocol(text, str(path))


def parse_protocol(text: str, name: str = "protocol.toml") -> Protocol:
    """Check the text of a protocol; `name` stands for the file in errors."""
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise ProtocolError(f"{name} is nested too deeply: flatten it.") from error
    except ValueError as error:  # a TOMLDecodeError, or Python's own for a whole number with too many digits
        raise ProtocolError(f"{name} is not valid TOML: {error}.") from error
    _check_json_values(data, text, name, ())
    try:
        return Protocol.model_validate_json(json.dumps(data))
    except ValidationError as error:
        # A misspelt key is unknown and missing at once: the first of these says more.
        found = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        raise ProtocolError(_explain(found[0], text, name)) from error


def _check_json_values(value: Any, text: str, name: str, path: tuple[str | int, ...]) -> None:
    """Refuse what TOML knows and canonical JSON does not: dates and numbers out of the range of a double."""
    if len(path) > _DEEPEST:
        raise ProtocolError(f"{_place(path[:1], text, name)} is nested too deeply: flatten it.")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_json_values(inner, text, name, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_json_values(inner, text, name, (*path, index))
    elif (
        not isinstance(value, str | bool | int | float)
        or (isinstance(value, float) and not math.isfinite(value))
        or (isinstance(value, int) and abs(value) >= 2**53)
    ):
        raise ProtocolError(
            f"{_place(path, text, name)} has a value that a protocol cannot hold: use a string or a finite number, "
            "a whole one below 2**53."
        )


def _explain(error: ErrorDetails, text: str, name: str) -> str:
    path = _path_in_file(error["loc"])
    where = _place(path, text, name)
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"{where} is not a known key{_suggest(error['loc'], str(path[-1]))}"
    context = error.get("ctx") or {}
    tag = str(context.get("discriminator", "")).strip("'")
    if kind in ("missing", "union_tag_not_found"):
        *table, key = path if kind == "missing" else (*path, tag)
        return f"{_place(tuple(table), text, name)} lacks the key `{key}`: add it."
    if kind == "union_tag_invalid":
        known = context.get("expected_tags")
        return f"{_place((*path, tag), text, name)} is '{context.get('tag')}', which is not one of {known}."
    if kind == "string_pattern_mismatch":
        # The value is not shown: somebody may have put a key there.
        return f"{where} {_FORMS.get(str(path[-1]), _FORMS['name'])}."
    if kind == "too_short":
        if context["actual_length"]:
            return f"{where} has {context['actual_length']}: give at least {context['min_length']}."
        return f"{where} is empty: give at least one."
    message = error["msg"].removeprefix("Value error, ")
    shown = error["input"]
    if isinstance(shown, dict | list) or kind == "value_error":
        return f"{where}: {message[0].lower()}{message[1:]}."
    return f"{where} is {json.dumps(shown, ensure_ascii=False)[:_SHOWN]}: {message[0].lower()}{message[1:]}."


def _path_in_file(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop what pydantic adds to a location and the file does not have: the tags of unions, `[key]` marks."""
    tag_at = _TAG_AT.get(str(loc[0])) if loc else None
    return tuple(part for index, part in enumerate(loc) if index != tag_at and part != "[key]")


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
