"""Whose turn it is to write into a busy space: Chat allows one write a second there, whoever writes.

(developers.google.com/workspace/chat/limits: creating, updating and deleting together, of all apps.) A space
is busy for a minute after Chat has refused a write there for its quota. Until then nothing is asked and
nobody waits. In a busy space all instances of all functions share `space_slots/<space with _>`: space,
next_at (when the next write may go out) and expired_at. A final message takes the next second that is free
and waits for it, so final messages go out in the order they were ready. Progress does not go out there.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient, in_one_line
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "space_slots"
#: Seconds for which a space counts as busy.
BUSY = 60.0
#: Seconds for asking. Without an answer the write goes out all the same; Chat itself says if it is too much.
WAIT_FOR_SLOT = 4.0
#: Others were faster, each time that was tried, or until the time was used up.
CONTENTION = {"firestore_contention", "deadline"}
#: Seconds after which a final message asks although another one of this process has no answer yet.
IN_LINE = 1.0
#: Seconds that a final message needs for itself once it is its turn.
RESERVED_FOR_WRITING = 2.0
#: A turn that is further away was noted by a clock that is wrong.
FURTHEST = timedelta(minutes=10)


class Slots:
    """The turns of all spaces, in one Firestore database."""

    def __init__(
        self, client: Any, writes_per_second: float, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._spacing = timedelta(seconds=1 / writes_per_second)
        self._sleep = sleep
        self._lines: dict[str, threading.Lock] = {}
        self._refused: dict[str, float] = {}

    def refused(self, space: str) -> None:
        """Chat has refused a write there for its quota just now."""
        self._refused[space] = time.monotonic()

    def is_busy(self, space: str) -> bool:
        """Whether Chat has refused a write there in the last minute, as far as this process knows."""
        return time.monotonic() - self._refused.get(space, -math.inf) < BUSY

    def wait(self, space: str, deadline: Deadline) -> datetime | None:
        """Wait for a final message's turn, if the space is busy, and say which second it was (None: any).

        Raises Transient (`chat_busy`) when it is beyond the deadline; then nothing is taken.
        """
        turn = self._turn(space, deadline) if self.is_busy(space) else None
        self._wait_until(turn)
        return turn

    def _wait_until(self, turn: datetime | None) -> None:
        if turn is not None:
            self._sleep(max(0.0, (turn - datetime.now(UTC)).total_seconds()))

    def _turn(self, space: str, deadline: Deadline) -> datetime | None:
        """The second that was taken; None when that cannot be found out."""
        while deadline.remaining > RESERVED_FOR_WRITING:
            try:
                with self._in_line(space, IN_LINE):
                    longest = deadline.remaining - RESERVED_FOR_WRITING
                    turn = self._reserve(space, deadline.within(WAIT_FOR_SLOT), longest)
            except Transient as trouble:
                if trouble.reason in CONTENTION:
                    continue
                _going_on(trouble)
                return None
            except Exception as error:
                _going_on(error)
                return None
            if turn is None:
                raise Transient("chat_busy", "too many messages wait for their turn in this space")
            return turn
        return None

    @contextmanager
    def _in_line(self, space: str, seconds: float) -> Iterator[bool]:
        """Let one after the other of this process ask, as they come; whether it is one's turn to ask."""
        line = self._lines.setdefault(space, threading.Lock())
        first = line.acquire(timeout=seconds)
        try:
            yield first
        finally:
            if first:
                line.release()

    def _reserve(self, space: str, deadline: Deadline, longest: float) -> datetime | None:
        """Take the next free second, unless it is more than `longest` seconds away."""
        turn: datetime | None = None

        def edit(current: Fields | None) -> Fields | None:
            nonlocal turn
            now = datetime.now(UTC)  # each time anew: another writer may have been faster
            turn = _next(current, now)
            if turn - now > timedelta(seconds=longest):
                turn = None
                return None
            return {
                "space": space,
                "next_at": turn + self._spacing,
                "expired_at": expiry(turn, retention.SLOTS),
            }

        reference = self._client.collection(COLLECTION).document(document_id(space))
        change(self._client, reference, edit, deadline, FIRESTORE_ONCE)
        return turn


def _next(current: Fields | None, now: datetime) -> datetime:
    noted = (current or {}).get("next_at")
    if not isinstance(noted, datetime) or noted - now > FURTHEST:
        return now
    return max(now, noted)


def _going_on(error: Exception) -> None:
    logs.warning("Whose turn it is cannot be found out; writing without one", error=in_one_line(error))
