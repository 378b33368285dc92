"""People who ask: many conversations at once through the API of the chat page, at a limited rate."""

import asyncio
import time
from collections.abc import Callable, Iterable

import httpx

from chaos.asked import Asked, Done
from chaos.deeds import PATIENCE, Deeds
from chaos.script import PEOPLE, Conversation
from chaos.verdict import Verdict
from chaos.watch import Watch, place_of
from chaos.world import Json

#: Conversations under way at once.
AT_ONCE = 64
#: Maximum questions per second. A short run asks more slowly, so that it meets faults, too.
RATE = 25.0
LEAST_SECONDS = 30.0
#: The share of one person's questions that the bot accepts, if everybody asks equally fast.
PATIENCE_WITH_ONE = 0.95
#: Seconds between two messages of a hasty person.
HASTE = 0.5


class Load:
    """Asks all questions of `conversations` in `seconds` or longer, and remembers them."""

    def __init__(
        self,
        url: str,
        watch: Watch,
        conversations: Iterable[Conversation],
        *,
        seconds: float = LEAST_SECONDS,
    ) -> None:
        self._url = url
        self._watch = watch
        conversations = list(conversations)
        self._pause = 1 / rate_of(conversations, seconds)
        self._waiting = iter(conversations)
        self._next_at = 0.0
        self.asked: list[Asked] = []
        self.done = Done()

    async def run(self, until: float, on_asked: Callable[[], None]) -> None:
        """Ask all questions, but only until the monotonic time `until`. Calls `on_asked` for each one."""
        # The page drops idle connections: a new one for each question cannot be dropped under it.
        limits = httpx.Limits(max_keepalive_connections=0)
        client = httpx.AsyncClient(base_url=self._url, trust_env=False, timeout=60, limits=limits)
        async with client, asyncio.TaskGroup() as people:
            for _ in range(AT_ONCE):
                people.create_task(self._person(client, until, on_asked))

    async def _person(self, client: httpx.AsyncClient, until: float, on_asked: Callable[[], None]) -> None:
        for conversation in self._waiting:
            thread = None
            deeds = conversation.deeds or ("",) * len(conversation.questions)
            for text, deed in zip(conversation.questions, deeds, strict=True):
                if time.monotonic() >= until:
                    return
                await self._turn()
                place = conversation.space if conversation.direct else thread
                # Counted before: the answer may be there before Chat has said that it took the question.
                ended = len(self._watch.ends(place)) if place else 0
                asked = await self._ask(client, conversation, text, thread)
                thread = None if conversation.direct else asked.place
                on_asked()
                await self._wait(asked, ended + 1)
                if deed:
                    await Deeds(client, self._watch, self.done).do(deed, asked)

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

    async def _wait(self, asked: Asked, count: int) -> None:
        if asked.conversation.hasty:
            await asyncio.sleep(HASTE)
        else:  # only for the next answer, not for all: a lost answer must not block the others
            await self._watch.ended(asked.place, count, PATIENCE)


def rate_of(conversations: Iterable[Conversation], seconds: float = LEAST_SECONDS) -> float:
    """How many of these questions are asked in a second."""
    total = sum(len(conversation.questions) for conversation in conversations)
    return min(RATE, total / seconds)


def patience_with_one(conversations: Iterable[Conversation]) -> int:
    """The limit of questions per person and minute, so that a few questions exceed it."""
    return max(5, round(rate_of(conversations) * 60 / len(PEOPLE) * PATIENCE_WITH_ONE))


def latencies(asked: Iterable[Asked], verdict: Verdict, watch: Watch) -> list[float]:
    """Seconds from each question until its message first looked like an end."""
    ended = ((each.at, verdict.messages.get(each.name)) for each in asked if each.name in verdict.ended)
    times = ((at, watch.first_end(message)) for at, message in ended if message)
    return [end - at for at, end in times if end is not None]
