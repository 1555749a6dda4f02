"""Whether what a study found still speaks of the judge that is declared now.

Everything is compared that can be compared without asking anybody: the protocol, the rubrics, and the digests of the
configurations with their local files. Who answers at an address is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from darkcurrent.batteries.context import INSTRUCTION
from darkcurrent.errors import MissingExtraError, UsageError
from darkcurrent.judges import freeze_configuration
from darkcurrent.protocol import Frozen, Protocol, load_protocol
from darkcurrent.protocol.configurations import CallableConfiguration, Configuration, HttpConfiguration
from darkcurrent.protocol.rubrics import rubric_text
from darkcurrent.study import Study

__all__ = ["Freshness", "freshness"]

_AUDITED = ("battery", "criteria", "schedule", "gates", "analysis")
"""The tables of a protocol that the numbers of every cell depend on. `capture` and `study` change none."""


@dataclass(frozen=True)
class Freshness:
    """What changed since a study was frozen, in words.

    Attributes
    ----------
    changed : dict
        Configuration to what is another thing now, for those where something is.
    unchecked : dict
        Configuration to what could not be compared.
    """

    changed: dict[str, list[str]] = field(default_factory=dict)
    unchecked: dict[str, list[str]] = field(default_factory=dict)


def freshness(study: Study) -> Freshness:
    """Compare a frozen study with what its folder declares now. An imported study has nothing to compare.

    Raises
    ------
    IntegrityError
        Where the frozen files are not what was written.
    """
    found = Freshness()
    if study.is_imported:
        return found
    frozen = study.frozen
    present, everywhere = _present(study)
    declared = {each.name: each for each in present.configuration}
    everywhere += [f"rubric of criterion `{name}`" for name in _other_rubrics(study, frozen, present)]
    everywhere += [
        f"`{name}` is declared in {study.protocol_path} and was never frozen"
        for name in declared.keys() - {each.name for each in frozen.protocol.configuration}
    ]
    for old in frozen.protocol.configuration:
        changed, unchecked = list(everywhere), []
        new = declared.get(old.name)
        if new is None:
            changed.append(f"{study.protocol_path} declares it no more")
        else:
            changed += _other_keys(old, new)
            try:
                identity = freeze_configuration(new, study.folder)
            except MissingExtraError as error:
                unchecked.append(str(error).removesuffix("."))
            except UsageError as error:
                changed.append(str(error).removesuffix("."))
            else:
                changed += _other_files(frozen.configurations[old.name], identity)
                unchecked += _services(new, identity)
        if changed:
            found.changed[old.name] = changed
        if unchecked:
            found.unchecked[old.name] = unchecked
    return found


def _present(study: Study) -> tuple[Protocol, list[str]]:
    """Return the protocol as it stands in the folder, and which of its tables are not the frozen ones."""
    frozen = study.frozen.protocol
    if not study.protocol_path.exists():  # only what is frozen was kept
        return frozen, []
    try:
        present = load_protocol(study.protocol_path)
    except UsageError as error:
        return frozen, [str(error).removesuffix(".")]
    tables = [name for name in _AUDITED if _dump(getattr(present, name)) != _dump(getattr(frozen, name))]
    return present, [f"`{name}` in {study.protocol_path}" for name in tables]


def _dump(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _dump(one) for name, one in value.items()}
    return value.model_dump(mode="json")


def _other_rubrics(study: Study, frozen: Frozen, present: Protocol) -> Iterator[str]:
    """Yield the criteria whose rubric is another text than the one that was shown."""
    shown = {
        call.criterion: frozen.texts[call.rubric]
        for call in frozen.schedule(frozen.protocol.configuration[0].name)
    }
    for name, criterion in present.criteria.items():
        if name not in shown:
            continue  # the table `criteria` differs, and that is said
        try:
            texts = [rubric_text(name, criterion, study.folder, also) for also in ("", INSTRUCTION)]
        except UsageError:
            yield name
            continue
        if shown[name] not in texts:
            yield name


def _other_keys(old: Configuration, new: Configuration) -> Iterator[str]:
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    for key in [*before, *(after.keys() - before.keys())]:
        if before.get(key) != after.get(key):
            yield f"`{key}` of the configuration"


def _other_files(frozen: dict[str, Any], present: dict[str, Any]) -> Iterator[str]:
    if frozen["rendering"] != present["rendering"]:
        yield "how this version of darkcurrent writes a prompt"
    for name, sha256 in frozen["artifacts"].items():
        if present["artifacts"].get(name) != sha256:
            yield f"the {name} file"


def _services(configuration: Configuration, identity: dict[str, Any]) -> list[str]:
    if isinstance(configuration, CallableConfiguration):
        return ["its judge is a Python object of another program, which nothing here can see"]
    if not isinstance(configuration, HttpConfiguration) or configuration.base_url is None:
        return []
    known = " (the model's file was)" if identity["artifacts"] else ""
    return [f"who answers at {configuration.base_url} was not compared{known}: `darkcurrent doctor` asks"]
