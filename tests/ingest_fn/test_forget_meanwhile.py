"""Forgetting while something is under way: it does not come back, and what is asked afterwards stays."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Services as TellServices
from answer_fn.tell import Teller
from local.places import PROJECT
from ops.audit import Audit
from ops.reconcile import reconcile
from ops.settings import Settings as OpsSettings
from ops.world import World
from shared.chat.message import message_id
from shared.language.catalogue import text
from shared.memory import cases, conversations
from shared.memory.forgotten import Forgotten
from shared.messages.envelope import Envelope
from shared.messages.names import document_id
from shared.runtime.cloudevent import message
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support import remembering
from tests.support.factories import envelope, push, question, turn
from tests.support.forgetting import KEPT_IN, asked_in, forget, new_thread
from tests.support.ingest_side import GROUP, Ingest

pytest_plugins = ["tests.support.event_fixtures", "tests.support.forget_fixtures"]


@pytest.fixture(scope="module")
def tell(small_cloud: SmallCloud) -> TellServices:
    return open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))


def test_a_turn_that_is_under_way_does_not_come_back(
    ingest: Ingest, remember: Any, firestore: Any, kept: Any, shape: str
) -> None:
    thread = new_thread()
    _, waiting, _ = remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))

    remembering.answer(firestore, waiting)

    assert kept(thread) == []


def test_what_is_asked_afterwards_is_remembered_again(
    ingest: Ingest, remember: Any, firestore: Any, shape: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))
    again = asked_in(thread, GROUP)

    before = remembering.wait_for(firestore, again)
    remembering.answer(firestore, again, "an answer")

    document = firestore.collection(conversations.COLLECTION).document(document_id(thread)).get().to_dict()
    assert before.history == ()
    assert [turn["text"] for turn in document["turns"]] == [again.text, "an answer"]


def test_a_dead_letter_that_is_under_way_is_not_kept_and_says_only_that(
    ingest: Ingest, remember: Any, kept: Any, tell: TellServices, shape: str
) -> None:
    thread = new_thread()
    _, waiting, _ = remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))
    headers, body = push(envelope(question=waiting))

    assert Teller(lambda: tell).receive(headers, body) == ("", 204)

    assert kept(thread) == []
    said = ingest.read(f"{GROUP}/messages/{message_id(waiting.id)}")
    assert said and said["text"] == text("en", "notice", "forgotten_question")


def test_a_question_of_afterwards_is_kept_without_what_was_forgotten(
    ingest: Ingest, firestore: Any, tell: TellServices, shape: str
) -> None:
    thread = new_thread()
    ingest.over_https(forget(shape, thread))
    asked = question(conversation=thread, space=GROUP, asked_at=datetime.now(UTC) + timedelta(seconds=5))
    before, after = turn("user", "What is my salary?"), turn("user", "Hello", timestamp=asked.asked_at)
    headers, body = push(envelope(question=asked, history=(before, after)))

    assert Teller(lambda: tell).receive(headers, body) == ("", 204)

    case = firestore.collection(cases.COLLECTION).document(document_id(asked.id)).get().to_dict()
    assert Envelope.from_bytes(case["data"]).history == (after,)


def test_the_operators_copy_of_a_dead_letter_does_not_bring_it_back(
    ingest: Ingest, remember: Any, kept: Any, small_cloud: SmallCloud, outbox: Any, shape: str, inbox: Any
) -> None:
    thread = new_thread()
    _, _, lost = remember(thread, GROUP)
    backup = inbox("dead-letters")
    sent = envelope(question=lost)
    letter = message(sent.to_bytes(), question_id=lost.id, step="ingest", trace=sent.trace)
    outbox.send("dead-letters", letter, Deadline(5))
    ingest.over_https(forget(shape, thread))

    settings = OpsSettings(google_cloud_project=PROJECT, dead_letter_backup=backup.path.split("/")[-1])
    done = reconcile(World(settings), lambda _: None)

    assert (done.read, done.stored, done.left) == (1, 0, [])
    assert kept(thread) == []


def test_when_chat_repeats_itself_what_was_asked_since_stays(
    ingest: Ingest, remember: Any, firestore: Any, kept: Any, shape: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread)
    ingest.over_https(event)
    since = remember(thread, GROUP, asked_at=datetime.now(UTC))

    ingest.over_https(event)

    assert kept(thread) == sorted(KEPT_IN)
    assert Forgotten(firestore).among(since, Deadline(5)) == set()
    [line] = [line for line in Audit(firestore).latest(1000) if line["selection"] == thread]
    assert line["counts"] == dict.fromkeys(KEPT_IN, 1)


def test_when_it_cannot_be_forgotten_nobody_is_told_that_it_was(
    small_cloud: SmallCloud, remember: Any, kept: Any, faults: Any, shape: str, transport: str
) -> None:
    ingest = Ingest(small_cloud)
    ingest.door.seconds = 2
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread)
    faults.switch_on("firestore-down")

    assert ingest.by(transport)(event)[1] == 503

    faults.switch_off()
    assert ingest.said(event) is None
    ingest.door.seconds = 25
    assert ingest.by(transport)(event) == ({}, 200)
    assert kept(thread) == []
