"""The same commands on Google's emulators: from the backup to a replay that is killed and run again."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import Client
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

from local.runner.emulators import emulator, missing
from shared.memory.failures import Failures
from shared.messages.dead_letter import DeadLetter
from shared.pipeline import pipeline
from shared.runtime.deadline import Deadline
from tests.support.operating import TROUBLE, Desk, answer, finished, letter, started

pytestmark = [
    pytest.mark.slow,
    pytest.mark.emulator,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        bool(missing("pubsub") or missing("firestore")), reason="no emulators of Pub/Sub and Firestore"
    ),
]
PROJECT, LETTERS, CANARY = "ops-emulators", 30, 5


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """Both emulators, with the topics and the backup; environment variables point the commands at them."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBSUB_EMULATOR_HOST", stack.enter_context(emulator("pubsub")))
        environment.setenv("FIRESTORE_EMULATOR_HOST", stack.enter_context(emulator("firestore")))
        environment.setenv("GOOGLE_CLOUD_PROJECT", PROJECT)
        publisher, subscriber = PublisherClient(), SubscriberClient()
        for topic in pipeline().topics:
            publisher.create_topic(name=publisher.topic_path(PROJECT, topic))
        letters = (pipeline().dead_letters_backup, pipeline().dead_letters)
        for name, topic in (letters, ("findings-taken", "findings")):
            path = subscriber.subscription_path(PROJECT, name)
            subscriber.create_subscription(
                name=path, topic=publisher.topic_path(PROJECT, topic), ack_deadline_seconds=10
            )
        client = Client(project=PROJECT, credentials=AnonymousCredentials())
        client.collection("warm").document("up").set({}, timeout=60)  # its first write takes seconds
        yield Desk(client)


def publish(letters: list[DeadLetter]) -> None:
    """As dead letters; a message that a step has parked says so."""
    publisher = PublisherClient()
    for each in letters:
        marks = {"dead-letter-step": "answer", "dead-letter-reason": each.reason} if each.reason else {}
        topic = publisher.topic_path(PROJECT, pipeline().dead_letters)
        publisher.publish(topic, each.data, **{**each.attributes, **marks}).result(10)


def answering(desk: Desk, kept: list[DeadLetter], taken: "Counter[bytes]", over: threading.Event) -> None:
    """What `answer` does with what is replayed, as far as the commands see it."""
    by_data, client = {each.data: each for each in kept}, SubscriberClient()
    path = client.subscription_path(PROJECT, "findings-taken")
    while not over.is_set():
        request: Any = {"subscription": path, "max_messages": 10, "return_immediately": True}
        for each in client.pull(request=request, timeout=20).received_messages:
            taken[each.message.data] += 1
            answer(desk, by_data[each.message.data])
            client.acknowledge(subscription=path, ack_ids=[each.ack_id])
        over.wait(0.1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_dead_letter_is_answered_once_and_the_audit_is_complete(desk: Desk) -> None:
    parked, forwarded = (
        [letter(parked="gemini_blocked") for _ in range(LETTERS - 10)],
        [letter() for _ in range(10)],
    )
    kept, taken, over = parked + forwarded, Counter[bytes](), threading.Event()
    for each in forwarded:
        Failures(desk.firestore).record(each.question_id, "answer", TROUBLE, [], Deadline(10))
    publish(kept)

    drained = finished(started("dead", "reconcile"))
    assert f"{LETTERS} read, {LETTERS} newly stored, 0 left" in drained.err
    groups = finished(started("dead", "groups", "--json")).json
    assert [(each["count"], each["reason"]) for each in groups] == [
        (20, "gemini_blocked"),
        (10, "gemini_unavailable"),
    ]

    answers = threading.Thread(target=answering, args=(desk, kept, taken, over))
    answers.start()
    try:
        replay = ("dead", "replay", "--all", "--yes", "--json", "--rate")
        canary = finished(started(*replay, "10", "--limit", str(CANARY)))
        assert [each["end"] for each in canary.json["messages"]] == ["answered"] * CANARY

        killed = started(*replay, "5", "--wait", "0")
        while sum(desk.case(each)["replays"] for each in kept) < LETTERS // 2:
            time.sleep(0.1)
        killed.kill()
        finished(killed)
        again = finished(started(*replay, "10"), seconds=120)
    finally:
        over.set()
        answers.join(30)

    assert again.code == 0, again.err
    assert all(desk.case(each)["answered_at"] for each in kept)
    assert set(taken) == {each.data for each in kept}
    assert taken.total() <= LETTERS + 1  # the one that was being sent when it was killed
    assert finished(started("dead", "list", "--json")).json == []
    reconciling, first, cut, last = desk.audited()
    assert (reconciling["counts"]["stored"], cut["finished_at"]) == (LETTERS, None)
    audited = {entry["question_id"] for each in (first, cut, last) for entry in each["messages"]}
    assert audited == {each.question_id for each in kept}
