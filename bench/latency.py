"""Compares the time to an answer with the minimum (`make bench`, `python -m bench.latency`).

Every call of a stand-in takes a fixed time (`DELAYS`), so the minimum time to an answer is a sum. It
asks first questions and follow-ups one at a time, in turn to the four functions and to a monolith
(`bench/monolith.py`). It measures from Chat's event to the answer in Chat's own event stream.

The critical path of a first question, that is, the calls that must follow each other:
    pubsub      the question is published; other reads and writes can run at the same time
    pubsub      the query is published
    rag         it is searched for
    pubsub      the findings are published
    gemini      the answer is written
    firestore   it is recorded
    chat        it is posted
That of a follow-up:
    firestore   the history is read
    firestore   the question is recorded as waiting, so that the next one is understood
    pubsub      the question is published
    gemini      it is rewritten
    pubsub, rag, pubsub, gemini, firestore, chat: as above
Chat's quota is off. `bench.one_space` measures a busy space.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from bench.serving import serving
from chaos.watch import Watch, is_final, place_of
from local.places import HOST, Places, free_port
from local.runner.cloud import Cloud
from local.runner.environment import isolate, of_function
from local.runner.stack import running
from local.stand_ins.faults import Faults
from shared.pipeline import pipeline

SPACE = "spaces/AAAAhelpdesk"
QUESTIONS = ("How do I configure the VPN?", "How do I reset my password?", "What is MFA?", "How do I print?")
FOLLOW_UP = "Can you explain that in more detail?"
#: Seconds that each call of a service takes.
DELAYS = {"gemini": 1.0, "rag": 0.3, "chat": 0.15, "firestore": 0.02, "pubsub": 0.01}
_SEARCHED_AND_ANSWERED = ("pubsub", "rag", "pubsub", "gemini", "firestore", "chat")
PATHS = {
    "first question": ("pubsub", *_SEARCHED_AND_ANSWERED),
    "follow-up": ("firestore", "firestore", "pubsub", "gemini", *_SEARCHED_AND_ANSWERED),
}
#: The largest allowed p50 of ours, as a multiple of the critical path.
TARGET = 1.08
BOTS = OURS, MONOLITH = "threadwise", "monolith"
#: Seconds to wait for one answer, and for all work after it.
PATIENCE = 30.0

Times = dict[str, dict[str, list[float]]]


def path(kind: str) -> float:
    """The seconds of a critical path."""
    return sum(DELAYS[service] for service in PATHS[kind])


@dataclass
class Bench:
    """A running cloud with both bots. `urls` has, by bot, the URL to which Chat sends events."""

    cloud: Cloud
    watch: Watch
    audience: str
    urls: dict[str, str]
    times: Times = field(default_factory=lambda: {kind: {bot: [] for bot in BOTS} for kind in PATHS})

    async def converse(self, bot: str, question: str) -> list[float]:
        """Ask a bot a question and a follow-up; the seconds to each answer. Raises RuntimeError."""
        await self.cloud.chat.start(self.urls[bot], self.audience)
        first, thread = await self._ask(question, None)
        second, _ = await self._ask(FOLLOW_UP, thread)
        return [first, second]

    async def pair(self, number: int) -> None:
        """Ask both bots the same, each time in the other order, and record the times."""
        for bot in BOTS if number % 2 else reversed(BOTS):
            taken = await self.converse(bot, QUESTIONS[number % len(QUESTIONS)])
            for kind, seconds in zip(PATHS, taken, strict=True):
                self.times[kind][bot].append(seconds)

    async def _ask(self, text: str, thread: str | None) -> tuple[float, str]:
        started = time.monotonic()
        asked = self.cloud.chat.post_as_person(SPACE, text, thread=thread, locale="en")
        place = place_of(asked)
        ends = len(self.watch.ends(place)) + 1
        if not await self.watch.ended(place, ends, PATIENCE):
            raise RuntimeError(f"{text!r} has no answer after {PATIENCE:.0f} s")
        seconds = self.watch.ends(place)[-1] - started
        await self._quiet()
        said = [each for each in self.watch.of_the_bot() if place_of(each) == place and is_final(each)]
        if len(said) != ends or not all("[1]" in each["text"] for each in said):
            raise RuntimeError(f"{text!r} was not answered from the knowledge base")
        return seconds, place

    async def _quiet(self) -> None:
        """Wait until all work after an answer is done, so that it cannot slow down the next one."""
        quiet, until = 0, time.monotonic() + PATIENCE
        while quiet < 5:  # the next step's message is published before the last one is acknowledged
            await asyncio.sleep(0.1)
            quiet = quiet + 1 if self.cloud.idle else 0
            if time.monotonic() > until:
                raise RuntimeError(f"not done {PATIENCE:.0f} s after the answer")


@asynccontextmanager
async def both(folder: Path, faults: Faults) -> AsyncIterator[Bench]:
    """The small cloud with the functions, and the monolith beside them; all of it ends with the context."""
    places, port = Places(state=None, logs=folder, http=free_port()), free_port()
    # What the functions are told that do its steps.
    environment: dict[str, str] = {}
    for step in reversed(pipeline().steps):
        environment |= of_function(step.name, places, None, quotas=False)
    source, log = Path(__file__).with_name("monolith.py"), folder / "monolith.log"
    async with (
        running(places, faults=faults, quotas=False) as (cloud, _),
        serving(source, "main", port, environment, log),
    ):
        watch = Watch(places.url)
        following = asyncio.create_task(watch.follow())
        try:
            yield Bench(cloud, watch, places.door, {OURS: places.door, MONOLITH: f"http://{HOST}:{port}/"})
        finally:
            following.cancel()


async def measure(pairs: int) -> Times:
    """Warm both up, then ask by turns: the seconds of each answer, by kind and bot."""
    faults = Faults()
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        async with both(Path(folder), faults) as bench:
            for bot in BOTS:
                await bench.converse(bot, QUESTIONS[0])  # clients are made, tokens fetched
            for service, seconds in DELAYS.items():
                faults.switch_on(f"{service}-slow", seconds=seconds)
            for number in range(pairs):
                await bench.pair(number)
                last = {kind: [round(bench.times[kind][bot][-1], 2) for bot in BOTS] for kind in PATHS}
                print(f"pair {number + 1} of {pairs}: {last}", file=sys.stderr, flush=True)
        return bench.times


def spread(values: list[float]) -> dict[str, float]:
    """The median, the minimum and the maximum of some figures."""
    return {
        "p50": round(median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


def figures(times: Times) -> dict[str, Any]:
    """For each kind: the critical path, each bot's seconds and their ratio to it, and the bots' ratio."""
    found: dict[str, Any] = {}
    for kind, of_bots in times.items():
        paired = zip(of_bots[OURS], of_bots[MONOLITH], strict=True)
        found[kind] = {
            "path": round(path(kind), 3),
            **{bot: spread(seconds) for bot, seconds in of_bots.items()},
            **{
                f"{bot}_of_path": spread([each / path(kind) for each in seconds])
                for bot, seconds in of_bots.items()
            },
            "threadwise_of_monolith": spread([ours / theirs for ours, theirs in paired]),
        }
    return found


def table(found: dict[str, Any]) -> str:
    """The figures as lines: the median, and in brackets the minimum and maximum of all pairs."""

    def shown(values: dict[str, float]) -> str:
        return f"{values['p50']:.2f} ({values['least']:.2f}-{values['most']:.2f})"

    lines = [f"{'':15} {'':10} {'seconds':>18} {'x critical path':>18}"]
    for kind, of_kind in found.items():
        lines.append(f"{kind:15} {'path':10} {of_kind['path']:>18.2f}")
        lines += [
            f"{'':15} {bot:10} {shown(of_kind[bot]):>18} {shown(of_kind[f'{bot}_of_path']):>18}"
            for bot in BOTS
        ]
        lines.append(f"{'':15} threadwise / monolith, in pairs: {shown(of_kind['threadwise_of_monolith'])}")
    met = all(of_kind["threadwise_of_path"]["p50"] <= TARGET for of_kind in found.values())
    return "\n".join([*lines, f"Target: at most {TARGET} x the path at p50: {'met' if met else 'missed'}"])


def main(
    pairs: Annotated[int, typer.Option(min=5, max=50, help="How often both are asked the same.")] = 12,
    quick: Annotated[bool, typer.Option("--quick", help="Five pairs, in about two minutes.")] = False,
    file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file, too.")] = None,
) -> None:
    """Measure the time to an answer beside the critical path and a monolith."""
    isolate(os.environ)
    times = asyncio.run(measure(5 if quick else pairs))
    found = figures(times)
    if file is not None:
        file.write_text(json.dumps({"delays": DELAYS, "figures": found, "seconds": times}, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    typer.run(main)
