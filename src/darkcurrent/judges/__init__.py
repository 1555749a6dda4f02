"""How a configuration is asked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from darkcurrent.canonical import digest
from darkcurrent.judges.base import Identity, Judge, Reply, RequestFailed
from darkcurrent.judges.render import RENDERING, delimiters_in
from darkcurrent.protocol.model import (
    Configuration,
    FunctionConfiguration,
    LlamaCppConfiguration,
    OpenAIChatConfiguration,
    SimulatedConfiguration,
)

__all__ = [
    "Identity",
    "Judge",
    "Reply",
    "RequestFailed",
    "delimiters_in",
    "freeze_configuration",
    "local_artifacts",
    "open_judge",
    "served_names",
]


def open_judge(
    configuration: Configuration, folder: Path, in_flight: int = 1, max_bytes: int = 1_048_576
) -> Judge:
    """Return the backend of a configuration, to be opened with `async with`.

    Raises
    ------
    SecretError
        Where the variable for its key is not set.
    MissingExtraError
        Where it needs an optional part.
    ProtocolError
        Where what it names does not exist.
    """
    if isinstance(configuration, OpenAIChatConfiguration):
        from darkcurrent.judges.openai_chat import OpenAIChatJudge
        from darkcurrent.judges.transport import Transport, key_from_environment

        key = key_from_environment(configuration.api_key_env)
        transport = Transport(configuration.base_url, key, in_flight, max_bytes)
        return OpenAIChatJudge(transport, configuration.model, configuration.decoder)
    if isinstance(configuration, LlamaCppConfiguration):
        from darkcurrent.judges.llama_cpp import LlamaCppJudge

        return LlamaCppJudge(configuration, folder, in_flight, max_bytes)
    if isinstance(configuration, SimulatedConfiguration):
        from darkcurrent.judges.simulated.backend import SimulatedBackend

        return SimulatedBackend(configuration, folder)
    from darkcurrent.judges.function import FunctionJudge

    return FunctionJudge(configuration, folder)


def served_names(configuration: Configuration) -> tuple[str, ...]:
    """Return the names that a reply of this configuration may carry."""
    if isinstance(configuration, FunctionConfiguration):
        return (configuration.callable,)
    if isinstance(configuration, SimulatedConfiguration):
        return ("simulated",)
    return configuration.served_names


def local_artifacts(configuration: Configuration, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each local file that a configuration's answers come from."""
    if isinstance(configuration, LlamaCppConfiguration):
        from darkcurrent.judges.llama_cpp import model_file

        return {"model": _file_digest(model_file(configuration, folder))}
    if isinstance(configuration, FunctionConfiguration):
        from darkcurrent.judges.function import source_file

        return {"source": _file_digest(source_file(configuration, folder))}
    return {}


def freeze_configuration(configuration: Configuration, folder: Path) -> dict[str, Any]:
    """Return what is frozen of a configuration: what was declared, its local artifacts, and the digest of both."""
    declared = configuration.model_dump(mode="json")
    frozen = {
        "declared": declared,
        "artifacts": local_artifacts(configuration, folder),
        "rendering": RENDERING,
    }
    return {**frozen, "digest": digest(frozen)}


def _file_digest(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
