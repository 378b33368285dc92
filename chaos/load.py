"""People who ask: many conversations at once through the chat page's API, at a bounded rate."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import httpx

from chaos.script import Conversation
from chaos.watch import Json, Watch, place_of

#: Conversations under way at once.
AT_ONCE = 64
#: Questions a second, at most; fewer are spread over some time, so that a short run meets faults too.
RATE = 25.0
LEAST_SECONDS = 30.0
#: Seconds a person waits for an answer before writing on.
PATIENCE = 30.0
#: Seconds between two messages of a hasty person.
HASTE = 0.5


@dataclass(frozen=True)
class Asked:
    """A question as it is in Chat: `name` and `created` of the person's message, and when it was written
    in seconds of `time.monotonic()`."""

    name: str
    text: str
    place: str
    created: str
    conversation: Conversation
    at: float


class Load:
    """Asks all questions of `conversations`, and keeps what it has asked."""

    def __init__(self, url: str, watch: Watch, conversations: Iterable[Conversation]) -> None:
        self._url = url
        self._watch = watch
        conversations = list(conversations)
        total = sum(len(conversation.questions) for conversation in conversations)
        self._pause = max(1 / RATE, LEAST_SECONDS / total)
        self._waiting = iter(conversations)
        self._next_at = 0.0
        self.asked: list[Asked] = []

    async def run(self, until: float, on_asked: Callable[[], None]) -> None:
        """Ask until all is asked, or until the monotonic time `until`; `on_asked` is called for each."""
        # The page drops idle connections: a new one for each question cannot be dropped under it.
        limits = httpx.Limits(max_keepalive_connections=0)
        client = httpx.AsyncClient(base_url=self._url, trust_env=False, timeout=60, limits=limits)
        async with client, asyncio.TaskGroup() as people:
            for _ in range(AT_ONCE):
                people.create_task(self._person(client, until, on_asked))

    async def _person(self, client: httpx.AsyncClient, until: float, on_asked: Callable[[], None]) -> None:
        for conversation in self._waiting:
            thread = None
            for text in conversation.questions:
                if time.monotonic() >= until:
                    return
                await self._turn()
                asked = await self._ask(client, conversation, text, thread)
                thread = None if conversation.direct else asked.place
                on_asked()
                await self._wait(asked)

    async def _turn(self) -> None:
        """Wait until the rate allows another question."""
        now = time.monotonic()
        self._next_at = max(now, self._next_at + self._pause)
        await asyncio.sleep(self._next_at - now)

    async def _ask(
        self, client: httpx.AsyncClient, conversation: Conversation, text: str, thread: str | None
    ) -> Asked:
        body: Json = {
            "space": conversation.space,
            "person": conversation.person,
            "locale": conversation.topic.locale,
            "text": text,
            "thread": thread,
        }
        at = time.monotonic()
        message = (await client.post("/page/messages", json=body)).raise_for_status().json()
        asked = Asked(
            name=message["name"],
            text=text,
            place=place_of(message),
            created=message["createTime"],
            conversation=conversation,
            at=at,
        )
        self.asked.append(asked)
        return asked

    async def _wait(self, asked: Asked) -> None:
        if asked.conversation.hasty:
            await asyncio.sleep(HASTE)
        else:  # for the next answer there, not for all: one that is lost must not hold up the rest
            await self._watch.ended(asked.place, len(self._watch.ends(asked.place)) + 1, PATIENCE)


def latencies(asked: Iterable[Asked], watch: Watch) -> list[float]:
    """Seconds from each question to its first final message; the n-th of a place ends its n-th question."""
    in_place: dict[str, list[float]] = defaultdict(list)
    for each in asked:
        in_place[each.place].append(each.at)
    return [
        end - at
        for place, times in in_place.items()
        for at, end in zip(times, watch.ends(place), strict=False)
    ]
