"""One write a second in a busy space, whoever writes: final messages wait, progress is dropped."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import Any

import pytest

from shared.chat.slots import BUSY, COLLECTION, Slots
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient

_numbers = count(1)
#: Takes turns at ten a second without waiting for them, and prints them.
TAKE_TURNS = """
import json, sys
from google.cloud.firestore import Client
from shared.runtime.deadline import Deadline
from shared.chat.slots import Slots
slots = Slots(Client(project=sys.argv[1]), 10, sleep=lambda seconds: None)
slots.refused(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps([slots.wait(sys.argv[2], Deadline(60)).timestamp() for _ in range(6)]))
"""


@pytest.fixture
def space() -> str:
    """A space that nobody has written into yet."""
    return f"spaces/SLOTS{next(_numbers)}"


@pytest.fixture
def waits() -> list[float]:
    """How long the final messages wait, in seconds."""
    return []


@pytest.fixture
def slots(firestore: Any, space: str, waits: list[float]) -> Slots:
    """The slots of a space that has just refused a write, and of one more."""
    slots = Slots(firestore, 1, sleep=waits.append)
    slots.refused(space)
    slots.refused(f"{space}B")
    return slots


def test_a_space_is_busy_for_a_minute_after_it_has_refused_a_write(
    firestore: Any, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots(firestore, 1)
    assert not slots.is_busy(space)

    slots.refused(space)
    assert slots.is_busy(space) and not slots.is_busy(f"{space}B")

    refused_at = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: refused_at + BUSY)
    assert not slots.is_busy(space)


def test_in_a_quiet_space_nobody_waits_and_firestore_is_not_asked(space: str) -> None:
    assert Slots(None, 1).wait(space, Deadline(10)) is None


def test_the_first_write_does_not_wait(slots: Slots, space: str, waits: list[float]) -> None:
    slots.wait(space, Deadline(10))

    assert waits == [0]


def test_final_messages_take_one_second_after_the_other(slots: Slots, space: str) -> None:
    turns = [slots.wait(space, Deadline(30)) for _ in range(4)]

    assert all(turn is not None for turn in turns)
    gaps = [(after - before).total_seconds() for before, after in pairwise(filter(None, turns))]
    assert gaps == [1, 1, 1]


def test_spaces_do_not_wait_for_each_other(slots: Slots, space: str, waits: list[float]) -> None:
    slots.wait(space, Deadline(10))
    slots.wait(f"{space}B", Deadline(10))

    assert waits == [0, 0]


def test_a_turn_beyond_the_deadline_is_not_taken(slots: Slots, space: str, waits: list[float]) -> None:
    for _ in range(6):
        slots.wait(space, Deadline(30))

    with pytest.raises(Transient, match="chat_busy"):
        slots.wait(space, Deadline(5))
    slots.wait(space, Deadline(30))

    assert waits[-1] <= 6


def test_a_clock_that_was_wrong_holds_up_nobody(
    slots: Slots, space: str, firestore: Any, waits: list[float]
) -> None:
    recorded = {"space": space, "next_at": datetime.now(UTC) + timedelta(days=1)}
    firestore.collection(COLLECTION).document(document_id(space)).set(recorded)

    slots.wait(space, Deadline(10))

    assert waits == [0]


def test_without_firestore_everything_goes_out(slots: Slots, space: str, faults: Any) -> None:
    faults.switch_on("firestore-down")

    assert slots.wait(space, Deadline(20)) is None


def test_the_document_expires(slots: Slots, space: str, firestore: Any) -> None:
    slots.wait(space, Deadline(10))

    kept = firestore.collection(COLLECTION).document(document_id(space)).get().to_dict()
    assert kept.keys() == {"space", "next_at", "expired_at"}
    assert kept["expired_at"] > kept["next_at"]


def test_a_turn_costs_one_read_and_one_write(firestore: Any, space: str) -> None:
    calls: list[str] = []

    class Counting:
        """A client that records what is read and written."""

        def collection(self, name: str) -> Any:
            return firestore.collection(name)

        def get_all(self, *references: Any, **options: Any) -> Any:
            calls.append("read")
            return firestore.get_all(*references, **options)

        def batch(self) -> Any:
            calls.append("write")
            return firestore.batch()

    slots = Slots(Counting(), 1)
    slots.refused(space)
    slots.wait(space, Deadline(10))

    assert calls == ["read", "write"]


@pytest.mark.slow
def test_threads_that_come_at_once_get_all_different_seconds(slots: Slots, space: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        turns = sorted(filter(None, pool.map(lambda _: slots.wait(space, Deadline(60)), range(12))))

    assert len(turns) == 12
    assert all(after - before >= timedelta(seconds=1) for before, after in pairwise(turns))


@pytest.mark.slow
def test_four_processes_share_the_seconds_of_a_space(small_cloud: Any, space: str) -> None:
    command = [sys.executable, "-c", TAKE_TURNS, os.environ["GOOGLE_CLOUD_PROJECT"], space]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=100)[0] for process in processes]

    turns = sorted(turn for lines in printed for turn in json.loads(lines))
    assert len(turns) == 24
    assert all(after - before >= 0.0999 for before, after in pairwise(turns))
