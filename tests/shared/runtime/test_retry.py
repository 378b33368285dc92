"""The one retry helper: how often, how long, and what it never repeats."""

import threading
import time
from collections.abc import Callable

import pytest
from google.api_core.exceptions import AlreadyExists, InvalidArgument, ServiceUnavailable

from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from shared.runtime.retry import Policy, call


class Clock:
    """A clock that only moves when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def failing(times: int, error: Exception) -> Callable[[float], str]:
    """Work that fails `times` times and then succeeds."""
    left = [times]

    def work(timeout: float) -> str:
        if left[0] > 0:
            left[0] -= 1
            raise error
        return "done"

    return work


def run(work: Callable[[float], str], clock: Clock, *, seconds: float = 60, attempts: int = 4) -> str:
    return call(
        work,
        Policy("rag", timeout=5, attempts=attempts),
        Deadline(seconds, clock),
        answers=(AlreadyExists,),
        sleep=clock.sleep,
    )


def test_brief_trouble_is_over_before_anyone_notices() -> None:
    clock = Clock()

    assert run(failing(2, ServiceUnavailable("down")), clock) == "done"
    assert len(clock.slept) == 2


def test_a_refusal_is_not_repeated() -> None:
    clock = Clock()

    with pytest.raises(Permanent, match="rag_refused"):
        run(failing(1, InvalidArgument("bad")), clock)
    assert clock.slept == []


def test_an_answer_passes_through_untouched() -> None:
    with pytest.raises(AlreadyExists):
        run(failing(1, AlreadyExists("there")), Clock())


def test_the_attempts_are_bounded() -> None:
    clock = Clock()

    with pytest.raises(Transient, match="rag_unavailable"):
        run(failing(9, ServiceUnavailable("down")), clock, attempts=3)
    assert len(clock.slept) == 2


def test_waits_grow_and_are_jittered() -> None:
    waits = []
    for _ in range(20):
        clock = Clock()
        run(failing(3, ServiceUnavailable("down")), clock)
        waits.append(clock.slept)

    assert all(
        0.15 <= first <= 0.45 and 0.3 <= second <= 0.9 and third >= 0.6 for first, second, third in waits
    )
    assert len({first for first, _, _ in waits}) > 10


def test_retry_after_is_honoured() -> None:
    clock = Clock()

    run(failing(1, Transient("rag_throttled", retry_after=7)), clock)

    assert 7 <= clock.slept[0] <= 9


def test_a_wait_that_is_longer_than_the_time_left_is_not_begun() -> None:
    clock = Clock()

    with pytest.raises(Transient, match="rag_throttled"):
        run(failing(1, Transient("rag_throttled", retry_after=30)), clock, seconds=20)
    assert clock.slept == []


def test_an_attempt_gets_no_more_time_than_is_left() -> None:
    clock = Clock()
    given: list[float] = []

    def work(timeout: float) -> str:
        given.append(timeout)
        return "done"

    run(work, clock, seconds=3)

    assert given == [3]


def test_no_attempt_begins_after_the_deadline() -> None:
    with pytest.raises(Transient, match="deadline"):
        run(failing(0, ValueError()), Clock(), seconds=0)


def test_an_attempt_that_ignores_its_timeout_is_left_behind() -> None:
    forever = threading.Event()
    started = time.monotonic()

    with pytest.raises(Transient, match="rag_unavailable") as caught:
        call(lambda timeout: forever.wait(30), Policy("rag", timeout=0.2, attempts=4), Deadline(0.2))

    assert time.monotonic() - started < 2
    assert caught.value.in_doubt
    forever.set()
