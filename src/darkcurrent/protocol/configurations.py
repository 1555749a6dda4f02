"""How a judge is asked: the tables `[[configuration]]` of `protocol.toml`, one class per backend."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from darkcurrent.protocol.planted import Properties
from darkcurrent.records import Digest, Record

__all__ = [
    "AnthropicConfiguration",
    "CallableConfiguration",
    "Configuration",
    "ConfigurationBase",
    "Decoder",
    "FunctionConfiguration",
    "HttpConfiguration",
    "LlamaCppBase",
    "LlamaCppConfiguration",
    "LlamaCppRawConfiguration",
    "Name",
    "OllamaBase",
    "OllamaConfiguration",
    "OllamaRawConfiguration",
    "OpenAIChatConfiguration",
    "OpenAICompletionsConfiguration",
    "RawConfiguration",
    "Seed",
    "SimulatedConfiguration",
    "VllmBase",
    "VllmConfiguration",
    "VllmRawConfiguration",
]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""A name that becomes part of a file name: letters, digits, dot, underscore and hyphen."""

Seed = Annotated[int, Field(ge=0, lt=2**53)]


class Decoder(Record):
    """`[configuration.decoder]`: the fields of the request that steer generation, sent as declared.

    What a backend has no field for cannot be declared there: freezing says so.

    Attributes
    ----------
    reasoning_effort : str or None
        How much a reasoning model may think, e.g. `low`.
    thinking : bool or None
        Whether the model thinks before it answers; not sent where it is not declared.
    omit : tuple of str
        Fields that are not sent, for models that refuse them.
    extra : dict
        Further fields of the request, sent as they stand.
    """

    temperature: Annotated[float, Field(ge=0)] = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 256
    seed: Seed | None = None
    reasoning_effort: Annotated[str, StringConstraints(min_length=1)] | None = None
    thinking: bool | None = None
    omit: tuple[Literal["temperature", "max_tokens"], ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _extra_adds_only(self) -> Decoder:
        taken = {"model", "messages", "prompt", "stream", "temperature", "max_tokens", "seed", "n"}
        taken &= self.extra.keys() - set(self.omit)
        if taken:
            raise ValueError(
                f"`extra` may not set {', '.join(f'`{key}`' for key in sorted(taken))}: darkcurrent sets it"
            )
        return self


BaseUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^/@?#\s]+[^@?#\s]*$")]


def _is_root(url: str) -> str:
    for end in ("/v1", "/api"):
        if url.rstrip("/").endswith(end):
            raise ValueError(f"this address is that of the server itself: leave `{end}` out")
    return url


RootUrl = Annotated[BaseUrl, AfterValidator(_is_root)]
"""The address of a server that is asked at several paths."""


def _is_template(text: str) -> str:
    if (text.count("{system}"), text.count("{user}")) != (1, 1) or text.index("{system}") > text.index(
        "{user}"
    ):
        raise ValueError("a template holds `{system}` once and, behind it, `{user}` once")
    return text


Template = Annotated[str, AfterValidator(_is_template)]
"""The whole prompt of a raw-text backend. `{system}` stands for the rubric and `{user}` for the request with its
two answers; each is put in once and as it is, and nothing else in the template means anything."""


class ConfigurationBase(Record):
    """Keys that every configuration has.

    Attributes
    ----------
    contract, contract_options : str, dict
        The declared form of a valid answer, and what that form has to be told (`docs/contracts.md`).
    """

    name: Name
    contract: str = "sole-object"
    contract_options: dict[str, Any] = Field(default_factory=dict)


class HttpConfiguration(ConfigurationBase):
    """Keys of a configuration that is asked over HTTP.

    Attributes
    ----------
    model : str
        The name that is sent.
    accepted_models : tuple of str
        The names that a reply may carry; any other stops the campaign. Default: `model` alone.
    fingerprint : str
        `constant`: a reply with another system fingerprint, or with another model named in its headers, than the
        first one stops the campaign. `any`: they are only recorded.
    api_key_env : str or None
        The *name* of the environment variable that holds the key.
    ca_file : str or None
        A PEM file with the authorities that may vouch for the server, instead of the system's; relative to the
        study's folder.
    """

    model: Annotated[str, StringConstraints(min_length=1)]
    accepted_models: tuple[str, ...] = ()
    fingerprint: Literal["constant", "any"] = "constant"
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    ca_file: Annotated[str, StringConstraints(min_length=1)] | None = None
    decoder: Decoder = Decoder()

    @property
    def served_names(self) -> tuple[str, ...]:
        """The names that a reply may carry."""
        return self.accepted_models or (self.model,)


class OpenAIChatConfiguration(HttpConfiguration):
    """`backend = "openai-chat"`: any endpoint that speaks OpenAI's chat completions.

    Attributes
    ----------
    base_url : str
        Up to and without `/chat/completions`, e.g. `http://127.0.0.1:8000/v1`.
    """

    backend: Literal["openai-chat"]
    base_url: BaseUrl


class OpenAICompletionsConfiguration(HttpConfiguration):
    """`backend = "openai-completions"`: raw text to any endpoint that speaks OpenAI's completions.

    Attributes
    ----------
    base_url : str
        Up to and without `/completions`.
    """

    backend: Literal["openai-completions"]
    base_url: BaseUrl
    template: Template


class AnthropicConfiguration(HttpConfiguration):
    """`backend = "anthropic"`: Anthropic's messages.

    Attributes
    ----------
    base_url : str
        Up to and without `/messages`.
    """

    backend: Literal["anthropic"]
    base_url: BaseUrl = "https://api.anthropic.com/v1"


class OllamaBase(HttpConfiguration):
    """Keys of an Ollama server.

    Attributes
    ----------
    base_url : str
        The server itself, without `/api`.
    context : int or None
        Tokens of context, sent as `num_ctx`. The server's own default is small, and it may not hold a call.
    """

    base_url: RootUrl = "http://127.0.0.1:11434"
    context: Annotated[int, Field(ge=256)] | None = None


class OllamaConfiguration(OllamaBase):
    """`backend = "ollama"`: Ollama's chat."""

    backend: Literal["ollama"]


class OllamaRawConfiguration(OllamaBase):
    """`backend = "ollama-raw"`: raw text to Ollama, its own template and thinking off."""

    backend: Literal["ollama-raw"]
    template: Template


class LlamaCppBase(HttpConfiguration):
    """Keys of llama.cpp's own server: a child process (extra `local`), or one that runs already.

    Attributes
    ----------
    base_url : str or None
        The server itself, without `/v1`. Without this key it is started as a child process.
    model : str
        `gemma-3-270m`, the model of the extra `local`, or the served name of the file at `model_path`.
    model_path : str or None
        A GGUF file; relative to the study's folder. With `base_url`, the file that the server says it has loaded.
    context, threads : int
        Of the child process: tokens of context for each call, and threads.
    cache_prompt : bool
        Whether the server may reuse what it computed for the call before. Off, so that no call depends on the
        one before it.
    """

    base_url: RootUrl | None = None
    model_path: str | None = None
    context: Annotated[int, Field(ge=256)] = 8192
    threads: Annotated[int, Field(ge=1)] | None = None
    cache_prompt: bool = False

    @model_validator(mode="after")
    def _keys_of_one_kind(self) -> LlamaCppBase:
        if self.base_url is not None and (self.context != 8192 or self.threads is not None):
            raise ValueError("`context` and `threads` are set where the server at `base_url` is started")
        if self.base_url is None and (self.api_key_env is not None or self.ca_file is not None):
            raise ValueError("`api_key_env` and `ca_file` belong to a server at `base_url`")
        return self


class LlamaCppConfiguration(LlamaCppBase):
    """`backend = "llama-cpp"`: chat, by the template in the model's file."""

    backend: Literal["llama-cpp"]


class LlamaCppRawConfiguration(LlamaCppBase):
    """`backend = "llama-cpp-raw"`: raw text, each prompt counted by the server's tokenizer before it is sent."""

    backend: Literal["llama-cpp-raw"]
    template: Template


class VllmBase(HttpConfiguration):
    """Keys of a vLLM server.

    Attributes
    ----------
    base_url : str
        The server itself, without `/v1`.
    model_path : str or None
        The file or folder of the model on this machine, if the server has it from there; relative to the study's
        folder.
    """

    base_url: RootUrl
    model_path: str | None = None


class VllmConfiguration(VllmBase):
    """`backend = "vllm"`: chat."""

    backend: Literal["vllm"]


class VllmRawConfiguration(VllmBase):
    """`backend = "vllm-raw"`: raw text, each prompt counted by the server's tokenizer before it is sent."""

    backend: Literal["vllm-raw"]
    template: Template


class FunctionConfiguration(ConfigurationBase):
    """`backend = "function"`: a Python callable `module:name` that takes `(prompt, a, b)` and returns a reply.

    A battery that shows a third candidate hands it on as `c`, where there is one.
    The module is looked for in the study's folder first. The default contract is `label`: the callable returns
    the bare label `A`, `B` or `tie`.
    """

    backend: Literal["function"]
    callable: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
    contract: str = "label"


class CallableConfiguration(ConfigurationBase):
    """`backend = "callable"`: a Python object that `darkcurrent.audit` was given and that no import can find.

    Its answers can only be captured by the program that has it.

    Attributes
    ----------
    described : str
        What Python calls it.
    source_sha256 : str or None
        The digest of its own source text, where Python knows that. It covers nothing that the object refers to.
    """

    backend: Literal["callable"]
    described: Annotated[str, StringConstraints(min_length=1)]
    source_sha256: Digest | None = None
    contract: str = "label"


class SimulatedConfiguration(ConfigurationBase):
    """`backend = "simulated"`: no model at all, but answers with planted properties, for trying out a protocol."""

    backend: Literal["simulated"]
    properties: Properties = Properties()


RawConfiguration = (
    OpenAICompletionsConfiguration | OllamaRawConfiguration | LlamaCppRawConfiguration | VllmRawConfiguration
)
"""A configuration whose template is declared."""

Configuration = Annotated[
    OpenAIChatConfiguration
    | OpenAICompletionsConfiguration
    | AnthropicConfiguration
    | OllamaConfiguration
    | OllamaRawConfiguration
    | LlamaCppConfiguration
    | LlamaCppRawConfiguration
    | VllmConfiguration
    | VllmRawConfiguration
    | FunctionConfiguration
    | CallableConfiguration
    | SimulatedConfiguration,
    Field(discriminator="backend"),
]
