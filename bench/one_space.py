"""How long do people wait in one space, alone and when many ask at once? (`python -m bench.one_space`)

Chat takes one write a second there. Two ways to live with that are compared in one run, by turns: ours, and
another (`bench/ways.py`). First people ask one after the other in a space that is quiet otherwise, then all
at once. Every call of a stand-in takes the time that it takes in `bench.latency`. Printed are how long people
waited, how many writes Chat refused for its quota, how many answers overtook another one that was ready
before, and what was written and asked for each question.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
import typer

from bench.latency import DELAYS
from bench.poison import QUESTIONS
from bench.serving import serving
from bench.ways import named
from chaos.watch import Watch, place_of
from local.places import Places, free_port
from local.runner.child import import_sdks
from local.runner.cloud import Cloud
from local.runner.connect import connect
from local.runner.environment import isolate, of_function
from local.stand_ins.faults import Faults
from shared.pipeline import pipeline

SPACE = "spaces/AAAAhelpdesk"
PEOPLE = ("users/1001", "users/1002")
PATIENCE = 180.0
#: Seconds between two questions in a quiet space: its quota is whole again.
PAUSE = 2.5
OURS, OTHER = "shared.chat.message:open_chat", "bench.ways:open_chat_in_turn"


@dataclass
class Waits:
    """What came of questions: the seconds that people waited, and counts."""

    seconds: list[float] = field(default_factory=list)
    asked: int = 0
    refused: int = 0
    overtook: int = 0
    parked: int = 0
    chat_writes: int = 0
    firestore: int = 0

    def __str__(self) -> str:
        waited = sorted(self.seconds)
        p95 = statistics.quantiles(waited, n=20, method="inclusive")[-1]
        return (
            f"answered {len(waited)} of {self.asked}   first {waited[0]:.2f} s"
            f"   p50 {statistics.median(waited):.2f} s   p95 {p95:.2f} s   last {waited[-1]:.2f} s"
            f"   refused {self.refused}   overtook {self.overtook}   parked {self.parked}"
            f"   each: {self.chat_writes / self.asked:.1f} writes tried"
            f", {self.firestore / self.asked:.1f} Firestore calls"
        )


@dataclass
class Space:
    """A running cloud whose functions write in one way, and who watches it."""

    cloud: Cloud
    faults: Faults
    watch: Watch
    client: httpx.AsyncClient
    logs: Path

    async def alone(self, people: int, into: Waits) -> None:
        """Ask one after the other, when all that followed from the last question is done."""
        for number in range(people):
            await asyncio.sleep(PAUSE)
            await self._counted([number], into)

    async def at_once(self, people: int, into: Waits) -> None:
        """Have all ask at once."""
        await asyncio.sleep(PAUSE)
        await self._counted(list(range(people)), into)

    async def _counted(self, numbers: list[int], into: Waits) -> None:
        refused, calls = self._refused, self.faults.calls.copy()
        logged = (self.logs / "answer.log").stat().st_size
        ended = await asyncio.gather(*(self._ask(number) for number in numbers))
        await self._quiet()
        calls = self.faults.calls - calls
        log = (self.logs / "answer.log").read_bytes()[logged:].decode(errors="replace")
        into.asked += len(numbers)
        into.seconds += [seconds for seconds in ended if seconds is not None]
        into.refused += self._refused - refused
        into.parked += log.count("Parked in the dead letters")
        into.overtook += sum(
            place != turn for place, turn in zip(order(log, "Ready"), order(log, "Posted"), strict=False)
        )
        into.chat_writes += calls["chat", "POST"] + calls["chat", "PUT"]
        into.firestore += sum(count for (service, _), count in calls.items() if service == "firestore")

    @property
    def _refused(self) -> int:
        return self.cloud.chat.quotas.refused if self.cloud.chat.quotas else 0

    async def _ask(self, number: int) -> float | None:
        """Ask one question in a thread of its own; the seconds to its end, None without any."""
        body = {"space": SPACE, "text": QUESTIONS[number % len(QUESTIONS)], "thread": None, "locale": "en"}
        person = PEOPLE[number % len(PEOPLE)]
        started = time.monotonic()
        response = await self.client.post("/page/messages", json={**body, "mention": True, "person": person})
        place = place_of(response.raise_for_status().json())
        if not await self.watch.ended(place, 1, PATIENCE):
            return None
        return self.watch.ends(place)[0] - started

    async def _quiet(self) -> None:
        """Wait for what follows an answer, which tells nobody that it is done."""
        quiet, until = 0, time.monotonic() + PATIENCE
        while quiet < 3 and time.monotonic() < until:
            await asyncio.sleep(0.1)
            quiet = quiet + 1 if self.cloud.idle else 0


def order(log: str, message: str) -> list[str]:
    """The questions in the order in which a function first said something of them."""
    lines = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    return list(dict.fromkeys(line["question"] for line in lines if line["message"] == message))


@asynccontextmanager
async def writing(way: str, folder: Path, *, quotas: bool) -> AsyncIterator[Space]:
    """The small cloud, and the functions as they write in a way; all of it ends with the context."""
    places, faults = Places(state=None, logs=folder, http=free_port()), Faults()
    cloud, source = Cloud(places, faults, quotas=quotas), Path(__file__).with_name("ways.py")
    await cloud.start()
    try:
        async with AsyncExitStack() as stack:
            for step in pipeline().functions:
                told = of_function(step.name, places, None, quotas=quotas)
                told |= {"BENCH_WAY": way, "BENCH_FUNCTION": step.folder}
                log, port = folder / f"{step.name}.log", places.functions[step.name]
                await stack.enter_async_context(serving(source, step.entry_point, port, told, log))
            await asyncio.to_thread(connect, places)
            watch = Watch(places.url)
            following = asyncio.create_task(watch.follow())
            stack.callback(following.cancel)
            client = httpx.AsyncClient(base_url=places.url, trust_env=False, timeout=60)
            await stack.enter_async_context(client)
            yield Space(cloud, faults, watch, client, folder)
    finally:
        await cloud.stop()


async def measure(way: str, people: int, alone: Waits, at_once: Waits, *, quotas: bool) -> None:
    """Have people ask in a space of a way, first alone, then at once."""
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        async with writing(way, Path(folder), quotas=quotas) as space:
            await space.alone(1, Waits())  # clients are made, tokens fetched
            for service, seconds in DELAYS.items():
                space.faults.switch_on(f"{service}-slow", seconds=seconds)
            await space.alone(max(2, people // 2), alone)
            await space.at_once(people, at_once)


def main(
    people: Annotated[int, typer.Option(min=2, max=100, help="How many ask at once.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, max=10, help="How often each way is measured.")] = 2,
    quotas: Annotated[bool, typer.Option(help="Enforce Chat's quota: a write a second in a space.")] = True,
    way: Annotated[str, typer.Option(help="The other way, as module:function.")] = OTHER,
) -> None:
    """Measure how long people wait in one space, with our way to write into it and with another."""
    named(way)
    isolate(os.environ)
    import_sdks()
    waits = {each: (Waits(), Waits()) for each in (OURS, way)}
    for number in range(rounds):
        for each, (alone, at_once) in waits.items():
            print(f"round {number + 1} of {rounds}: {each}", file=sys.stderr, flush=True)
            asyncio.run(measure(each, people, alone, at_once, quotas=quotas))
    for each, (alone, at_once) in waits.items():
        print(f"{each}\n  alone:   {alone}\n  at once: {at_once}")


if __name__ == "__main__":
    typer.run(main)
