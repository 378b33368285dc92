"""Chat's events as dead letters: parked by `ingest_fn`, or given up by Pub/Sub; told, and replayed."""

import json
from typing import Any

import pytest

from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from local.places import PROJECT
from ops.audit import new_operation
from ops.case import Case
from ops.errors import OpsError
from ops.replay import Order, Outcome, replay
from ops.resend import resend
from ops.settings import Settings
from ops.world import World
from shared.chat.events import question_of
from shared.chat.letters import letter_from_push
from shared.chat.message import message_id
from shared.chat.payloads import storable
from shared.language.catalogue import text
from shared.memory.cases import COLLECTION
from shared.memory.failures import Failures
from shared.messages.dead_letter import reference, unknown_id
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.pipeline import pipeline
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.conftest import SmallCloud
from tests.support.golden_events import SHAPES, as_bytes, golden
from tests.support.ingest_side import Ingest, anew

pytest_plugins = ["tests.support.event_fixtures"]


UNKNOWN = {"chat": {"newPayload": {"space": {"name": "spaces/AAAA"}}}, "token": "s3cret"}


@pytest.fixture(scope="module")
def teller(small_cloud: SmallCloud) -> Teller:
    services = open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))
    return Teller(lambda: services)


@pytest.fixture(params=SHAPES)
def event(request: pytest.FixtureRequest) -> dict[str, Any]:
    return anew(golden(f"{request.param}-message-in-space"))


def asked(event: dict[str, Any]) -> Question:
    found = question_of(as_bytes(event))
    assert found is not None
    return found


def parked(event: dict[str, Any], number: int = 1, **attributes: str) -> tuple[dict[str, str], bytes]:
    """An event as ingest parks it, as it is pushed to `tell`."""
    ours = {"Dead-Letter-Step": "ingest", "Dead-Letter-Reason": "pubsub_refused"}
    metadata = {"Content-Type": "application/json", "X-Goog-Pubsub-Message-Id": str(number)}
    return {**ours, **metadata, **attributes}, storable(as_bytes(event))


def forwarded(event: dict[str, Any], number: int = 1) -> tuple[dict[str, str], bytes]:
    """An event as Pub/Sub forwards it: it was Chat's own message, which has no attributes."""
    theirs = {
        "Cloudpubsubdeadlettersourcesubscription": "prod-chat-events-push",
        "Cloudpubsubdeadlettersourcedeliverycount": "5",
        "X-Goog-Pubsub-Message-Id": str(number),
    }
    return theirs, as_bytes({**event, "authorizationEventObject": {"userIdToken": "s3cret"}})


def case_of(firestore: Any, question_id: str) -> Case:
    document = firestore.collection(COLLECTION).document(document_id(question_id)).get()
    return Case.read(document.id, document.to_dict())


@pytest.mark.parametrize("letter", [parked, forwarded])
def test_an_event_s_asker_is_told_where_they_asked(
    teller: Teller, ingest: Ingest, event: dict[str, Any], letter: Any
) -> None:
    question = asked(event)

    assert teller.receive(*letter(event)) == ("", 204)

    said = ingest.read(f"{question.space}/messages/{message_id(question.id)}")
    assert said is not None
    assert said["text"] == text("ja", "apology", "text", reference=reference(question.id))


@pytest.mark.parametrize("letter", [parked, forwarded])
def test_an_event_s_case_names_chat_as_the_sender_and_ingest_as_the_step_and_holds_no_token(
    teller: Teller, firestore: Any, event: dict[str, Any], letter: Any
) -> None:
    question = asked(event)

    teller.receive(*letter(event))

    case = case_of(firestore, question.id)
    assert (case.sender, case.step) == ("chat", "ingest")
    assert case.data == storable(as_bytes(event))
    stored = firestore.collection(COLLECTION).document(case.id).get().to_dict()
    assert stored["conversation"] == question.conversation


def test_why_pub_sub_gave_up_on_an_event_is_in_its_case(
    teller: Teller, firestore: Any, event: dict[str, Any]
) -> None:
    trouble = Transient("pubsub_unavailable", "503 ServiceUnavailable")
    Failures(firestore).record(asked(event).id, "ingest", trouble, [], Deadline(5))

    teller.receive(*forwarded(event))

    assert case_of(firestore, asked(event).id).reason == "pubsub_unavailable"


@pytest.mark.parametrize("name", ["mention-alone", "slash-forget", "removed-from-space", "clicked"])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_event_without_a_question_is_kept_and_nobody_is_told(
    teller: Teller, ingest: Ingest, firestore: Any, shape: str, name: str
) -> None:
    event = anew(golden(f"{shape}-{name}"))
    before = len(ingest.of_the_bot())

    assert teller.receive(*forwarded(event)) == ("", 204)

    case = case_of(firestore, unknown_id(storable(as_bytes(event))))
    assert (case.sender, case.step, case.told) == ("chat", "ingest", False)
    assert len(ingest.of_the_bot()) == before


def test_an_unknown_event_that_pub_sub_gave_up_on_is_kept_without_tokens(
    teller: Teller, firestore: Any
) -> None:
    teller.receive(*forwarded(UNKNOWN))

    case = case_of(firestore, unknown_id(storable(as_bytes(UNKNOWN))))
    assert case.sender == "chat"
    assert b"s3cret" not in case.data


def test_a_letter_that_is_no_event_has_no_sender() -> None:
    letter = letter_from_push({}, b'{"hello": "world"}')

    assert (letter.sender, letter.step, letter.from_chat) == (None, None, False)


def test_a_question_of_ours_is_no_event(event: dict[str, Any]) -> None:
    sent = Envelope(trace="00-1-1-01", question=asked(event))
    letter = letter_from_push({"Ce-Source": "//threadwise/ingest"}, sent.to_bytes())

    assert (letter.sender, letter.step, letter.from_chat) == ("ingest", "reformulate", False)


def test_a_replay_of_an_event_goes_to_the_topic_of_events() -> None:
    event = storable(as_bytes(golden("add-on-message-in-space")))
    case = Case(id="x", sender="chat", data=event, attributes={"content-type": "application/json"})

    again = resend(case, 2, "after-the-fix")

    assert again.topic == pipeline().chat_events
    assert again.message.data == event
    assert again.message.attributes["replay-count"] == "2"
    with pytest.raises(OpsError, match="it died in ingest"):
        resend(case, 2, "after-the-fix", restart="answer")


def test_a_replayed_event_becomes_the_question_it_was(
    teller: Teller, ingest: Ingest, firestore: Any, inbox: Any, event: dict[str, Any]
) -> None:
    events, questions = inbox(pipeline().chat_events), inbox("questions")
    teller.receive(*parked(event))
    order = Order(new_operation("replay", "me"), even_stale=True)

    result = replay(document_id(asked(event).id), order, World(Settings(google_cloud_project=PROJECT)))

    assert result.outcome == Outcome.REPLAYED
    [sent] = events.messages()
    attributes = {name.replace("-", "_"): value for name, value in sent.attributes.items()}
    assert ingest.over_pubsub(sent.data, **attributes) == ({}, 200)
    [published] = questions.messages()
    assert Envelope.from_bytes(published.data).question == asked(event)
    assert published.attributes["replay-count"] == "1"


def test_a_replayed_event_that_is_still_not_understood_opens_its_case_again(
    teller: Teller, ingest: Ingest, firestore: Any, inbox: Any
) -> None:
    letters = inbox("dead-letters")
    event = {**UNKNOWN, "number": id(letters)}
    headers, body = parked(event)
    teller.receive(headers, body)
    case_id = unknown_id(body)
    world = World(Settings(google_cloud_project=PROJECT))
    events = inbox(pipeline().chat_events)
    replay(case_id, Order(new_operation("replay", "me"), even_stale=True), world)
    [sent] = events.messages()

    ingest.over_pubsub(
        sent.data, **{name.replace("-", "_"): value for name, value in sent.attributes.items()}
    )
    [back] = letters.messages()
    teller.receive({**back.attributes, "X-Goog-Pubsub-Message-Id": back.message_id}, back.data)

    case = case_of(firestore, case_id)
    assert (case.state, case.replays, case.returned) == ("open", 1, 1)
    assert json.loads(case.data)["number"] == event["number"]
