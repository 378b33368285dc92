"""Counts the calls of each service for a question (`python -m bench.calls`).

Asks questions on the local cloud, each with one follow-up. Counts the calls to each service, and the tokens
in the logs of the functions. Prints the means for a first question and for a follow-up. The costs in
docs/deploy.md are computed from these means.
"""

import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from local.places import Places, free_port
from local.runner.cloud import Cloud
from local.runner.environment import isolate
from local.runner.stack import running
from local.stand_ins.faults import Faults

SPACE = "spaces/AAAAhelpdesk"
QUESTIONS = ("How do I configure the VPN?", "How do I reset my password?", "What is MFA?", "How do I print?")
FOLLOW_UP = "Can you explain that in more detail?"
#: Seconds to wait for one question.
PATIENCE = 60.0


async def ask(cloud: Cloud, text: str, thread: str | None) -> str:
    """Ask, wait until all work for the question is done, and return the thread."""
    asked = cloud.chat.post_as_person(SPACE, text, thread=thread, locale="en")
    deadline = time.monotonic() + PATIENCE
    quiet = 0
    while quiet < 5:  # the next step's message is published before the last one is acknowledged
        await asyncio.sleep(0.1)
        quiet = quiet + 1 if cloud.idle else 0
        if time.monotonic() > deadline:
            raise RuntimeError(f"{text!r} was not done within {PATIENCE:.0f} s")
    return str(asked["thread"]["name"])


def tokens(logs: Path) -> Counter[tuple[str, str]]:
    """The tokens in the logs so far, by (model, `input_tokens` or `output_tokens`)."""
    counted: Counter[tuple[str, str]] = Counter()
    for log in logs.glob("*.log"):
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith("{") and (entry := json.loads(line))["message"] == "Model asked":
                for kind in ("input_tokens", "output_tokens"):
                    counted[entry["model"], kind] += entry[kind]
    return counted


async def measure(logs: Path) -> dict[str, Counter[tuple[str, str]]]:
    """The calls and tokens of all first questions, and of all follow-ups."""
    places = Places(state=None, logs=logs, http=free_port())
    faults = Faults()
    counted: dict[str, Counter[tuple[str, str]]] = {"first question": Counter(), "follow-up": Counter()}
    async with running(places, faults=faults, quotas=False) as (cloud, _):
        await ask(cloud, QUESTIONS[0], None)  # the clients are made, tokens fetched
        for question in QUESTIONS:
            thread = None
            for kind, text in (("first question", question), ("follow-up", FOLLOW_UP)):
                before = faults.calls + tokens(logs)
                thread = await ask(cloud, text, thread)
                counted[kind] += (faults.calls + tokens(logs)) - before
    return counted


def main(
    logs: Annotated[Path | None, typer.Option(help="A folder to keep the functions' logs in.")] = None,
) -> None:
    """Count, and print one line for each service and method: a first question, a follow-up."""
    isolate(os.environ)
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        counted = asyncio.run(measure(logs or Path(folder)))
    first, follow_up = counted.values()
    rows: list[tuple[Any, ...]] = sorted(set(first) | set(follow_up))
    for key in rows:
        means = [part[key] / len(QUESTIONS) for part in (first, follow_up)]
        print(f"{key[0]:24} {key[1]:20} {means[0]:8.2f} {means[1]:8.2f}")


if __name__ == "__main__":
    typer.run(main)
