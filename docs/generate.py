"""Write the pages of the reference that follow from the code: `python docs/generate.py`. A test compares them."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

HERE = Path(__file__).parent


def cli_page() -> str:
    """Return the page of every command, as `--help` has it."""
    from darkcurrent.cli.main import app

    group: Any = typer.main.get_command(app)
    parts = [
        "# Commands\n",
        "Made from `darkcurrent --help` by `python docs/generate.py`. Data goes to stdout, talk to stderr.\n",
        f"{group.epilog}\n",
    ]
    parts += _commands(group, group.context_class(group, info_name="darkcurrent"))
    return "\n".join(parts)


def _commands(group: Any, context: Any) -> list[str]:
    parts = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        own = command.context_class(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            parts += _commands(command, own)
            continue
        usage = command.collect_usage_pieces(own)
        parts += [f"## `{own.command_path}`\n", f"```text\n{own.command_path} {' '.join(usage)}\n```\n"]
        parts += [f"{inspect.cleandoc(command.help or '')}\n"]
        rows = [row for parameter in command.params if (row := _parameter(parameter, own))]
        if rows:
            parts += ["| | | default |", "|---|---|---|", *rows, ""]
    return parts


def _parameter(parameter: Any, context: Any) -> str | None:
    if "--help" in parameter.opts:
        return None
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    default = parameter.get_default(context, call=False)
    shown = "" if default in (None, False, ()) or callable(default) else f"`{default}`"
    return f"| {names} | {_cell(getattr(parameter, 'help', None) or '')} | {shown} |"


def protocol_page() -> str:
    """Return the page of every table and key of a protocol."""
    from darkcurrent.protocol.model import Protocol

    parts = [
        "# The protocol\n",
        "Made from the models by `python docs/generate.py`. The same as a JSON schema for editors ships with the package:",
        "`darkcurrent/protocol/schema.json`. A key that is not here is an error that names it.\n",
    ]
    for model in _models(Protocol):
        if model is Protocol:
            continue
        text = inspect.cleandoc(model.__doc__ or "")
        intro, _, attributes = text.partition("\nAttributes\n----------\n")
        told = _attributes(attributes)
        for base in model.__mro__[1:]:
            if base is not BaseModel and base.__doc__:
                _, _, inherited = inspect.cleandoc(base.__doc__).partition("\nAttributes\n----------\n")
                told = _attributes(inherited) | told
        parts += [
            f"## {_heading(model)}\n",
            f"{_prose(intro)}\n",
            "| key | type | default | meaning |",
            "|---|---|---|---|",
        ]
        for name, field in model.model_fields.items():
            if field.default is not PydanticUndefined:
                default = (
                    _cell(f"`{field.default!r}`") if not isinstance(field.default, BaseModel) else "its own"
                )
            else:
                default = "its own" if field.default_factory else "required"
            parts.append(
                f"| `{name}` | {_cell(_type(field.annotation))} | {default} | {_cell(told.get(name, ''))} |"
            )
        parts.append("")
    return "\n".join(parts)


def _models(root: type[BaseModel]) -> list[type[BaseModel]]:
    found: dict[type[BaseModel], None] = {root: None}
    for model in (order := [root]):
        for field in model.model_fields.values():
            for one in _inside(field.annotation):
                if one not in found:
                    found[one] = None
                    order.append(one)
    return list(found)


def _inside(annotation: Any) -> list[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _inside(argument)]


def _attributes(text: str) -> dict[str, str]:
    told: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        if found := re.match(r"([a-z_, ]+) : ", line):
            names = [name.strip() for name in found[1].split(",")]
        elif line.startswith("    "):
            for name in names:
                told[name] = f"{told.get(name, '')} {line.strip()}".strip()
        elif line.strip():
            break
    return told


def _heading(model: type[BaseModel]) -> str:
    if "backend" in model.model_fields:
        return f"`[[configuration]]` with `backend = {_quoted(model.model_fields['backend'].annotation)}`"
    found = re.match(r"`(\[.*?\])`(?: with `(.*?)`)?", model.__doc__ or "")
    return f"`{found[1]}`" + (f" with `{found[2]}`" if found[2] else "") if found else f"`{model.__name__}`"


def _quoted(annotation: Any) -> str:
    return " or ".join(f'"{value}"' for value in re.findall(r"'(.*?)'", str(annotation)))


def _prose(intro: str) -> str:
    paragraphs = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in intro.split("\n\n")]
    paragraphs[0] = re.sub(
        r"^(`[^`]*`(?: with `[^`]*`)?): (.)", lambda found: found[2].upper(), paragraphs[0]
    )
    return "\n\n".join(paragraphs)


def _type(annotation: Any) -> str:
    if found := _quoted(annotation) if "Literal" in str(annotation) else "":
        return (
            f"one or more of {found}"
            if str(annotation).startswith(("tuple", "typing.Annotated[tuple"))
            else found
        )
    text = (
        annotation.__name__
        if inspect.isclass(annotation) and not getattr(annotation, "__args__", None)
        else str(annotation)
    )
    text = re.sub(r"\b[a-z_]+(?:\.[a-z_]+)*\.([A-Za-z]\w*)", r"\1", text)
    text = re.sub(r"Annotated\[(\w+(?:\[[^\[\]]*\])?)(?:, (?:[^\[\]]|\[[^\[\]]*\])*)\]", r"\1", text)
    text = re.sub(r"Optional\[(.*)\]$", r"\1 or nothing", text).replace(" | None", " or nothing")
    return re.sub(r"tuple\[(.*?)(?:, \.\.\.)?\]", r"list of \1", text)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


PAGES = {"reference/cli.md": cli_page, "reference/protocol.md": protocol_page}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
    sys.exit(0)
