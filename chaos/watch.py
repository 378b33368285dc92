"""What Chat shows, followed live as the chat page does (server-sent events)."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from chaos.script import DIRECT
from chaos.world import Json, is_pointer, is_progress


def place_of(message: Json) -> str:
    """The thread of a message. For a direct message its space, because replies there start threads."""
    space: str = message["space"]["name"]
    return space if space in DIRECT else str(message["thread"]["name"])


def is_final(message: Json) -> bool:
    """Whether a message of the bot looks like the end of a question."""
    return bool(message.get("text")) and not (is_progress(message) or is_pointer(message))


@dataclass(frozen=True)
class Shown:
    """What a message said from a time on (`time.monotonic()`)."""

    at: float
    text: str
    progress: bool


class Watch:
    """All messages of Chat as they are now, and when the bot's final ones were first seen."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ends: dict[str, dict[str, float]] = defaultdict(dict)
        self._said: dict[str, set[str]] = defaultdict(set)
        self._changed: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        #: The texts of each message of the bot, one state after the other. Deleted messages are included.
        self.history: dict[str, list[Shown]] = defaultdict(list)
        #: By name; without deleted ones.
        self.messages: dict[str, Json] = {}
        #: Names of persons' messages that the bot did not take.
        self.not_taken: set[str] = set()

    async def follow(self) -> None:
        """Follow until cancelled. Raises httpx.HTTPError when Chat goes away."""
        headers = {"Last-Event-ID": "0"}
        async with (
            httpx.AsyncClient(trust_env=False, timeout=None) as client,  # noqa: S113 - it may be quiet for long
            client.stream("GET", f"{self._url}/page/events", headers=headers) as response,
        ):
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    self._take(json.loads(line.removeprefix("data: ")))

    def of_the_bot(self) -> Iterator[Json]:
        """The bot's messages."""
        return (message for message in self.messages.values() if message["sender"]["type"] == "BOT")

    def said_in(self, place: str) -> list[Json]:
        """The bot's messages in a place, oldest first."""
        said = [self.messages[name] for name in self._said[place] if name in self.messages]
        return sorted(said, key=lambda message: str(message["createTime"]))

    def first_end(self, message: Json) -> float | None:
        """When a message first looked like an end, in `time.monotonic()` seconds."""
        return self._ends[place_of(message)].get(message["name"])

    def ends(self, place: str) -> list[float]:
        """When each final message of a place was first seen, in `time.monotonic()` seconds, in order."""
        return sorted(self._ends[place].values())

    async def ended(self, place: str, count: int, patience: float) -> bool:
        """Wait until a place has `count` final messages; False when it has not within `patience` seconds."""
        try:
            async with asyncio.timeout(patience):
                while len(self._ends[place]) < count:
                    await self._changed[place].wait()
        except TimeoutError:
            return False
        return True

    def _take(self, change: Json) -> None:
        if "message" not in change:  # the bot was added or removed, or the connection of Chat changed
            return
        message = change["message"]
        name = message["name"]
        if change["kind"] == "deleted":
            self.messages.pop(name, None)
            return
        self.messages[name] = message
        if change["kind"] == "not_responding":
            self.not_taken.add(name)
        if message["sender"]["type"] != "BOT":
            return
        self._said[place_of(message)].add(name)
        said = Shown(time.monotonic(), str(message.get("text", "")), is_progress(message))
        states = self.history[name]
        if not states or (states[-1].text, states[-1].progress) != (said.text, said.progress):
            states.append(said)
        if is_final(message):
            place = place_of(message)
            self._ends[place].setdefault(name, time.monotonic())
            self._changed[place].set()
            self._changed[place] = asyncio.Event()
