"""How a configuration is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darkcurrent.canonical import digest
from darkcurrent.errors import ModelMismatchError, ProtocolError
from darkcurrent.judges.base import Identity, Judge, Reply, RequestFailed
from darkcurrent.judges.identity import Witness, artifact_digest
from darkcurrent.judges.keys import key_from_environment
from darkcurrent.judges.render import RENDERING, delimiters_in
from darkcurrent.protocol.configurations import (
    CallableConfiguration,
    Configuration,
    FunctionConfiguration,
    HttpConfiguration,
    LlamaCppBase,
    SimulatedConfiguration,
    VllmBase,
)

if TYPE_CHECKING:
    from darkcurrent.judges.http import HttpJudge

__all__ = [
    "Identity",
    "Judge",
    "Reply",
    "RequestFailed",
    "Witness",
    "check_artifacts",
    "delimiters_in",
    "freeze_configuration",
    "local_artifacts",
    "open_judge",
    "request_writer",
    "served_names",
]

_NOWHERE = "http://127.0.0.1:0"
"""Stands for the address of a server that is not started yet."""


def open_judge(
    configuration: Configuration,
    folder: Path,
    in_flight: int = 1,
    max_bytes: int = 1_048_576,
    witness: Witness | None = None,
    function: Callable[..., Any] | None = None,
) -> Judge:
    """Return the backend of a configuration, to be opened with `async with`.

    Parameters
    ----------
    witness : Witness or None
        Who answered in earlier runs of the same campaign.
    function : callable, optional
        The judge itself, for a configuration of the backend `callable`.

    Raises
    ------
    SecretError
        Where the variable for its key is not set.
    MissingExtraError
        Where it needs an optional part; also on opening.
    ProtocolError
        Where what it names does not exist.
    """
    if isinstance(configuration, HttpConfiguration):
        key = key_from_environment(configuration.api_key_env)
        return _http_judge(
            configuration, folder, key, in_flight, max_bytes, witness or Witness.of(configuration)
        )
    if isinstance(configuration, SimulatedConfiguration):
        from darkcurrent.judges.simulated.backend import SimulatedBackend

        return SimulatedBackend(configuration, folder)
    from darkcurrent.judges.function import FunctionJudge

    return FunctionJudge(configuration, folder, function, max_bytes)


def request_writer(configuration: Configuration, folder: Path) -> Judge:
    """Return a judge that writes requests and is never opened: it needs no key.

    Raises
    ------
    ProtocolError, MissingExtraError
        As `open_judge`.
    """
    if isinstance(configuration, HttpConfiguration):
        return _http_judge(configuration, folder, None, 1, 1, Witness())
    return open_judge(configuration, folder, function=_nobody)


def _nobody(**texts: str) -> str:
    """Stand in for a callable that is not asked."""
    raise AssertionError("a request is written, and nobody is asked")


def _http_judge(
    configuration: Any, folder: Path, key: str | None, in_flight: int, max_bytes: int, witness: Witness
) -> HttpJudge[Any]:
    from darkcurrent.judges import anthropic, llama_cpp, ollama, openai_chat, openai_completions, vllm
    from darkcurrent.judges.transport import Transport

    kinds: dict[str, type[HttpJudge[Any]]] = {
        "openai-chat": openai_chat.OpenAIChatJudge,
        "openai-completions": openai_completions.OpenAICompletionsJudge,
        "anthropic": anthropic.AnthropicJudge,
        "ollama": ollama.OllamaJudge,
        "ollama-raw": ollama.OllamaRawJudge,
        "llama-cpp": llama_cpp.LlamaCppJudge,
        "llama-cpp-raw": llama_cpp.LlamaCppRawJudge,
        "vllm": vllm.VllmJudge,
        "vllm-raw": vllm.VllmRawJudge,
    }
    kind = kinds[configuration.backend]
    transport = Transport(
        configuration.base_url or _NOWHERE,
        key,
        in_flight,
        max_bytes,
        key_header=kind.key_header,
        headers=kind.headers,
        ca_file=None if configuration.ca_file is None else folder / configuration.ca_file,
    )
    return kind(configuration, transport, witness, _model_path(configuration, folder))


def served_names(configuration: Configuration) -> tuple[str, ...]:
    """Return the names that a reply of this configuration may carry."""
    if isinstance(configuration, FunctionConfiguration):
        return (configuration.callable,)
    if isinstance(configuration, CallableConfiguration):
        return (configuration.described,)
    if isinstance(configuration, SimulatedConfiguration):
        return ("simulated",)
    return configuration.served_names


def _model_path(configuration: Configuration, folder: Path) -> Path | None:
    """Return where the model lies on this machine, if that is declared."""
    if isinstance(configuration, LlamaCppBase) and (
        configuration.base_url is None or configuration.model_path is not None
    ):
        from darkcurrent.judges.llama_cpp import model_file

        return model_file(configuration, folder)
    if isinstance(configuration, VllmBase) and configuration.model_path is not None:
        path = folder / configuration.model_path
        if not path.exists():
            raise ProtocolError(
                f"configuration `{configuration.name}`: there is no model at {path}: correct `model_path`."
            )
        return path
    return None


def local_artifacts(configuration: Configuration, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each local file that a configuration's answers come from.

    Raises
    ------
    ProtocolError
        Where one is not there or cannot be read.
    """
    paths = _local_paths(configuration, folder)
    return {name: _digest_of(configuration, path) for name, path in paths.items()}


def _digest_of(configuration: Configuration, path: Path) -> str:
    try:
        return artifact_digest(path)
    except OSError as error:
        raise ProtocolError(
            f"configuration `{configuration.name}`: {path} cannot be read ({error.strerror}): grant access."
        ) from error


def _local_paths(configuration: Configuration, folder: Path) -> dict[str, Path]:
    if isinstance(configuration, FunctionConfiguration):
        from darkcurrent.judges.source import source_files

        return source_files(configuration, folder)
    path = _model_path(configuration, folder)
    return {} if path is None else {"model": path}


def check_artifacts(configuration: Configuration, frozen: dict[str, str], folder: Path) -> dict[str, str]:
    """Compare the local files of a configuration with those that were frozen; return their SHA-256.

    Raises
    ------
    ModelMismatchError
        Where one has changed.
    """
    present = local_artifacts(configuration, folder)
    # A file that has come is a change too: an import may mean it now.
    for name in sorted(frozen.keys() | present.keys()):
        if present.get(name) != frozen.get(name):
            raise ModelMismatchError(
                f"configuration `{configuration.name}`: the {name} file has changed since the study was frozen: put the frozen "
                "one back, or freeze a new study."
            )
    return present


def freeze_configuration(configuration: Configuration, folder: Path) -> dict[str, Any]:
    """Return what is frozen of a configuration: what was declared, its local artifacts, and the digest of both.

    Raises
    ------
    ProtocolError
        Where it declares what its backend cannot send, or names what does not exist.
    """
    if isinstance(configuration, HttpConfiguration):
        request_writer(configuration, folder).request_bytes("", "", "", "")
    declared = configuration.model_dump(mode="json")
    frozen = {
        "declared": declared,
        "artifacts": local_artifacts(configuration, folder),
        "rendering": RENDERING,
    }
    return {**frozen, "digest": digest(frozen)}
