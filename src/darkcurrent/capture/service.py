"""Whether the service that answers is the declared one, and the one that answered before."""

from __future__ import annotations

from collections.abc import Mapping

from darkcurrent.errors import ModelMismatchError
from darkcurrent.judges import Identity, Judge, served_names
from darkcurrent.judges.base import RequestFailed
from darkcurrent.protocol.configurations import Configuration, HttpConfiguration
from darkcurrent.records import Event

__all__ = [
    "changed_meanwhile",
    "check_identity",
    "differing_facts",
    "identify",
    "said_of",
    "same_service",
]


async def identify(configuration: Configuration, judge: Judge) -> Identity:
    """Ask who answers, before the first call.

    Raises
    ------
    RequestFailed
        Where the service does not say; with a sentence for a person.
    """
    try:
        return await judge.identify()
    except RequestFailed as error:
        error.args = (
            f"configuration `{configuration.name}` cannot be reached ({error.detail}): nothing was sent; "
            f"{_remedy(configuration, error)}.",
        )
        raise


def _remedy(configuration: Configuration, error: RequestFailed) -> str:
    if error.http_status is None:
        of_whom = "name the file of its authority as `ca_file`, "
        return f"{of_whom if 'CERTIFICATE_VERIFY' in error.detail else ''}start the service, or correct `base_url`"
    if error.http_status != 401:
        return "try again when the service is ready"
    key = configuration.api_key_env if isinstance(configuration, HttpConfiguration) else None
    return (
        f"correct the variable {key}"
        if key
        else "declare `api_key_env`, the name of the variable with its key"
    )


def check_identity(configuration: Configuration, identity: Identity) -> None:
    """Compare what a service says that it serves with the declared names.

    Raises
    ------
    ModelMismatchError
        Where the service lists its models and none of the declared names is among them.
    """
    served = identity.facts.get("served")
    # A list may hold the name that is asked for, and a reply the dated one that it stands for.
    declared = sorted({*served_names(configuration), *_asked_name(configuration)})
    if served and not set(served) & set(declared):
        raise ModelMismatchError(
            f"configuration `{configuration.name}`: the service lists {', '.join(map(str, served))}, and the protocol declares "
            f"{', '.join(declared)}: correct `model` or `accepted_models`."
        )


def _asked_name(configuration: Configuration) -> tuple[str, ...]:
    return (configuration.model,) if isinstance(configuration, HttpConfiguration) else ()


def same_service(configuration: Configuration, events: list[Event], identity: Identity) -> None:
    """Compare who answers with who answered when the campaign began."""
    first = next((event.detail["identity"] for event in events if event.kind == "opened"), None)
    changed = [] if first is None else differing_facts(first, identity.facts)
    if changed:
        raise ModelMismatchError(
            f"configuration `{configuration.name}`: {said_of(changed)} changed since the campaign began: "
            "its answers would be those of another judge."
        )


async def changed_meanwhile(judge: Judge, before: Identity) -> list[str]:
    """Return what the service says of itself otherwise than before the first call; nothing where it says nothing."""
    try:
        after = await judge.identify()
    except RequestFailed:
        return []
    except ModelMismatchError:
        return ["model_path"]
    return differing_facts(before.facts, after.facts)


def differing_facts(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return what a service said of itself differently in two runs."""
    # The list of served models may grow; that the declared one is in it is checked on its own.
    return sorted(
        key for key in (before.keys() | after.keys()) - {"served"} if before.get(key) != after.get(key)
    )


def said_of(changed: list[str]) -> str:
    """Return what has changed, as a part of a sentence."""
    return f"{', '.join(changed)} of the service"
