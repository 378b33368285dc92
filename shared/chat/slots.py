"""Slots: turns for writing into a busy space. Chat allows one write a second into a space.

This quota is for creating, updating and deleting together, for all apps
(developers.google.com/workspace/chat/limits). A space is busy for a minute after Chat has refused a write
there because of the quota. In other spaces nobody waits, and Firestore is not read. In a busy space all
instances of all functions share the document `space_slots/<space with _>`: space, next_at (when the next
write may go out) and expired_at. A final message takes the next free second and waits for it, so final
messages go out in order. Progress is not shown in a busy space.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, expiry
from shared.messages.names import document_id
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient, in_one_line
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "space_slots"
#: How many seconds a space counts as busy.
BUSY = 60.0
#: Seconds for taking a slot. If that fails, the write goes out anyway; Chat refuses it if it is too early.
WAIT_FOR_SLOT = 4.0
#: Reason codes that mean: other writers were always faster, or the time was used up.
CONTENTION = {"firestore_contention", "deadline"}
#: After this many seconds a final message no longer waits for the others of this process to take a slot.
IN_LINE = 1.0
#: Seconds that a final message needs for writing after its turn has come.
RESERVED_FOR_WRITING = 2.0
#: A turn that is further away comes from a wrong clock, and is ignored.
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
        """Record that Chat has just refused a write into a space because of its quota."""
        self._refused[space] = time.monotonic()

    def is_busy(self, space: str) -> bool:
        """Whether this process knows that Chat refused a write into the space in the last minute."""
        return time.monotonic() - self._refused.get(space, -math.inf) < BUSY

    def wait(self, space: str, deadline: Deadline) -> datetime | None:
        """If the space is busy, wait for a final message's turn. Returns its time (None: no turn).

        Raises Transient (`chat_busy`) if the turn would be after the deadline. Then no slot is taken.
        """
        turn = self._turn(space, deadline) if self.is_busy(space) else None
        self._wait_until(turn)
        return turn

    def _wait_until(self, turn: datetime | None) -> None:
        if turn is not None:
            self._sleep(max(0.0, (turn - datetime.now(UTC)).total_seconds()))

    def _turn(self, space: str, deadline: Deadline) -> datetime | None:
        """The time of the slot that was taken. None if that failed."""
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
        """Let the writers of this process take slots one by one. Yields whether the wait succeeded."""
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
            now = datetime.now(UTC)  # read the clock each time: `edit` may run again
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
    next_at = (current or {}).get("next_at")
    if not isinstance(next_at, datetime) or next_at - now > FURTHEST:
        return now
    return max(now, next_at)


def _going_on(error: Exception) -> None:
    logs.warning("No turn could be taken; writing without one", error=in_one_line(error))
