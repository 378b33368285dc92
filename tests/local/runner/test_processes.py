"""`python -m local` as a person starts it: what it prints and refuses, and that no process is left of it."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local.places import free_port
from shared.language.catalogue import text
from shared.pipeline import pipeline
from tests import ROOT
from tests.support.stack import Stack, answer_of, ask
from tests.support.waiting import until

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = pytest.mark.slow

VPN, FOLLOW_UP = "How do I configure the VPN?", "Can you explain in more detail?"
#: What a person may have set for a cloud of their own.
MINE = {
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


def test_the_terminal_prints_json_and_nothing_else_and_does_not_touch_a_person_s_own_cloud() -> None:
    done = local("ask", VPN, FOLLOW_UP, "--json", **MINE)

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


def test_a_question_without_words_is_refused_at_once() -> None:
    done = local("ask", "  ", "--json")

    assert done.returncode == 1
    assert done.stderr.strip() == "A question is empty."


class Serving:
    """`python -m local` with a chat page, and whoever uses it."""

    def __init__(self, state: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
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
        until(self.operators.exists, "it is up")

    def processes(self) -> tuple[list[int], list[int]]:
        """Its children, and theirs: the functions, forked by the one that has imported the SDKs."""
        children = _children(self.process.pid)
        return children, [grandchild for child in children for grandchild in _children(child)]

    def ends_whole(self, number: signal.Signals) -> None:
        """Send it the signal; fails when one of its processes is left, or is missing before."""
        children, functions = self.processes()
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=90)  # a busy machine is slow to end processes

        assert len(functions) >= len(pipeline().steps)  # `tell` is started some seconds later
        until(lambda: not any(map(_alive, (*children, *functions))), "all processes have ended", 10)
        assert "Traceback" not in output
        self.operators.unlink(missing_ok=True)  # a killed one cannot do that


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


@pytest.mark.timeout(300)
def test_however_it_is_stopped_no_process_is_left_and_the_next_start_remembers(tmp_path: Path) -> None:
    thread = None
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        serving = Serving(tmp_path)
        serving.wait_until_up()

        asked = ask(serving.url, FOLLOW_UP if thread else VPN, thread=thread)
        answer = answer_of(serving.url, asked)
        if thread:
            assert "I searched for: Can you explain in more detail? (VPN" in json.dumps(answer["cardsV2"])
        thread = asked["thread"]["name"]

        serving.ends_whole(number)


def test_a_state_in_use_is_named_with_what_to_do(stack: Stack) -> None:
    done = local("--port", str(free_port()), "--state", str(stack.places.state))

    assert done.returncode == 1
    assert "--state" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unreadable_state_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "chat.sqlite").write_bytes(b"this is no database, and it is long enough to be one" * 50)

    done = local("--port", str(free_port()), "--state", str(tmp_path))

    assert done.returncode == 1
    assert "--state" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_busy_port_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = local("--port", str(port), "--state", str(tmp_path))

    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr
    assert "Traceback" not in done.stderr
