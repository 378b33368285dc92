"""Measures whether questions that can never be answered slow down others (`python -m bench.poison`).

Asks blocks of questions, in turn with and without poison. In a poisoned block, the model refuses one question
in ten for good. Prints the 95th percentile of the time to an answer for both kinds of block, and their ratio.
Only answered questions count.
"""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated

import httpx
import typer

from chaos.watch import Watch, is_final, place_of
from local.places import Places, free_port
from local.runner.environment import isolate
from local.runner.stack import running
from local.stand_ins.faults import Faults

SPACES = ("spaces/AAAAhelpdesk", "spaces/AAAAsalestyo")
QUESTIONS = ("How do I configure the VPN?", "How do I reset my password?", "What is MFA?", "How do I print?")
POISONED = 0.1
PATIENCE = 60.0


async def ask(client: httpx.AsyncClient, watch: Watch, number: int) -> tuple[float, bool]:
    """Ask one question in its own thread. Returns the seconds to its end, and whether it was an answer."""
    text = QUESTIONS[number % len(QUESTIONS)]
    body = {"space": SPACES[number % 2], "text": text, "thread": None, "mention": True, "locale": "en"}
    started = time.monotonic()
    message = (await client.post("/page/messages", json={**body, "person": "users/1001"})).json()
    place = place_of(message)
    if not await watch.ended(place, 1, PATIENCE):
        raise RuntimeError(f"no end within {PATIENCE:.0f} s: {message['name']}")
    seconds = watch.ends(place)[0] - started
    said = next(each for each in watch.of_the_bot() if place_of(each) == place and is_final(each))
    return seconds, "TW-" not in said["text"]


async def block(url: str, watch: Watch, questions: int, rate: float) -> list[tuple[float, bool]]:
    """Ask a block of questions at a steady rate (questions a second)."""
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=limits) as client:
        tasks = []
        for number in range(questions):
            tasks.append(asyncio.create_task(ask(client, watch, number)))
            await asyncio.sleep(1 / rate)
        return list(await asyncio.gather(*tasks))


async def measure(blocks: int, questions: int, rate: float) -> None:
    """Run clean and poisoned blocks in turn, and print the results."""
    seconds: dict[str, list[float]] = {"clean": [], "poisoned": []}
    refused = 0
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        places, faults = Places(state=None, logs=Path(folder), http=free_port()), Faults()
        async with running(places, faults=faults, quotas=False):
            watch = Watch(places.url)
            following = asyncio.create_task(watch.follow())
            await block(places.url, watch, 20, rate)  # warm
            for kind in ("clean", "poisoned") * blocks:
                if kind == "poisoned":
                    faults.switch_on("gemini-blocked", share=POISONED)
                outcome = await block(places.url, watch, questions, rate)
                faults.switch_off()
                seconds[kind] += [took for took, answered in outcome if answered]
                refused += sum(not answered for _, answered in outcome)
            following.cancel()
    p95 = {kind: statistics.quantiles(took, n=20)[-1] for kind, took in seconds.items()}
    for kind, took in seconds.items():
        print(
            f"{kind:9} {len(took):5} answered   p50 {statistics.median(took):.2f} s   p95 {p95[kind]:.2f} s"
        )
    print(f"refused for good: {refused}   ratio of p95: {p95['poisoned'] / p95['clean']:.2f}")


def main(
    blocks: Annotated[int, typer.Option(min=1, max=20, help="Blocks of each kind.")] = 4,
    questions: Annotated[int, typer.Option(min=20, max=500, help="Questions in a block.")] = 60,
    rate: Annotated[float, typer.Option(min=1, max=30, help="Questions a second.")] = 6,
) -> None:
    """Measure how much poisoned questions slow down the others."""
    isolate(os.environ)
    asyncio.run(measure(blocks, questions, rate))


if __name__ == "__main__":
    typer.run(main)
