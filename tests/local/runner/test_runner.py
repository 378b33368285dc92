"""The runner: what the functions' processes are told, and what they are not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.places import Places, PortTaken, free_port
from local.runner.environment import isolate, of_function, own_key
from local.stand_ins.faults import Faults, Refused, fault_names
from shared.pipeline import pipeline
from tests import ROOT


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(state=None, logs=tmp_path, http=free_port())


@pytest.mark.parametrize("name", [step.name for step in pipeline().steps])
def test_a_function_sees_nothing_of_a_person_s_own_cloud(
    name: str, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GOOGLE_APPLICATION_CREDENTIALS", "HTTPS_PROXY", "CLOUDSDK_CONFIG", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "mine")

    environment = of_function(name, places, None)

    assert "mine" not in environment.values()
    assert environment["HOME"] != os.environ.get("HOME")
    assert environment.get("GOOGLE_GEMINI_BASE_URL", places.url) == places.url


def test_with_a_key_the_real_gemini_is_asked_and_all_else_stays_here(places: Places) -> None:
    environment = of_function("answer", places, "a-key")

    assert environment["GEMINI_API_KEY"] == "a-key"
    assert "GOOGLE_GEMINI_BASE_URL" not in environment
    assert environment["FIRESTORE_EMULATOR_HOST"].startswith("127.0.0.1:")
    assert environment["CHAT_ENDPOINT"] == places.url


def test_an_empty_key_is_no_key() -> None:
    assert own_key({"GEMINI_API_KEY": ""}) is None
    assert own_key({}) is None


def test_the_runner_itself_keeps_no_proxy_and_no_credentials() -> None:
    environment = {"PATH": "/bin", "HTTPS_PROXY": "x", "GOOGLE_CLOUD_PROJECT": "mine", "GEMINI_API_KEY": "k"}

    isolate(environment)

    assert set(environment) == {"PATH", "GEMINI_API_KEY", "GRPC_VERBOSITY"}


def test_every_step_passes_on_to_one_that_takes_it() -> None:
    taken = {step.takes for step in pipeline().steps}

    assert all(step.gives in taken for step in pipeline().steps if step.gives)


def test_no_port_is_handed_out_twice() -> None:
    ports = [free_port() for _ in range(300)]  # of some 10,000: one drawn twice is next to certain

    assert len(set(ports)) == len(ports)


def test_no_port_is_handed_out_that_another_process_was_given() -> None:
    code = (
        "from local.places import free_port; print(*(free_port() for _ in range(200)), flush=True); input()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as other:
        assert other.stdout is not None
        theirs = {int(port) for port in other.stdout.readline().split()}
        ours = {free_port() for _ in range(200)}
        other.communicate("\n")

    assert len(theirs) == 200
    assert not theirs & ours


def test_a_taken_port_is_named() -> None:
    assert str(PortTaken(8080)) == "Port 8080 is in use"


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="answer-killed"):
        Faults().switch_on("gemini-sulking")


def test_faults_are_drawn_alike_from_the_same_seed() -> None:
    def draws(seed: int) -> list[bool]:
        faults = Faults(seed)
        faults.switch_on("chat-throttled", share=0.5)
        return [faults.drawn("chat-throttled") is not None for _ in range(50)]

    assert draws(7) == draws(7) != draws(8)
    assert 10 < sum(draws(7)) < 40


async def test_a_service_that_is_down_refuses_and_is_counted() -> None:
    faults = Faults()
    faults.switch_on("rag-down")

    with pytest.raises(Refused, match="rag is down"):
        await faults.gate("rag", "RetrieveContexts")
    await faults.gate("chat", "GET")

    assert faults.calls == {("rag", "RetrieveContexts"): 1, ("chat", "GET"): 1}  # refused ones, too

    assert faults.hits == {"rag-down": 1}
    assert "rag-down" in fault_names()


async def test_a_service_that_refuses_says_so_for_good() -> None:
    faults = Faults()
    faults.switch_on("firestore-refused")

    with pytest.raises(Refused) as refused:
        await faults.gate("firestore", "Commit")

    assert (refused.value.grpc_status, refused.value.http_status) == ("PERMISSION_DENIED", 403)


AHEAD = """
import time
from datetime import UTC, datetime
from local.runner.skew import Clock, set_by
ahead, began, steady, started = Clock(0.0), datetime.now(UTC), time.monotonic(), time.time()
set_by(ahead)
for seconds in (0, 30, -30):
    ahead.value = seconds
    told = [(datetime.now(UTC) - began).total_seconds(), time.time() - started]
    print(*(round(each / 10) * 10 for each in told), round(time.monotonic() - steady))
print(type(datetime.now(UTC)) is datetime, isinstance(began, datetime))
"""


CALLED = """
import time
import grpc
from local.runner.skew import Clock, set_by
ahead = Clock(0.0)
set_by(ahead)
call = grpc.insecure_channel("127.0.0.1:1").unary_unary("/a/b")
for seconds in (30, -30):
    ahead.value, began = seconds, time.monotonic()
    try:
        call(b"", timeout=0.5, wait_for_ready=True)
    except grpc.RpcError as error:
        print(error.code().name, 0.4 < time.monotonic() - began < 10)
"""


def test_a_call_takes_as_long_as_it_may_whatever_the_clock_says() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLED], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.split("\n")[:2] == ["DEADLINE_EXCEEDED True"] * 2


def test_a_clock_that_is_wrong_is_wrong_everywhere_but_in_what_only_counts() -> None:
    done = subprocess.run([sys.executable, "-c", AHEAD], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.split("\n")[:4] == ["0 0 0", "30 30 0", "-30 -30 0", "True True"]


async def test_calls_are_recorded_from_when_they_come_to_when_they_are_answered() -> None:
    faults = Faults()
    faults.switch_on("rag-down")

    with faults.recording() as calls:
        async with faults.call("chat", "GET"):
            assert [(each.service, each.method, each.answered) for each in calls] == [("chat", "GET", None)]
        with pytest.raises(Refused):
            async with faults.call("rag", "RetrieveContexts"):
                raise AssertionError("it was answered")
    async with faults.call("chat", "PATCH"):
        pass

    read, searched = calls
    assert searched.method == "RetrieveContexts"
    assert read.came <= (read.answered or 0) <= searched.came <= (searched.answered or 0)


def test_without_the_packages_it_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "local").mkdir()
    for name in ("__init__.py", "__main__.py"):
        (tmp_path / "local" / name).write_text((ROOT / "local" / name).read_text())

    done = subprocess.run(
        [sys.executable, "-S", "-m", "local"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.strip() == "threadwise is not set up here yet. Run: make setup"
