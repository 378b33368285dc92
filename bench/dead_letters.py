"""Measures the operators' commands with many dead letters (`python -m bench.dead_letters`).

Dead letters with a few causes wait in the backup subscription of the local cloud. `dead reconcile` drains it.
Then the other commands work on the cases, each in its own process. Prints the seconds of each command,
including the start of its process, and its CPU seconds. The rest is waiting, also for a busy machine.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from google.cloud.firestore import Client
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

from local.places import HOST, PROJECT, Places, free_port
from local.runner.cloud import Cloud
from local.runner.connect import connect_topics, topic_path
from local.runner.environment import isolate
from local.stand_ins.faults import Faults
from shared.memory.failures import Failures
from shared.messages.envelope import Context, Envelope, Question
from shared.pipeline import pipeline
from shared.runtime.cloudevent import message
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient

SPACE = "spaces/AAAAhelpdesk"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PASSAGE = "Install the StarGate client from the App Catalogue. Open it and sign in with your account. " * 10
TROUBLE = Transient("gemini_unavailable", "503 ServerError")
#: One in this many was forwarded by Pub/Sub. It names no step, because none of our code parked it.
FORWARDED = 4


def commands() -> tuple[tuple[str, ...], ...]:
    """The commands that are timed, in order."""
    steps = pipeline().steps
    return (
        ("dead", "reconcile"),
        ("dead", "reconcile"),
        ("dead", "list"),
        ("dead", "list", "--step", steps[-1].name, "--error", "503", "--json", "--limit", "10000"),
        ("dead", "groups"),
        ("dead", "archive", "--step", steps[-2].name, "--yes"),
    )


def envelope(number: int) -> Envelope:
    """An envelope of the usual size of those that fail in `answer`."""
    thread = f"{SPACE}/threads/{uuid.uuid4().hex[:11]}"
    question = Question(
        id=thread.replace("threads", "messages") + f".{number}",
        conversation=thread,
        space=SPACE,
        thread=thread,
        person="users/1001",
        text="How do I configure the VPN?",
        language="en",
        asked_at=datetime.now(UTC),
    )
    contexts = tuple(
        Context(id=f"c{each}", title="VPN", text=PASSAGE, uri=f"gs://kb/{each}.md", distance=0.4)
        for each in range(3)
    )
    return Envelope(trace=TRACE, question=question, search_query=question.text, contexts=contexts)


def publish(letters: int) -> None:
    """Publish the dead letters. A few percent of them have a failure record."""
    publisher, failures = PublisherClient(), Failures(Client(project=PROJECT))
    takers = list(pipeline().takers.items())
    sent = []
    for number in range(letters):
        sender, taker = takers[number % len(takers)]
        made = envelope(number)
        data = made.to_bytes()
        event = message(data, question_id=made.question.id, step=sender, trace=made.trace)
        marks = {"dead-letter-step": taker.name, "dead-letter-reason": "gemini_blocked"}
        attributes = event.attributes if number % FORWARDED == 0 else {**event.attributes, **marks}
        sent.append(publisher.publish(topic_path(pipeline().dead_letters), data, **attributes))
        if number % 40 == 0:
            failures.record(made.question.id, taker.name, TROUBLE, [], Deadline(10))
    for future in sent:
        future.result(60)


def subscribe() -> None:
    """Make the backup subscription, and no `tell` beside it."""
    with SubscriberClient() as subscriber:
        subscriber.create_subscription(
            name=subscriber.subscription_path(PROJECT, pipeline().dead_letters_backup),
            topic=topic_path(pipeline().dead_letters),
            ack_deadline_seconds=60,
        )


def timed(command: tuple[str, ...]) -> tuple[float, float, str]:
    """Run a command of `python -m ops`: its seconds, those it computed, and the last thing it said."""
    started, computed = time.monotonic(), _computed()
    line = [sys.executable, "-m", "ops", *command]
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    said = (run.stderr or run.stdout).strip().splitlines()[-1]
    return time.monotonic() - started, _computed() - computed, said


def _computed() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measure(letters: int) -> None:
    """Fill the backup, run the commands, and print what each took."""
    with tempfile.TemporaryDirectory(prefix="threadwise-bench-") as folder:
        places = Places(state=Path(folder), logs=Path(folder), http=free_port())
        os.environ["PUBSUB_EMULATOR_HOST"] = f"{HOST}:{places.pubsub}"
        os.environ["FIRESTORE_EMULATOR_HOST"] = f"{HOST}:{places.firestore}"
        os.environ["GOOGLE_CLOUD_PROJECT"] = PROJECT
        cloud = Cloud(places, Faults(), quotas=False)
        await cloud.start()
        try:
            await asyncio.to_thread(connect_topics, places)
            await asyncio.to_thread(subscribe)
            await asyncio.to_thread(publish, letters)
            for command in commands():
                seconds, computed, said = await asyncio.to_thread(timed, command)
                print(f"{seconds:6.1f} s ({computed:4.1f} s)  {' '.join(command)}: {said}", flush=True)
        finally:
            await cloud.stop()


def main(letters: Annotated[int, typer.Option(min=1, max=50_000, help="Dead letters.")] = 10_000) -> None:
    """Measure the operators' commands with many dead letters."""
    isolate(os.environ)
    asyncio.run(measure(letters))


if __name__ == "__main__":
    typer.run(main)
