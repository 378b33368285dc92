"""Ingesting: a question is recorded, shown and published before Chat is told that it was heard."""

import json
from typing import Any

import pytest

from ingest_fn.door import Door
from ingest_fn.ingest import Services
from ingest_fn.services import open_services
from ingest_fn.settings import Settings
from local.stand_ins.tokens import Signer
from shared.chat.message import message_id
from shared.language.catalogue import text
from shared.memory.conversations import COLLECTION
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from tests.conftest import SmallCloud
from tests.support import remembering
from tests.support.factories import SPACE, ending
from tests.support.loopback import http

AUDIENCE = "https://example.com/ingest"


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    settings = Settings(
        chat_endpoint=small_cloud.places.url,
        chat_audience=AUDIENCE,
        chat_certs_url=f"{small_cloud.places.url}/certs",
        questions_per_minute=100_000,
    )
    return open_services(settings)


@pytest.fixture(scope="module")
def door(services: Services) -> Door:
    return Door(lambda: services, 25, "dead-letters")


@pytest.fixture(scope="module")
def hasty(services: Services) -> Door:
    """A door with too little time to try anything often."""
    return Door(lambda: services, 0.5, "dead-letters")


@pytest.fixture
def proof(small_cloud: SmallCloud) -> dict[str, str]:
    """The headers of a request that comes from Chat."""
    return {"Authorization": f"Bearer {small_cloud.cloud.signer.mint(audience=AUDIENCE)}"}


_numbers = iter(range(10_000))


def event(words: str = "How do I configure the VPN?", *, thread: str | None = None) -> dict[str, Any]:
    """What Chat sends when a person mentions the bot in a space."""
    own = f"E{next(_numbers)}"
    thread = thread or own
    user = {"name": "users/1001", "type": "HUMAN"}
    return {
        "type": "MESSAGE",
        "user": user,
        "space": {"name": SPACE, "spaceType": "SPACE"},
        "message": {
            "name": f"{SPACE}/messages/{thread}.{own}",
            "sender": user,
            "text": f"@threadwise {words}",
            "argumentText": f" {words}",
            "thread": {"name": f"{SPACE}/threads/{thread}"},
        },
        "common": {"userLocale": "en"},
    }


def body(given: dict[str, Any]) -> bytes:
    return json.dumps(given).encode()


def test_the_question_is_published_before_chat_is_answered(
    door: Door, proof: dict[str, str], inbox: Any
) -> None:
    questions = inbox("questions")
    given = event()

    assert door.receive(proof, body(given)) == ({}, 200)

    [published] = questions.messages()
    question = Envelope.from_bytes(published.data).question
    assert question.id == given["message"]["name"]
    assert question.text == "How do I configure the VPN?"


def test_a_question_that_cannot_be_published_is_sent_again_by_chat(
    hasty: Door, proof: dict[str, str], faults: Any
) -> None:
    faults.switch_on("pubsub-down")

    assert hasty.receive(proof, body(event()))[1] == 503


def test_an_event_sent_twice_has_the_same_id_on_its_topic(
    door: Door, proof: dict[str, str], inbox: Any
) -> None:
    questions = inbox("questions")
    given = body(event())
    door.receive(proof, given)
    door.receive(proof, given)

    first, second = questions.messages(2)
    assert first.attributes["ce-id"] == second.attributes["ce-id"]


@pytest.mark.parametrize(("number", "goes_on"), [(0, True), (1, False)])
def test_an_event_sent_again_after_an_apology_goes_on_unless_the_question_was_asked_again_since(
    door: Door, proof: dict[str, str], inbox: Any, firestore: Any, number: int, goes_on: bool
) -> None:
    questions, given = inbox("questions"), body(event())
    door.receive(proof, given)
    asked = Envelope.from_bytes(questions.messages()[0].data).question
    remembering.end(firestore, asked, ending("apology", "Sorry.", answer_number=number))

    door.receive(proof, given)

    assert bool(questions.waiting()) == goes_on


def test_the_history_comes_along_without_the_question_itself(
    door: Door, proof: dict[str, str], inbox: Any
) -> None:
    questions = inbox("questions")
    first = event("how do I set up VPN")
    thread = first["message"]["thread"]["name"].split("/")[-1]
    door.receive(proof, body(first))
    door.receive(proof, body(event("on a Mac", thread=thread)))

    earlier, later = (Envelope.from_bytes(message.data) for message in questions.messages(2))
    assert earlier.history == ()
    assert [turn.text for turn in later.history] == ["how do I set up VPN"]


def test_the_progress_card_is_in_the_thread(
    door: Door, proof: dict[str, str], small_cloud: SmallCloud, asked: Question
) -> None:
    given = event()
    given["message"].update(name=asked.id, thread={"name": asked.thread})
    door.receive(proof, body(given))

    name = f"{SPACE}/messages/{message_id(asked.id)}"
    card = http.get(f"{small_cloud.places.url}/v1/{name}").json()
    assert card["thread"]["name"] == asked.thread
    query = text("en", "progress", "searching_for", query="How do I configure the VPN?")
    assert query in str(card["cardsV2"])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["firestore-down", "chat-down", "chat-hang", "chat-throttled"])
def test_what_is_down_beside_it_does_not_stop_a_question(
    door: Door, proof: dict[str, str], faults: Any, inbox: Any, fault: str
) -> None:
    questions = inbox("questions")
    faults.switch_on(fault)

    assert door.receive(proof, body(event())) == ({}, 200)
    assert len(questions.messages()) == 1


def test_the_question_is_recorded_as_pending(door: Door, proof: dict[str, str], firestore: Any) -> None:
    given = event()
    door.receive(proof, body(given))

    name = document_id(given["message"]["thread"]["name"])
    recorded = firestore.collection(COLLECTION).document(name).get().to_dict()
    assert [entry["question_id"] for entry in recorded["pending"]] == [given["message"]["name"]]


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer x.y.z"}])
def test_without_proof_nothing_is_taken(door: Door, inbox: Any, header: dict[str, str]) -> None:
    questions = inbox("questions")

    assert door.receive(header, body(event()))[1] == 401
    assert questions.is_empty()


def test_a_token_for_another_app_is_no_proof(door: Door, small_cloud: SmallCloud) -> None:
    for token in (small_cloud.cloud.signer.mint(audience="https://other"), Signer().mint(audience=AUDIENCE)):
        assert door.receive({"Authorization": f"Bearer {token}"}, body(event()))[1] == 401


def test_a_mention_without_words_gets_help_and_no_question(
    door: Door, proof: dict[str, str], inbox: Any, small_cloud: SmallCloud
) -> None:
    questions = inbox("questions")
    given = event(" ")

    assert door.receive(proof, body(given)) == ({}, 200)

    name = f"{SPACE}/messages/{message_id(given['message']['name'])}"
    said = http.get(f"{small_cloud.places.url}/v1/{name}").json()
    assert said["text"] == text("en", "help", "mention")
    assert questions.is_empty()


def test_an_event_that_cannot_be_understood_is_kept(door: Door, proof: dict[str, str], inbox: Any) -> None:
    dead_letters = inbox("dead-letters")

    assert door.receive(proof, b'{"chat": {"new": "shape"}, "token": "s3cret"}') == ({}, 200)

    [kept] = dead_letters.messages()
    assert json.loads(kept.data) == {"chat": {"new": "shape"}}
    assert kept.attributes["dead-letter-reason"] == "event_unknown"
    assert kept.attributes["dead-letter-step"] == "ingest"


def test_an_event_that_cannot_be_kept_is_sent_again_by_chat(
    hasty: Door, proof: dict[str, str], faults: Any
) -> None:
    faults.switch_on("pubsub-down")

    assert hasty.receive(proof, b"{}")[1] == 503


def test_the_trace_of_the_request_goes_on(door: Door, proof: dict[str, str], inbox: Any) -> None:
    questions = inbox("questions")
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    door.receive({**proof, "Traceparent": trace}, body(event()))
    door.receive({**proof, "Traceparent": "nonsense"}, body(event()))

    given, made = (Envelope.from_bytes(message.data).trace for message in questions.messages(2))
    assert given == trace
    assert made.startswith("00-") and len(made) == 55


def test_an_event_that_was_cut_off_on_the_way_comes_again_and_is_no_dead_letter(
    door: Door, proof: dict[str, str], inbox: Any
) -> None:
    letters = inbox("dead-letters")
    body = json.dumps(event()).encode()

    answer = door.receive({**proof, "Content-Length": str(len(body))}, body[:60])

    assert answer[1] == 503
    assert letters.is_empty()
