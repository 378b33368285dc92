"""One run: ask under fault, check, replay the dead letters without faults, check again."""

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from google.cloud.firestore import Client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from chaos.checker import check, check_replayed
from chaos.load import Load, latencies
from chaos.outside import Outside, look
from chaos.replay import replay
from chaos.report import Figures
from chaos.script import written
from chaos.storm import Storm
from chaos.watch import Watch
from local.cloud import Cloud
from local.faults import Faults
from local.places import HOST, PROJECT, Places, free_port
from local.stack import running

#: Seconds for everything under way to end once the faults are off: the longest step, and some backoff.
SETTLING = 240.0
#: Nothing may be under way for so long, in seconds: what was acknowledged may still be shown.
QUIET = 1.0


@dataclass(frozen=True)
class Plan:
    """How much is asked, the seed of it all, for how long at most, and whether Chat's quotas are on."""

    questions: int
    threads: int
    seed: int
    minutes: float
    quotas: bool


async def run(plan: Plan, folder: Path, console: Console) -> Figures:
    """Do it, with state and logs in `folder`. Raises PortTaken or FunctionFailed."""
    places = Places(state=folder / "state", logs=folder / "logs", http=free_port())
    (folder / "state").mkdir()
    os.environ["FIRESTORE_EMULATOR_HOST"] = f"{HOST}:{places.firestore}"
    faults = Faults(plan.seed)
    started = time.monotonic()
    async with running(places, faults=faults, quotas=plan.quotas) as (cloud, functions):
        watch = Watch(places.url)
        following = asyncio.create_task(watch.follow())
        storm = Storm(cloud, functions, faults, plan.seed)
        load = Load(places.url, watch, written(plan.questions, plan.threads, plan.seed))
        await _ask(load, storm, started + plan.minutes * 60, plan.questions, console)
        first_look = await _settled(cloud, places, watch, console)
        first = check(load.asked, first_look)
        await asyncio.to_thread(replay, list(first_look.cases.values()), places)
        second = check_replayed(load.asked, await _settled(cloud, places, watch, console), first)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        return Figures(
            seed=plan.seed,
            quotas=plan.quotas,
            asked=len(load.asked),
            seconds=time.monotonic() - started,
            not_taken=len(watch.not_taken),
            latencies=latencies(load.asked, watch),
            hits=storm.hits,
            first=first,
            letters=first_look.letters.total(),
            exhausted=first_look.exhausted,
            cases=len(first_look.cases),
            second=second,
        )


async def _ask(load: Load, storm: Storm, until: float, total: int, console: Console) -> None:
    """Ask everything while the storm blows."""
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


async def _settled(cloud: Cloud, places: Places, watch: Watch, console: Console) -> Outside:
    """What is to be seen once nothing is under way any more."""
    with console.status("waiting until nothing is under way"):
        settled = await _quiet(cloud)
    outside = await asyncio.to_thread(
        look, Client(project=PROJECT), places, list(watch.of_the_bot()), set(watch.not_taken)
    )
    return replace(outside, settled=settled)


async def _quiet(cloud: Cloud) -> bool:
    """Wait for quiet; False when it does not come."""
    until = time.monotonic() + SETTLING
    quiet_since = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(0.1)
        if not cloud.idle:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > QUIET:
            return True
    return False
