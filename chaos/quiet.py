"""Waits until all work has ended."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from google.cloud.firestore import Client

from chaos.asked import Asked
from chaos.watch import Watch, place_of
from chaos.world import CASES, REFERENCE, TOMBSTONES, Json, document_of
from local.places import PROJECT
from local.runner.cloud import Cloud

#: Seconds in which all work must end after the faults are off: the longest step, and some backoff.
SETTLING = 240.0
#: Seconds without work before a run counts as quiet. An acknowledged message may still be shown later.
QUIET = 1.0
#: The same on Google's emulator, where only what shows can be seen: longer than it waits before it delivers
#: again what has failed (1 s, measured).
QUIET_TO_SEE = 6.0
#: Looks in that time.
LOOKS = 10


async def settled(
    cloud: Cloud, watch: Watch, asked: Iterable[Asked], *, official: bool, replayed: bool
) -> bool:
    """Wait until all work has ended. Returns False if it does not end in time.

    `official`: on Google's emulators. `replayed`: all dead letters were, and no apology may be left.
    """
    if official:
        onlooker = Onlooker(cloud, watch, asked, replayed=replayed)
        return await _quiet(onlooker.sees_work, QUIET_TO_SEE)

    async def busy() -> bool:
        return not cloud.idle

    return await _quiet(busy, QUIET)


async def _quiet(busy: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Wait until there has been no work for `seconds`."""
    until = time.monotonic() + SETTLING
    quiet_since = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(seconds / LOOKS)
        if await busy():
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > seconds:
            return True
    return False


class Onlooker:
    """Finds unfinished work by what is visible. Google's emulator does not report undelivered messages.

    So work counts as unfinished while a question has no end, and whenever Chat or Firestore have changed.
    """

    def __init__(self, cloud: Cloud, watch: Watch, asked: Iterable[Asked], *, replayed: bool) -> None:
        self._cloud = cloud
        self._watch = watch
        self._asked = list(asked)
        self._replayed = replayed
        self._firestore = Client(project=PROJECT)
        self._seen: tuple[dict[str, Json], dict[str, Any]] | None = None

    async def sees_work(self) -> bool:
        """Whether some work seems unfinished."""
        documents = await asyncio.to_thread(self._documents)
        if (
            not self._cloud.idle
            or self._owed(set(documents))
            or (self._replayed and self._sorry(set(documents)))
        ):
            return True
        seen = (dict(self._watch.messages), documents)
        before, self._seen = self._seen, seen
        return seen != before

    def _documents(self) -> dict[str, Any]:
        """When each document of Firestore was written last."""
        return {
            snapshot.reference.path: snapshot.update_time
            for collection in self._firestore.collections()
            for snapshot in collection.select([]).stream()
        }

    def _owed(self, documents: set[str]) -> bool:
        """Whether a question waits for its end. Not if Chat gave up or refused, or if it is forgotten."""
        taken = Counter(
            question.place
            for question in self._asked
            if question.name not in self._watch.not_taken
            and f"{CASES}/{document_of(question.name)}" not in documents
            and f"{TOMBSTONES}/{document_of(question.place)}" not in documents
        )
        return any(len(self._watch.ends(place)) < count for place, count in taken.items())

    def _sorry(self, documents: set[str]) -> bool:
        """Whether an apology is left that should be an answer now."""
        return any(
            REFERENCE.search(str(message.get("text")))
            for message in self._watch.of_the_bot()
            if f"{TOMBSTONES}/{document_of(place_of(message))}" not in documents
        )
