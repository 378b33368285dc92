"""A question and its follow-up through the four functions, served as in production."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.places import HOST, free_port
from shared.language.texts import text
from shared.memory.conversations import COLLECTION
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.memory.firestore import document_id
from shared.pipeline import pipeline
from tests import ROOT
from tests.support.factories import envelope, push
from tests.support.factories import question as asked_as
from tests.support.stack import AIKOS_DM, SALES, Stack, running_stack

pytestmark = pytest.mark.slow

VPN_EN, VPN_JA = "How do I configure the VPN?", "VPNの設定方法を教えて"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("logs")) as running:
        yield running


@pytest.fixture(autouse=True)
def faults_off(stack: Stack) -> Iterator[None]:
    yield
    stack.faults.switch_off()


def converse(stack: Stack, *questions: str, **options: Any) -> list[dict[str, Any]]:
    """The final messages of questions that are asked one after the other in one thread."""
    finals, thread = [], None
    for question in questions:
        asked = stack.ask(question, thread=thread, **options)
        thread = asked["thread"]["name"]
        finals.append(stack.final(asked))
    return finals


def titles(final: dict[str, Any]) -> str:
    return " ".join(source["title"] for source in final["sources"])


def test_a_question_is_answered_in_its_thread_with_a_source(stack: Stack) -> None:
    asked = stack.ask(VPN_EN)
    final = stack.final(asked)

    said = stack.said(asked)
    assert said["text"] == final["text"]
    assert said["thread"] == asked["thread"]
    assert "VPN" in titles(final)
    assert "[1]" in said["text"]
    assert text("en", "answer", "hint", hours="24") in said["text"]


def test_a_follow_up_is_searched_for_with_what_it_refers_to(stack: Stack) -> None:
    first, second = converse(stack, VPN_EN, "Can you explain in more detail?")

    assert first["search_query"] == VPN_EN
    assert "VPN" in second["search_query"]
    assert "VPN" in titles(second)
    assert second["text"] != first["text"]


def test_clicks_have_a_follow_up_answered_in_its_own_words_and_rate_an_answer(stack: Stack) -> None:
    first = stack.ask(VPN_EN)
    stack.final(first)
    thread = first["thread"]["name"]
    follow_up = stack.ask("Can you explain in more detail?", thread=thread)
    assert "VPN" in stack.final(follow_up)["search_query"]

    stack.click(stack.said(follow_up), action="literal")
    stack.click(stack.said(first), verdict="up")

    literal = stack.final(follow_up, again=1)
    assert literal["search_query"] == "Can you explain in more detail?"
    until = time.monotonic() + 30
    while not (rated := list(stack.firestore.collection(FEEDBACK).stream())) and time.monotonic() < until:
        time.sleep(0.05)
    assert [(each.get("question_id"), each.get("verdict")) for each in rated] == [(first["name"], "up")]
    assert len(stack.of_the_bot(thread)) == 2
    turns = stack.firestore.collection(COLLECTION).document(document_id(thread)).get().get("turns")
    assert [turn["question_id"] for turn in turns if turn["question_id"] == follow_up["name"]] == []


def test_a_japanese_follow_up_too(stack: Stack) -> None:
    first, second = converse(stack, VPN_JA, "もっと詳しく", locale="ja")

    assert "VPN" in second["search_query"]
    assert "VPN" in titles(first)
    assert "VPN" in titles(second)
    assert text("ja", "answer", "hint", hours="24") in first["text"]


def test_a_new_topic_is_not_dragged_back_to_the_old_one(stack: Stack) -> None:
    question = "How do I reset my password?"

    *_, third = converse(stack, VPN_EN, "Can you explain in more detail?", question)

    assert third["search_query"] == question
    assert "password" in titles(third).lower()
    assert "VPN" not in titles(third)


def test_another_thread_remembers_nothing(stack: Stack) -> None:
    converse(stack, VPN_EN)
    question = "Can you explain in more detail?"

    [elsewhere] = converse(stack, question)
    [in_another_space] = converse(stack, question, space=SALES)

    assert elsewhere["search_query"] == in_another_space["search_query"] == question


def test_a_direct_message_is_one_conversation_across_its_threads(stack: Stack) -> None:
    first = stack.ask(VPN_EN, space=AIKOS_DM)
    stack.final(first)
    second = stack.ask("Can you explain in more detail?", space=AIKOS_DM)

    assert first["thread"] != second["thread"]
    assert "VPN" in stack.final(second)["search_query"]


def test_what_is_not_in_the_knowledge_base_is_said_honestly(stack: Stack) -> None:
    [final] = converse(stack, "What is the airspeed velocity of an unladen swallow?")

    assert not final["answered"]
    assert final["text"] == text("en", "answer", "not_found")


def test_a_conversation_is_kept_for_a_day_in_one_document(stack: Stack) -> None:
    asked = stack.ask(VPN_EN)
    stack.final(asked)

    document = stack.firestore.collection(COLLECTION).document(document_id(asked["thread"]["name"])).get()
    fields = document.to_dict()
    assert fields is not None
    assert [turn["role"] for turn in fields["turns"]] == ["user", "assistant"]
    assert 23.9 < (fields["expired_at"] - fields["updated_at"]).total_seconds() / 3600 <= 24


@pytest.mark.parametrize("fault", ["pubsub-duplicate", "pubsub-late"])
def test_deliveries_that_come_twice_or_late_lead_to_one_answer(stack: Stack, fault: str) -> None:
    stack.faults.switch_on(fault, seconds=1)
    asked = stack.ask(VPN_EN)
    stack.final(asked)
    stack.faults.switch_off()

    assert len(stack.of_the_bot(asked["thread"]["name"])) == 1
    assert stack.faults.hits[fault] >= 3


@pytest.mark.parametrize("name", [step.name for step in pipeline().steps[1:]])
def test_a_function_killed_in_the_middle_loses_no_question(stack: Stack, name: str) -> None:
    stack.faults.switch_on("firestore-slow", seconds=0.3)
    asked = stack.ask(VPN_EN)
    stack.functions.kill(name)
    stack.faults.switch_off()

    assert stack.final(asked)["answered"]
    assert len(stack.of_the_bot(asked["thread"]["name"])) == 1


def test_pub_sub_itself_restarted_loses_no_question(stack: Stack) -> None:
    stack.faults.switch_on("gemini-slow", seconds=1)
    asked = stack.ask(VPN_EN)
    stack.run(stack.cloud.restart_pubsub())

    assert stack.final(asked)["answered"]


def test_a_question_that_cannot_be_answered_is_in_the_dead_letters_and_no_other_waits_for_it(
    stack: Stack,
) -> None:
    stack.faults.switch_on("gemini-blocked")
    blocked = stack.ask(VPN_EN)
    until = time.monotonic() + 20
    log = stack.places.logs / "answer.log"
    while blocked["name"] not in log.read_text() or "Parked" not in log.read_text():
        assert time.monotonic() < until, "not parked"
        time.sleep(0.05)
    stack.faults.switch_off()

    assert converse(stack, VPN_EN)[0]["answered"]


def test_a_conversation_survives_a_restart_of_everything(tmp_path: Path) -> None:
    with running_stack(tmp_path / "state", tmp_path / "logs") as before:
        asked = before.ask(VPN_EN)
        before.final(asked)
    with running_stack(tmp_path / "state", tmp_path / "logs") as after:
        follow_up = after.ask("Can you explain in more detail?", thread=asked["thread"]["name"])

        assert "VPN" in after.final(follow_up)["search_query"]


def without_a_key(**more: str) -> dict[str, str]:
    """The environment of whoever runs the tests, but no test asks the real Gemini."""
    return {key: value for key, value in {**os.environ, **more}.items() if key != "GEMINI_API_KEY"}


def local(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m local` with these variables on top."""
    return subprocess.run(
        [sys.executable, "-m", "local", *arguments],
        cwd=ROOT,
        env=without_a_key(**more),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def logs_of_ask() -> str:
    """What the functions of the last `ask` have logged, for a failing test to show."""
    return "\n".join(log.read_text() for log in sorted((ROOT / ".local" / "ask").glob("*.log")))


def test_the_terminal_prints_json_and_nothing_else() -> None:
    done = local("ask", VPN_EN, "Can you explain in more detail?", "--json")

    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 0, logs_of_ask()
    assert list(first) == ["question", "search_query", "answer", "sources", "thread", "seconds"]
    assert first["thread"] == second["thread"]
    assert "VPN" in second["search_query"]
    assert any("VPN" in source["title"] for source in second["sources"])


def test_the_terminal_tells_by_its_exit_code_that_there_was_no_answer() -> None:
    done = local("ask", "What is the airspeed velocity of an unladen swallow?")

    assert done.returncode == 3
    assert text("en", "answer", "not_found")[:30] in done.stdout


def test_a_person_s_own_cloud_is_not_touched() -> None:
    mine = {
        "GOOGLE_CLOUD_PROJECT": "production",
        "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/key.json",
        "PUBSUB_EMULATOR_HOST": "127.0.0.1:9",
        "FIRESTORE_EMULATOR_HOST": "127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "grpc_proxy": "http://127.0.0.1:9",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    }
    done = local("ask", VPN_EN, "--json", **mine)

    assert json.loads(done.stdout)["sources"]


class Serving:
    """`python -m local` as a person starts it."""

    def __init__(self, state: Path, port: int) -> None:
        self.operators = state / "ops.env"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "local", "--port", str(port), "--state", str(state)],
            cwd=ROOT,
            env=without_a_key(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_until_up(self) -> None:
        """Operators are told where it is once everything listens."""
        until = time.monotonic() + 60
        while not self.operators.exists():
            assert time.monotonic() < until, "it did not come up"
            time.sleep(0.05)

    def processes(self) -> tuple[list[int], list[int]]:
        """Its children, and theirs: the functions, forked by the one that has imported the SDKs."""
        children = _children(self.process.pid)
        return children, [grandchild for child in children for grandchild in _children(child)]


def _children(pid: int) -> list[int]:
    command = ["ps", "-o", "pid=", "--ppid", str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(each) for each in done.stdout.split()]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_it_stops_every_process(tmp_path: Path, number: signal.Signals) -> None:
    serving = Serving(tmp_path, free_port())
    serving.wait_until_up()
    children, functions = serving.processes()

    serving.process.send_signal(number)
    output, _ = serving.process.communicate(timeout=30)

    until = time.monotonic() + 10
    while any(map(_alive, (*children, *functions))) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(functions) == len(pipeline().steps)
    assert not any(map(_alive, (*children, *functions)))
    assert "Traceback" not in output


def test_a_state_in_use_and_an_unreadable_article_are_named_with_what_to_do(tmp_path: Path) -> None:
    first = Serving(tmp_path, free_port())
    first.wait_until_up()
    second = local("--port", str(free_port()), "--state", str(tmp_path))
    first.process.send_signal(signal.SIGINT)
    first.process.communicate(timeout=30)
    (tmp_path / "chat.sqlite").write_bytes(b"this is no database, and it is long enough to be one" * 50)
    third = local("--port", str(free_port()), "--state", str(tmp_path))

    for done in (second, third):
        assert done.returncode == 1
        assert "--state" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_question_without_words_is_refused_at_once() -> None:
    done = local("ask", "  ", "--json")

    assert done.returncode == 1
    assert done.stderr.strip() == "A question has no words."


def test_a_busy_port_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = local("--port", str(port), "--state", str(tmp_path))

    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_request_whose_caller_goes_away_half_way_is_no_dead_letter(stack: Stack) -> None:
    """gunicorn hands over as much of a body as there was, without a word."""
    headers, body = push(envelope(question=asked_as(text="How do I print? " * 100)), "retrieve")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    address = (HOST, stack.places.functions["answer"])
    with socket.create_connection(address, timeout=10) as connection:
        lines = f"POST / HTTP/1.1\r\nHost: here\r\n{head}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(lines.encode() + body[:50])
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(1000)

    assert b" 503 " in answer.splitlines()[0]
    assert "Cut off on the way" in (stack.places.logs / "answer.log").read_text()
    assert not any(
        case.get("data") == body[:50] for case in stack.firestore.collection("dead_letters").stream()
    )
