"""A Python callable as a judge, whatever it does."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from darkcurrent.errors import ModelMismatchError, ProtocolError
from darkcurrent.judges import check_artifacts, freeze_configuration, local_artifacts
from darkcurrent.judges.base import RequestFailed
from darkcurrent.judges.function import FunctionJudge
from darkcurrent.judges.source import source_file, source_files
from darkcurrent.protocol.configurations import FunctionConfiguration, VllmConfiguration

SOURCE = """
from __future__ import annotations
import asyncio, enum, functools, sys, threading, time
from dataclasses import dataclass

@dataclass
class Answer:
    value: str

class Label(str, enum.Enum):
    A = "A"

def plain(prompt, a, b): return "A" if len(a) > len(b) else "tie"
def echo(prompt, a, b): return prompt + "|" + a + "|" + b
def other_names(question, left, right, /): return question + "|" + left + "|" + right
async def coroutine(prompt, a, b):
    await asyncio.sleep(0)
    return "B"
class Object:
    async def __call__(self, prompt, a, b): return "B"
an_object = Object()
a_partial = functools.partial(plain)
a_lambda = lambda prompt, a, b: coroutine(prompt, a, b)
def member(prompt, a, b): return Label.A
def nothing(prompt, a, b): return None
def number(prompt, a, b): return 3
def dataclass_(prompt, a, b): return Answer("A")
class Unshowable:
    def __repr__(self): raise RuntimeError("no repr")
def unshowable(prompt, a, b): return Unshowable()
def raises(prompt, a, b): raise ValueError("bad input")
def times_out_itself(prompt, a, b): raise TimeoutError("my own")
def exits(prompt, a, b): sys.exit(0)
def interrupts(prompt, a, b): raise KeyboardInterrupt
async def async_raises(prompt, a, b): raise ValueError("bad input")
async def async_exits(prompt, a, b): sys.exit(0)
async def async_interrupts(prompt, a, b): raise KeyboardInterrupt
async def cancels_itself(prompt, a, b): raise asyncio.CancelledError("gave up")
class Mute(Exception):
    def __str__(self): raise RuntimeError("no words")
def raises_mute(prompt, a, b): raise Mute
async def async_raises_mute(prompt, a, b): raise Mute
def tells(prompt, a, b): raise ValueError("no answer for url https://h/?key=" + a)
def wrong_arguments(prompt): return "A"
def sleeps(prompt, a, b):
    time.sleep(float(a))
    return "A"
async def async_sleeps(prompt, a, b):
    await asyncio.sleep(float(a))
    return "A"
meeting = threading.Barrier(12)
def meets(prompt, a, b):
    meeting.wait(5)
    return "A"
not_callable = 7
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "judge.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def judge_of(folder, name):
    return FunctionJudge(configuration(f"judge:{name}"), folder)


def configuration(callable_):
    return FunctionConfiguration(name="f", backend="function", callable=callable_)


def ask(judge, a="x", b="y", timeout=5.0, prompt="p"):
    request = judge.request_bytes("rubric", prompt, a, b)
    return asyncio.run(judge.ask(request, timeout))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain", "tie"),
        ("other_names", "p|x|y"),
        ("coroutine", "B"),
        ("an_object", "B"),
        ("a_partial", "tie"),
        ("a_lambda", "B"),
        ("member", "A"),
        ("nothing", "None"),
        ("number", "3"),
        ("dataclass_", "Answer(value='A')"),
    ],
)
def test_what_it_returns_is_the_reply(folder, name, text):
    reply = ask(judge_of(folder, name))
    assert reply.text == text
    assert type(reply.text) is str
    assert (reply.finish, reply.served_model) == ("stop", f"judge:{name}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "ValueError: bad input"),
        ("times_out_itself", "TimeoutError: my own"),
        ("exits", "SystemExit: 0"),
        ("interrupts", "KeyboardInterrupt: "),
        ("async_raises", "ValueError: bad input"),
        ("async_exits", "SystemExit: 0"),
        ("async_interrupts", "KeyboardInterrupt: "),
        ("cancels_itself", "CancelledError: gave up"),
        ("unshowable", "RuntimeError: no repr"),
        ("raises_mute", "Mute"),
        ("async_raises_mute", "Mute"),
        ("wrong_arguments", "TypeError: wrong_arguments() takes 1 positional argument but 3 were given"),
    ],
)
def test_what_it_raises_is_a_failure_of_this_call(folder, name, said):
    with pytest.raises(RequestFailed) as caught:
        ask(judge_of(folder, name))
    assert caught.value.reason == "function-raised"
    assert caught.value.detail == f"judge:{name} raised {said}"


def test_what_it_raises_is_kept_without_keys_and_in_bounds(folder, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-planted-secret")
    with pytest.raises(RequestFailed) as caught:
        ask(judge_of(folder, "tells"), a="sk-planted-secret" + "x" * 10**6)
    assert "?key=[key]xxx" in caught.value.detail
    assert "planted" not in caught.value.detail
    assert len(caught.value.detail) < 1100


def test_a_reply_that_is_too_long_is_cut_off(folder):
    judge = FunctionJudge(configuration("judge:echo"), folder, max_bytes=1024)
    assert ask(judge, a="x" * 1019).text == "p|" + "x" * 1019 + "|y"
    reply = ask(judge, a="\u00e9" * 600)
    assert (reply.oversize, reply.text, len(reply.body)) == (True, None, 1024)


@pytest.mark.parametrize("name", ["sleeps", "async_sleeps"])
def test_it_is_left_at_the_time_out(folder, name):
    begun = time.monotonic()
    with pytest.raises(RequestFailed) as caught:
        ask(judge_of(folder, name), a="2", timeout=0.1)
    assert caught.value.reason == "timeout"
    assert time.monotonic() - begun < 1


def test_a_function_that_hangs_does_not_keep_the_program_from_ending(folder):
    program = f"""
    import asyncio, sys
    sys.path[:0] = {sys.path!r}
    from pathlib import Path
    from darkcurrent.judges.function import FunctionJudge
    from darkcurrent.protocol.configurations import FunctionConfiguration
    c = FunctionConfiguration(name="f", backend="function", callable="judge:sleeps")
    judge = FunctionJudge(c, Path({str(folder)!r}))
    try:
        asyncio.run(judge.ask(judge.request_bytes("", "", "600", ""), 0.1))
    except Exception as error:
        print(error.reason)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("timeout\n", "", 0)


def test_as_many_run_at_once_as_are_asked(folder):
    """Twelve calls that wait for each other: a pool of fewer threads would never let them through."""
    judge = judge_of(folder, "meets")

    async def all_of_them():
        request = judge.request_bytes("", "", "", "")
        return await asyncio.gather(*(judge.ask(request, 5) for _ in range(12)))

    assert [reply.text for reply in asyncio.run(all_of_them())] == ["A"] * 12


def test_a_cancellation_from_outside_passes_through(folder):
    judge = judge_of(folder, "async_sleeps")

    async def cancelled():
        task = asyncio.create_task(judge.ask(judge.request_bytes("", "", "5", ""), 10))
        await asyncio.sleep(0.1)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_texts_reach_it_unchanged(folder):
    judge = judge_of(folder, "echo")
    texts = ("\ud800 {x} %s", "\x00\r\n\u2028", "\U0001f600")
    assert ask(judge, texts[1], texts[2], prompt=texts[0]).text == "|".join(texts)
    assert judge.request_bytes("r", *texts) == judge.request_bytes("r", *texts)
    assert json.loads(judge.request_bytes("r", "p", "1", "2")) == {"prompt": "p", "a": "1", "b": "2"}


def test_a_third_candidate_is_handed_on_where_there_is_one(folder):
    (folder / "thirds.py").write_text("def see(p, a, b, c='none'): return c\n", encoding="utf-8")
    judge = FunctionJudge(configuration("thirds:see"), folder)
    shown = [judge.request_bytes("r", "p", "a", "b", *third) for third in ([], ["C"])]
    assert [asyncio.run(judge.ask(request, 5)).text for request in shown] == ["none", "C"]
    with pytest.raises(RequestFailed, match="unexpected keyword argument 'c'"):
        asyncio.run(judge_of(folder, "plain").ask(shown[1], 5))


def test_the_module_in_the_folder_hides_no_other(folder):
    (folder / "json.py").write_text("def choose(prompt, a, b): return 'B'\n", encoding="utf-8")
    judge = FunctionJudge(configuration("json:choose"), folder)
    assert ask(judge).text == "B"
    assert sys.modules["json"] is json
    assert source_file(configuration("json:choose"), folder) == folder / "json.py"


def test_an_installed_module_is_found(folder):
    assert source_file(configuration("textwrap:dedent"), folder) == Path(textwrap.__file__)


def test_the_files_it_imports_from_its_own_folder_are_its_source_too(folder):
    package = folder / "own"
    package.mkdir()
    (folder / "unrelated.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "deep.py").write_text("import json\nfrom . import more\n")
    (package / "more.py").write_text("from .deep import x\n")  # in a circle
    (folder / "helper.py").write_text("def f():\n    import own.deep\n")
    (folder / "main.py").write_text("from helper import f\nimport asyncio, absent\n")
    found = source_files(configuration("main:f"), folder)
    assert {name: path.relative_to(folder).as_posix() for name, path in found.items()} == {
        "source": "main.py",
        "source helper.py": "helper.py",
        "source own/__init__.py": "own/__init__.py",
        "source own/deep.py": "own/deep.py",
        "source own/more.py": "own/more.py",
    }


def test_a_lone_installed_module_has_no_folder_of_its_own_and_a_package_has(folder):
    assert source_files(configuration("textwrap:dedent"), folder) == {"source": Path(textwrap.__file__)}
    names = source_files(configuration("json:loads"), folder)
    assert "source json/decoder.py" in names
    assert not any("re/" in name for name in names)


def test_another_source_file_is_another_judge(folder):
    (folder / "helper.py").write_text("X = 1\n")
    (folder / "main.py").write_text("def f(p, a, b):\n    from helper import X\n")
    frozen = freeze_configuration(configuration("main:f"), folder)
    (folder / "helper.py").write_text("X = 2\n")
    assert freeze_configuration(configuration("main:f"), folder)["digest"] != frozen["digest"]
    with pytest.raises(ModelMismatchError, match=r"the source helper\.py file has changed"):
        check_artifacts(configuration("main:f"), frozen["artifacts"], folder)


def test_a_source_file_that_has_come_is_another_judge(folder):
    """An import that meant an installed package, or failed and was handled, means this file now."""
    (folder / "main.py").write_text(
        "try:\n    import helper\nexcept ImportError:\n    pass\ndef f(p, a, b): ...\n"
    )
    frozen = freeze_configuration(configuration("main:f"), folder)
    check_artifacts(configuration("main:f"), frozen["artifacts"], folder)
    (folder / "helper.py").write_text("X = 1\n")
    with pytest.raises(ModelMismatchError, match=r"the source helper\.py file has changed"):
        check_artifacts(configuration("main:f"), frozen["artifacts"], folder)


@pytest.mark.parametrize(
    ("callable_", "said"),
    [
        ("absent:choose", "there is no module `absent`"),
        ("absent.inner:choose", "there is no module `absent.inner`"),
        (
            "time:sleep",
            "there is no module `time`",
        ),  # built into Python: there is no file to take the digest of
        ("judge:absent", "AttributeError"),
        ("judge:not_callable", "is not callable"),
        ("broken:choose", "SyntaxError"),
        ("leaving:choose", "SystemExit"),
    ],
)
def test_what_cannot_be_loaded_is_a_protocol_error(folder, callable_, said):
    (folder / "broken.py").write_text("def choose(:\n", encoding="utf-8")
    (folder / "leaving.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    with pytest.raises(ProtocolError, match="configuration `f`") as caught:
        FunctionJudge(configuration(callable_), folder)
    assert said in str(caught.value)


def test_a_module_that_is_not_found_is_said_with_what_to_do(folder):
    (folder / "main.py").write_text("import helper_beside\ndef f(p, a, b): ...\n")
    (folder / "helper_beside.py").write_text("")
    with pytest.raises(ProtocolError, match=rf"No module named 'helper_beside'; .* PYTHONPATH={folder}\."):
        FunctionJudge(configuration("main:f"), folder)


def test_a_file_that_cannot_be_read_is_a_protocol_error(folder):
    (folder / "judge.py").unlink()
    (folder / "judge.py").mkdir()  # for root, no mode forbids to read
    (folder / "judge.py" / "x").symlink_to("/proc/self/mem")
    with pytest.raises(
        ProtocolError, match=r"configuration `v`: /.*/judge\.py cannot be read \(.+\): grant access"
    ):
        local_artifacts(
            VllmConfiguration(
                name="v", backend="vllm", model="m", base_url="http://h", model_path="judge.py"
            ),
            folder,
        )


def test_no_thread_is_left_behind(folder):
    before = threading.active_count()
    for _ in range(5):
        ask(judge_of(folder, "plain"))
    time.sleep(0.05)
    assert threading.active_count() <= before
