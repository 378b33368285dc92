"""Do all get an answer when many ask at once in one space? (`python -m bench.one_space`)

Chat takes one write a second there. Printed are how long people waited for the first and the last answer, how
many answers overtook another one that was ready before, and how many writes Chat refused for its quota.
"""

import asyncio
import json
import os
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import httpx
import typer

from bench.poison import QUESTIONS
from chaos.watch import Watch, place_of
from local.places import Places, free_port
from local.runner.environment import isolate
from local.runner.stack import running
from local.stand_ins.faults import Faults

SPACE = "spaces/AAAAhelpdesk"
PEOPLE = ("users/1001", "users/1002")
PATIENCE = 180.0


async def ask(client: httpx.AsyncClient, watch: Watch, number: int) -> float | None:
    """Ask one question in a thread of its own; the seconds to its end, None without any."""
    text = QUESTIONS[number % len(QUESTIONS)]
    body = {"space": SPACE, "text": text, "thread": None, "mention": True, "locale": "en"}
    started = time.monotonic()
    response = await client.post("/page/messages", json={**body, "person": PEOPLE[number % len(PEOPLE)]})
    place = place_of(response.raise_for_status().json())
    if not await watch.ended(place, 1, PATIENCE):
        return None
    return watch.ends(place)[0] - started


def order(log: str, message: str) -> list[str]:
    """The questions in the order in which a function said something of them."""
    lines = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    return [line["question"] for line in lines if line["message"] == message]


async def measure(people: int, *, quotas: bool) -> None:
    """Have all ask at once, and print what came of it."""
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        places = Places(state=None, logs=Path(folder), http=free_port())
        async with running(places, faults=Faults(), quotas=quotas) as (cloud, _):
            watch = Watch(places.url)
            following = asyncio.create_task(watch.follow())
            async with httpx.AsyncClient(base_url=places.url, trust_env=False, timeout=60) as client:
                await ask(client, watch, 0)  # warm
                refused = cloud.chat.quotas.refused if cloud.chat.quotas else 0
                ended = await asyncio.gather(*(ask(client, watch, number) for number in range(people)))
            following.cancel()
            while not cloud.idle:  # noqa: ASYNC110 - what follows an answer tells nobody that it is done
                await asyncio.sleep(0.1)
            if cloud.chat.quotas:
                refused = cloud.chat.quotas.refused - refused
            log = (Path(folder) / "answer.log").read_text()
            parked = log.count("Parked in the dead letters")
    waited = sorted(seconds for seconds in ended if seconds is not None)
    gaps = [after - before for before, after in pairwise(waited)]
    median = statistics.median
    overtook = sum(
        place != turn for place, turn in zip(order(log, "Ready"), order(log, "Posted"), strict=True)
    )
    print(f"asked at once: {people}   answered: {len(waited)}   parked: {parked}   refused (429): {refused}")
    print(f"waited: first {waited[0]:.1f} s   p50 {median(waited):.1f} s   last {waited[-1]:.1f} s")
    print(f"not in the order in which they were ready: {overtook}")
    print(f"between two answers: p50 {median(gaps):.2f} s   longest {max(gaps):.2f} s")


def main(
    people: Annotated[int, typer.Option(min=2, max=100, help="How many ask at once.")] = 20,
    quotas: Annotated[bool, typer.Option(help="Enforce Chat's quota: a write a second in a space.")] = True,
) -> None:
    """Measure how long people wait when many ask at once in one space."""
    isolate(os.environ)
    asyncio.run(measure(people, quotas=quotas))


if __name__ == "__main__":
    typer.run(main)
