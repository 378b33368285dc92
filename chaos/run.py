"""One run: ask while faults are on, check, replay the dead letters without faults, and check again."""

import asyncio
import os
import time
from collections.abc import Awaitable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from google.cloud.firestore import Client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from chaos.checker import check, check_replayed
from chaos.history import followed
from chaos.load import Load, latencies, patience_with_one
from chaos.outside import Outside, look
from chaos.quiet import settled
from chaos.replay import replay
from chaos.report import Figures
from chaos.script import TOO_MANY, written
from chaos.storm import BESIDE_EMULATORS, Storm, schedule
from chaos.watch import Watch
from chaos.world import CASES
from local.places import HOST, PROJECT, Places, free_port
from local.runner.emulators import both
from local.runner.environment import MOST_A_MINUTE
from local.runner.stack import running
from local.stand_ins.faults import SERVICES, Faults


@dataclass(frozen=True)
class Plan:
    """How much is asked, the seed of it all, for how long at most, whether Chat's quotas are on, whether
    Pub/Sub and Firestore are Google's emulators, and which faults, deeds and excesses are left out."""

    questions: int
    threads: int
    seed: int
    minutes: float
    quotas: bool
    official: bool
    without: frozenset[str]


async def run(plan: Plan, folder: Path, console: Console) -> Figures:
    """Do it, with state and logs in `folder`. Raises PortTaken, FunctionFailed or CannotStart."""
    places = Places(state=folder / "state", logs=folder / "logs", http=free_port())
    (folder / "state").mkdir()
    os.environ["FIRESTORE_EMULATOR_HOST"] = f"{HOST}:{places.firestore}"
    os.environ["PUBSUB_EMULATOR_HOST"] = f"{HOST}:{places.pubsub}"
    with both(places) if plan.official else nullcontext():
        return await _run(plan, places, console)


async def _run(plan: Plan, places: Places, console: Console) -> Figures:
    faults, official = Faults(plan.seed), plan.official
    started = time.monotonic()
    script = written(plan.questions, plan.threads, plan.seed, plan.without)
    async with running(
        places,
        faults=faults,
        quotas=plan.quotas,
        official=official,
        most_a_minute=MOST_A_MINUTE if TOO_MANY in plan.without else patience_with_one(script),
    ) as (cloud, functions):
        watch = Watch(places.url)
        began = time.monotonic()
        following = asyncio.create_task(watch.follow())
        services = BESIDE_EMULATORS if official else SERVICES
        storm = Storm(cloud, functions, faults, schedule(plan.seed, services, plan.without))
        load = Load(places.url, watch, script)
        await _ask(load, storm, started + plan.minutes * 60, plan.questions, console)
        settling = partial(settled, cloud, watch, load.asked, official=official)
        asked, done = load.asked, load.done
        first_look = await _look(settling(replayed=False), places, watch, faults, console)
        first = followed(check(asked, first_look, done), asked, first_look, watch, done, since=began)
        replaying = time.monotonic()
        await asyncio.to_thread(replay, PROJECT)
        second_look = await _look(settling(replayed=True), places, watch, faults, console)
        second = check_replayed(asked, second_look, first, done)
        second = followed(second, asked, second_look, watch, done, since=replaying)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        return Figures(
            seed=plan.seed,
            quotas=plan.quotas,
            official=official,
            asked=len(asked),
            seconds=time.monotonic() - started,
            not_taken=len(watch.not_taken),
            latencies=latencies(asked, first, watch),
            hits=storm.hits,
            first=first,
            letters=first_look.letters.total(),
            exhausted=first_look.exhausted,
            cases=len(first_look.documents.get(CASES, {})),
            second=second,
            done=done,
        )


async def _ask(load: Load, storm: Storm, until: float, total: int, console: Console) -> None:
    """Ask all questions while the faults are on."""
    with Progress(
        TextColumn("asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as progress:
        bar = progress.add_task("asking", total=total)
        blowing = asyncio.create_task(storm.run())
        try:
            await load.run(until, lambda: progress.advance(bar))
        finally:
            blowing.cancel()
            with suppress(asyncio.CancelledError):
                await blowing


async def _look(
    settling: Awaitable[bool], places: Places, watch: Watch, faults: Faults, console: Console
) -> Outside:
    """What is visible after all work has ended."""
    with console.status("waiting until nothing is under way"):
        at_rest = await settling
    outside = await asyncio.to_thread(
        look, Client(project=PROJECT), places, list(watch.of_the_bot()), set(watch.not_taken)
    )
    return replace(outside, settled=at_rest, refused=faults.hits.get("chat-refused", 0) > 0)
