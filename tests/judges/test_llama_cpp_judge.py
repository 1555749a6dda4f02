"""The embedded model, for real: its answers, its identity, and its child process."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from darkcurrent.capture import journal_path, read_journal
from darkcurrent.errors import MissingExtraError, ProtocolError, TransportError, UsageError
from darkcurrent.judges import llama_cpp, llama_process, open_judge
from darkcurrent.judges.llama_cpp import model_file
from darkcurrent.protocol.configurations import Decoder, LlamaCppConfiguration
from darkcurrent.records import Event, Terminal
from support.studies import study_with

GRAMMAR = 'root ::= "{\\"winner\\":\\"" ("A" | "B" | "tie") "\\"}"'
ANSWERS = {f'{{"winner":"{label}"}}' for label in ("A", "B", "tie")}


def configuration(model="gemma-3-270m", model_path=None, context=1024, **decoder):
    return LlamaCppConfiguration(
        name="m",
        backend="llama-cpp",
        model=model,
        model_path=model_path,
        context=context,
        threads=1,  # llama.cpp's threads wait for each other by spinning: more of them crawl on a busy machine
        decoder=Decoder(max_tokens=16, seed=1, **decoder),
    )


def judge_at(folder, connections=1, max_bytes=1024, **keys):
    return open_judge(configuration(**keys), folder, connections, max_bytes)


@pytest.fixture
def started(monkeypatch):
    """Every child process that is started, with its log."""
    found = []
    real = asyncio.create_subprocess_exec

    async def telling(*command, **options):
        found.append((await real(*command, **options), options["stderr"]))
        return found[-1][0]

    monkeypatch.setattr(llama_process.asyncio, "create_subprocess_exec", telling)
    return found


@pytest.mark.embedded
def test_an_audit_from_end_to_end(tmp_path):
    """Two items, six calls: every answer is valid under the grammar, and the study is evaluated."""
    judge = f"""backend = "llama-cpp"
model = "gemma-3-270m"
context = 1024
threads = 1
decoder = {{ seed = 1, max_tokens = 16, extra = {{ grammar = '{GRAMMAR}' }} }}
"""
    study = study_with(tmp_path, judge, items=2)
    assert study.run("judge") == "COMPLETE"
    analysis = study.analyze()
    (campaign,) = analysis.campaigns
    assert (campaign.state, campaign.scheduled, campaign.terminal, campaign.invalid) == ("COMPLETE", 6, 6, 0)
    assert (campaign.basis, campaign.served_models, campaign.usage_unknown) == (
        "verified digest",
        ["gemma-3-270m"],
        0,
    )
    rows = []
    summary = read_journal(journal_path(tmp_path, "judge"), rows.append)
    assert {row.text for row in rows if isinstance(row, Terminal)} <= ANSWERS
    opened = summary.events[0].detail["identity"]
    assert opened["served"] == ["gemma-3-270m"]
    assert opened["chat_template_sha256"]
    assert opened["context"] == 1024


@pytest.mark.embedded
def test_equal_requests_get_equal_replies_and_a_bad_grammar_is_refused(tmp_path):
    async def ask():
        judge = judge_at(tmp_path, 2, 100_000, extra={"grammar": GRAMMAR})
        other = judge.request_bytes("Compare.", "Another question?", "yes " * 50, "no")
        request = judge.request_bytes("Compare the answers.", "What is 2 + 2?", "4", "5")
        broken = request.replace(b"root ::= ", b"root ::= (")
        async with judge:
            first = await judge.ask(request, 60)
            refused = await judge.ask(broken, 60)
            # What was asked in between, or is asked beside it, changes nothing.
            await judge.ask(other, 60)
            second, _ = await asyncio.gather(judge.ask(request, 60), judge.ask(other, 60))
        return first, second, refused

    first, second, refused = asyncio.run(ask())
    assert first.text == second.text
    assert first.text in ANSWERS
    assert first.prompt_tokens == second.prompt_tokens > 10
    assert (first.finish, first.served_model) == ("stop", "gemma-3-270m")
    assert (refused.refused, refused.http_status) == (True, 400)


def test_requests_are_made_without_a_server(tmp_path):
    """So that an archive can check them. They are those of `openai-chat`, and carry the grammar as declared."""
    request = judge_at(tmp_path, extra={"grammar": GRAMMAR}).request_bytes("R", "P", "a", "b")
    assert json.loads(request)["grammar"] == GRAMMAR
    assert request == judge_at(tmp_path, 8, 9, extra={"grammar": GRAMMAR}).request_bytes("R", "P", "a", "b")


# Starts the server, says its process id, and stays.
PARENT = """
import asyncio, sys
sys.path[:0] = {path!r}
from pathlib import Path
from darkcurrent.judges import open_judge
from darkcurrent.protocol.configurations import LlamaCppConfiguration
judge = open_judge(LlamaCppConfiguration(name="m", backend="llama-cpp", model="gemma-3-270m", context=512), Path())
real = asyncio.create_subprocess_exec
async def telling(*command, **options):
    process = await real(*command, **options)
    print(process.pid, flush=True)
    return process
asyncio.create_subprocess_exec = telling
async def main():
    async with judge:
        print("started", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def is_alive(process_id):
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.embedded
@pytest.mark.parametrize("moment", ["at once", "while the model loads", "when it serves"])
def test_the_server_ends_with_its_parent(moment):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.format(path=sys.path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        if moment == "while the model loads":
            time.sleep(0.4)
        elif moment == "when it serves":
            assert parent.stdout.readline() == "started\n"
        assert is_alive(child)
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
        until = time.monotonic() + 15
        while is_alive(child) and time.monotonic() < until:
            time.sleep(0.05)
    assert not is_alive(child)


@pytest.mark.embedded
def test_a_cancelled_start_leaves_no_server(tmp_path, started):
    """Ctrl-C while the model loads."""
    judge = judge_at(tmp_path)

    async def start():
        async with judge:
            raise AssertionError("it was not cancelled")

    async def main():
        task = asyncio.create_task(start())
        while not started:
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    ((process, log),) = started
    assert process.returncode is not None
    assert log.closed


@pytest.mark.embedded
def test_a_file_that_is_no_model_is_one_clear_error(tmp_path, started):
    (tmp_path / "model.gguf").write_bytes(b"GGUF, or so it says")
    judge = judge_at(tmp_path, model="mine", model_path="model.gguf")

    async def start():
        async with judge:
            raise AssertionError("it started")

    with pytest.raises(TransportError, match=r"did not start for configuration `m`: .+") as caught:
        asyncio.run(start())
    assert "\n" not in str(caught.value)
    assert "said nothing" not in str(caught.value)
    assert started[0][1].closed


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch, started):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexec cat >/dev/null\n")
    fake.chmod(0o755)
    monkeypatch.setattr(llama_process.sys, "executable", str(fake))
    monkeypatch.setattr(llama_process, "_START_SECONDS", 0.2)
    judge = judge_at(tmp_path)

    async def start():
        async with judge:
            raise AssertionError("it started")

    with pytest.raises(TransportError, match="it said nothing"):
        asyncio.run(start())
    assert started[0][0].returncode is not None


def test_the_model_is_found_or_named(tmp_path):
    (tmp_path / "mine.gguf").write_bytes(b"x")
    assert model_file(configuration("mine", "mine.gguf"), tmp_path) == tmp_path / "mine.gguf"
    with pytest.raises(ProtocolError, match=r"there is no model file .*other\.gguf: correct `model_path`"):
        model_file(configuration("mine", "other.gguf"), tmp_path)
    with pytest.raises(ProtocolError, match="`mine` is no bundled model"):
        model_file(configuration("mine"), tmp_path)


def test_without_the_extra_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    (tmp_path / "mine.gguf").write_bytes(b"x")
    monkeypatch.setattr(llama_cpp.importlib.util, "find_spec", lambda name: None)
    for attempt in (
        lambda: model_file(configuration(), tmp_path),
        lambda: asyncio.run(judge_at(tmp_path, model="mine", model_path="mine.gguf").__aenter__()),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'darkcurrent\[local\]'"):
            attempt()


def test_a_cache_that_cannot_be_written_is_a_clear_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        model_file(configuration(), tmp_path)


def test_the_child_ends_when_nobody_holds_its_input():
    """Even where the model could not be loaded, and whatever the command says."""
    program = textwrap.dedent(
        """
        import sys, types, time
        xllamacpp = types.ModuleType("xllamacpp")
        class CommonParams:
            def __init__(self): time.sleep(600)  # a model that takes long to load
        xllamacpp.CommonParams = CommonParams
        sys.modules["xllamacpp"] = xllamacpp
        sys.argv = ["server", "{}"]
        from darkcurrent.judges.llama_server import main
        main()
        """
    )
    done = subprocess.run([sys.executable, "-c", program], stdin=subprocess.DEVNULL, timeout=20, check=False)
    assert done.returncode == 0


# ------------------------------------------------------------------ raw text

RAW = f"""backend = "llama-cpp-raw"
model = "gemma-3-270m"
context = 1024
threads = 1
template = "<start_of_turn>user\\n{{system}}\\n\\n{{user}}<end_of_turn>\\n<start_of_turn>model\\n"
decoder = {{ seed = 1, max_tokens = 16, temperature = 0.7, extra = {{ grammar = '{GRAMMAR}' }} }}
"""


@pytest.mark.embedded
def test_raw_text_is_counted_by_the_models_own_tokenizer(tmp_path, monkeypatch):
    """Each prompt has the count that the tokenizer gave before, and one token less is noticed."""
    study = study_with(tmp_path / "right", RAW, items=1)
    assert study.run("judge") == "COMPLETE"
    rows = []
    read_journal(journal_path(tmp_path / "right", "judge"), rows.append)
    ended = [row for row in rows if isinstance(row, Terminal)]
    assert {row.text for row in ended} <= ANSWERS
    assert all(row.prompt_tokens > 100 for row in ended)
    assert all(b"<start_of_turn>" not in row.body for row in ended), "a reply does not repeat the prompt"
    (opened,) = (row for row in rows if isinstance(row, Event))
    assert opened.detail["identity"]["prompts_counted_by"] == "/tokenize"
    assert opened.detail["basis"] == "verified digest"

    def without_the_first_token(judge, request):
        return {"content": request["prompt"], "add_special": False, "parse_special": True}

    monkeypatch.setattr(llama_cpp.LlamaCppRawJudge, "tokens_request", without_the_first_token)
    wrong = study_with(tmp_path / "wrong", RAW, items=1)
    assert wrong.run("judge") == "PARTIAL_HOLD_MODEL"
    (stopped,) = (
        e for e in read_journal(journal_path(tmp_path / "wrong", "judge")).events if e.kind == "stopped"
    )
    count = ended[0].prompt_tokens
    assert stopped.detail["why"] == (
        f"the reply is to a prompt of {count} tokens, the one that was sent has {count - 1}"
    )
