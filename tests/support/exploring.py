"""Stops one actor at a call of a service, as the service sees it, and runs others meanwhile."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Literal

from local.stand_ins.faults import Faults, Refused
from ops.replay import CLAIM

#: What becomes of the actor at the call: it dies before, or after it took effect; it stands still there
#: while the others run to their end (and dies after the call then); or the call fails after it took effect.
Stop = Literal[
    "killed before", "killed after", "paused before", "paused after", "paused before, killed after",
    "failed after",
]  # fmt: skip
PAUSES: tuple[Stop, ...] = ("paused before", "paused after", "paused before, killed after")
STOPS: tuple[Stop, ...] = ("killed before", "killed after", *PAUSES, "failed after")
#: Delivers a message; returns whether it is acknowledged.
Actor = Callable[[], bool]
#: How many seconds a clock may be wrong.
SKEW = 30.0
#: A message that is not acknowledged comes again so many seconds later. The claim of an operator is over by
#: then, even if the clock of the operator was ahead.
COMES_AGAIN = CLAIM.total_seconds() + SKEW + 10

_ahead: ContextVar[float] = ContextVar("ahead", default=0.0)


class OwnClock:
    """How far the clock of whoever asks is ahead (`local/runner/skew.py`)."""

    @property
    def value(self) -> float:
        """Seconds."""
        return _ahead.get()


@contextmanager
def ahead(seconds: float) -> Iterator[None]:
    """Set the clock of whatever is done in here ahead, also in threads that the product starts."""
    token = _ahead.set(seconds)
    try:
        yield
    finally:
        _ahead.reset(token)


class Stops:
    """Takes the place of `Faults.call` of a small cloud."""

    def __init__(self, faults: Faults, loop: asyncio.AbstractEventLoop) -> None:
        self._call = faults.call
        self._loop = loop
        self._running = self._dead = False
        self._over = True
        self._count = 0

    @asynccontextmanager
    async def call(self, service: str, method: str) -> AsyncIterator[None]:
        """Answer a call in here."""
        async with self._call(service, method):
            if self._dead:
                raise Refused("PERMISSION_DENIED", 403, "its caller is dead")
            stops = self._is_here()
            if stops:
                await self._before()
            yield
            if stops:
                await self._after()

    def count(self, actor: Actor) -> int:
        """Run an actor that nothing stops; returns the number of its calls."""
        self._stop, self._number, self._count = "killed before", -1, 0
        self._running = True
        actor()
        self._running = False
        return self._count

    def run(
        self, actor: Actor, others: Sequence[Actor], stop: Stop, number: int, seconds: float = 0.0
    ) -> list[bool]:
        """Run an actor until its call of this number (0: the first), then the others, then the rest of it.

        Its clock is `seconds` ahead. Returns whether each of them was done.
        """
        self._stop, self._number, self._count = stop, number, 0
        self._paused, self._release = threading.Event(), asyncio.Event()
        self._running, self._dead, self._over = True, False, False
        done: list[bool] = []

        def run() -> None:
            with ahead(seconds):
                done.append(actor())

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive() and not self._paused.wait(0.01):
            pass
        self._running = False
        if not self._paused.is_set():
            thread.join(30)
            self._dead = False
        others_done = [other() for other in others]
        self._loop.call_soon_threadsafe(self._release.set)
        thread.join(30)
        self._dead, self._over = False, True
        assert not thread.is_alive(), f"{stop} call {number}: the actor does not end"
        return [done == [True] and "killed" not in stop, *others_done]

    def _is_here(self) -> bool:
        if not self._running:
            return False
        self._count += 1
        return self._count == self._number + 1

    async def _before(self) -> None:
        if self._stop == "killed before":
            self._die()
        if self._stop.startswith("paused before"):
            await self._pause()

    async def _after(self) -> None:
        if self._stop.endswith("killed after"):
            self._die()
        if self._stop == "failed after":
            raise Refused("UNAVAILABLE", 503, "it has taken effect all the same")
        if self._stop == "paused after":
            await self._pause()

    def _die(self) -> None:
        self._dead = not self._over  # an actor that waited no longer for the call has ended by itself
        raise Refused("PERMISSION_DENIED", 403, "its caller is dead")

    async def _pause(self) -> None:
        self._running = False
        self._paused.set()
        await self._release.wait()


def until_done(actor: Actor) -> bool:
    """Deliver a message again until it is acknowledged; returns whether it is in the end."""
    with ahead(COMES_AGAIN):
        return any(actor() for _ in range(5))
