"""What may be declared of each backend, and the sentence that says what may not."""

from __future__ import annotations

import pytest

from darkcurrent.errors import ProtocolError
from darkcurrent.protocol import parse_protocol

HEAD = """format = 1
[study]
name = "s"
[battery]
source = "finite-code"
[criteria.neutral]
rubric = "code-neutral"
[schedule]
seed = 1
[[configuration]]
name = "judge"
model = "m"
"""
URL = 'base_url = "http://127.0.0.1:1"\n'
TEMPLATE = 'template = "{system} {user}"\n'
WHOLE = {
    "openai-chat": URL,
    "openai-completions": URL + TEMPLATE,
    "anthropic": "",
    "ollama": "",
    "ollama-raw": TEMPLATE,
    "llama-cpp": "",
    "llama-cpp-raw": TEMPLATE,
    "vllm": URL,
    "vllm-raw": URL + TEMPLATE,
}


def parsed(backend, keys):
    protocol = parse_protocol(f'{HEAD}backend = "{backend}"\n{keys}')
    assert type(protocol).model_validate_json(protocol.model_dump_json()) == protocol
    return protocol.configuration[0]


def refused(backend, keys):
    with pytest.raises(ProtocolError) as caught:
        parsed(backend, keys)
    return str(caught.value)


@pytest.mark.parametrize("backend", WHOLE)
def test_the_shortest_declaration(backend):
    found = parsed(backend, WHOLE[backend])
    assert found.served_names == ("m",)
    assert found.fingerprint == "constant"


@pytest.mark.parametrize("backend", WHOLE)
def test_a_misspelt_key_is_named(backend):
    assert "did you mean `accepted_models`?" in refused(backend, WHOLE[backend] + 'acepted_models = ["m"]\n')


@pytest.mark.parametrize("backend", [name for name in WHOLE if TEMPLATE in WHOLE[name]])
def test_raw_text_needs_a_template(backend):
    assert "lacks the key `template`" in refused(backend, WHOLE[backend].replace(TEMPLATE, ""))


@pytest.mark.parametrize("backend", [name for name in WHOLE if TEMPLATE not in WHOLE[name]])
def test_chat_takes_none(backend):
    assert "`configuration[0].template` is not a known key" in refused(backend, WHOLE[backend] + TEMPLATE)


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{system}",
        "{user}",
        "{user} {system}",
        "{system} {system} {user}",
        "{system} {user} {user}",
        "{System} {user}",
    ],
)
def test_a_template_has_both_places_once_and_in_order(template):
    says = refused("ollama-raw", f'template = "{template}"\n')
    assert says.startswith(
        "protocol.toml:14: `configuration[0].template`: a template holds `{system}` once and"
    )


@pytest.mark.parametrize(
    "template", ["{system}{user}", "{0} {system} {{x}} {user} {", "<|im_start|>{system}%s{user}"]
)
def test_nothing_else_in_a_template_means_anything(template):
    assert parsed("ollama-raw", f'template = "{template}"\n').template == template


@pytest.mark.parametrize(
    ("backend", "end"),
    [("ollama", "/v1"), ("ollama", "/api/"), ("llama-cpp", "/v1/"), ("vllm", "/v1"), ("vllm-raw", "/v1")],
)
def test_the_address_of_a_server_ends_where_the_server_does(backend, end):
    keys = WHOLE[backend].replace(URL, "") + f'base_url = "http://127.0.0.1:1{end}"\n'
    says = refused(backend, keys)
    assert f"this address is that of the server itself: leave `{end.rstrip('/')}` out" in says
    assert "`configuration[0].base_url`" in says


@pytest.mark.parametrize(
    ("backend", "keys", "says"),
    [
        ("llama-cpp", URL + "threads = 2\n", "`context` and `threads` are set where the server"),
        ("llama-cpp-raw", TEMPLATE + URL + "context = 512\n", "`context` and `threads` are set where the server"),
        ("llama-cpp", 'api_key_env = "K"\n', "`api_key_env` and `ca_file` belong to a server"),
        ("llama-cpp", 'ca_file = "ca.pem"\n', "`api_key_env` and `ca_file` belong to a server"),
        ("anthropic", 'api_key_env = "sk-ant 1"\n', "must be the name of an environment variable"),
        ("vllm", URL + 'fingerprint = "some"\n', "`configuration[0].fingerprint` is \"some\""),
        ("vllm", URL + 'decoder.omit = ["seed"]\n', "`configuration[0].decoder.omit"),
        ("vllm", URL + 'decoder.thinking = "off"\n', "`configuration[0].decoder.thinking` is \"off\""),
        ("vllm", URL + 'decoder.reasoning_effort = ""\n', "`configuration[0].decoder.reasoning_effort`"),
        ("vllm", URL + 'decoder.extra.prompt = "x"\n', "`extra` may not set `prompt`"),
        ("vllm", URL + "decoder.extra.max_tokens = 9\n", "`extra` may not set `max_tokens`"),
    ],
)  # fmt: skip
def test_what_may_not_be_declared(backend, keys, says):
    assert says in refused(backend, keys)


def test_a_field_that_is_left_out_may_stand_in_extra():
    decoder = 'decoder = { omit = ["max_tokens"], extra = { max_tokens = 9 } }\n'
    assert parsed("openai-chat", URL + decoder).decoder.extra == {"max_tokens": 9}
