"""Stops one actor at a call of a service, as the service sees it, and runs another one meanwhile."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from local.stand_ins.faults import Faults, Refused

#: What becomes of the actor at the call: it dies before it, or after it took effect; it stands still there
#: while the other one runs to its end; or the call fails after it took effect.
Stop = Literal["killed before", "killed after", "paused before", "paused after", "failed after"]
STOPS: tuple[Stop, ...] = ("killed before", "killed after", "paused before", "paused after", "failed after")
Actor = Callable[[], bool]


class Stops:
    """Takes the place of `Faults.call` of a small cloud."""

    def __init__(self, faults: Faults, loop: asyncio.AbstractEventLoop) -> None:
        self._call = faults.call
        self._loop = loop
        self._running = self._dead = False
        self._count = 0

    @asynccontextmanager
    async def call(self, service: str, method: str) -> AsyncIterator[None]:
        """Answer a call in here."""
        async with self._call(service, method):
            if self._dead:
                raise Refused("PERMISSION_DENIED", 403, "its caller is dead")
            stops = self._is_here()
            if stops:
                await self._at(" before")
            yield
            if stops:
                await self._at(" after")

    def run(self, actor: Actor, other: Actor, stop: Stop, number: int) -> tuple[bool | None, bool]:
        """Run an actor until its call of this number (0: the first), then the other, then what is left of it.

        Returns whether the actor was done (None: it has not made so many calls), and whether the other was.
        """
        self._stop, self._number, self._count = stop, number, 0
        self._paused, self._release = threading.Event(), asyncio.Event()
        self._running, self._dead, self._hit = True, False, False
        done: list[bool] = []
        thread = threading.Thread(target=lambda: done.append(actor()), daemon=True)
        thread.start()
        while thread.is_alive() and not self._paused.wait(0.01):
            pass
        self._running = False
        if not self._paused.is_set():
            thread.join(30)
            self._dead = False
        others = other()
        self._loop.call_soon_threadsafe(self._release.set)
        thread.join(30)
        assert not thread.is_alive(), f"{stop} call {number}: the actor does not end"
        return (done[0] and not stop.startswith("killed") if self._hit else None), others

    def _is_here(self) -> bool:
        if not self._running:
            return False
        self._count += 1
        self._hit = self._hit or self._count == self._number + 1
        return self._count == self._number + 1

    async def _at(self, where: str) -> None:
        if not self._stop.endswith(where):
            return
        if self._stop.startswith("killed"):
            self._dead = True
            raise Refused("PERMISSION_DENIED", 403, "its caller is dead")
        if self._stop.startswith("failed"):
            raise Refused("UNAVAILABLE", 503, "it has taken effect all the same")
        self._running = False
        self._paused.set()
        await self._release.wait()


def until_done(actor: Actor) -> None:
    """Deliver a message again until it is acknowledged."""
    assert any(actor() for _ in range(5)), "it is never acknowledged"
