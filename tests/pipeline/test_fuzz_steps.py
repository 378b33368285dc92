"""Odd input into the four doors on the stand-ins: what is acknowledged is on a topic, kept, or was answered.

The ledgers are compared at the end: one message too few on a topic, and something was lost.
"""

import base64
import json
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from ingest_fn.door import Door
from ingest_fn.services import open_services as open_ingest
from ingest_fn.settings import Settings as IngestSettings
from shared.chat.events import Asked, understand
from shared.chat.letters import letter_from_push
from shared.chat.payloads import storable
from shared.memory.cases import COLLECTION
from shared.memory.failures import Failures
from shared.messages.envelope import Envelope
from shared.messages.step import Step
from shared.runtime.errors import Permanent
from shared.runtime.outbox import Outbox
from tests.conftest import Inbox, SmallCloud
from tests.support.factories import SPACE, context, envelope, push
from tests.support.fuzzing import (
    ENVELOPES,
    EVENTS,
    QUESTION,
    as_json,
    changed_bytes,
    fuzzed,
    headers,
    odd_json,
    odd_text,
)

AUDIENCE = "https://example.com/ingest"
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Services:
    """What a step without work of its own needs; nothing fails after opening, so nothing is shown."""

    outbox: Outbox
    failures: Failures
    display: Any = None


def drained(inbox: Inbox) -> Counter[bytes]:
    """The data of all that waits, each acknowledged."""
    found = Counter[bytes]()
    while True:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            request = {"subscription": inbox.path, "max_messages": 200, "return_immediately": True}
            answer = inbox.client.pull(request=request, timeout=5)
        if not answer.received_messages:
            return found
        found.update(received.message.data for received in answer.received_messages)
        ids = [received.ack_id for received in answer.received_messages]
        inbox.client.acknowledge(subscription=inbox.path, ack_ids=ids)


def is_newer(body: bytes) -> bool:
    """Whether an envelope says that it is of a version to come."""
    version = json.loads(body)["version"]
    return isinstance(version, int) and version > 1


def test_a_push_is_acknowledged_only_when_it_is_passed_on_or_parked(
    outbox: Outbox, firestore: Any, inbox: Callable[[str], Inbox]
) -> None:
    queries, dead_letters = inbox("queries"), inbox("dead-letters")
    step = Step(
        name="retrieve",
        stage="searching",
        seconds=30,
        services=lambda: Services(outbox, Failures(firestore)),
        work=lambda sent, services, deadline: sent,
        dead_letter_topic="dead-letters",
        publishes_to="queries",
    )
    acknowledged = Counter[bytes]()

    @fuzzed(2, given=headers(), body=changed_bytes(*ENVELOPES))
    def receive(given: dict[str, str], body: bytes) -> None:
        reply = step.receive(given, body)

        assert reply == ("", 204) or (reply == ("", 503) and is_newer(body))
        acknowledged[body] += reply == ("", 204)

    receive()
    parked, passed_on = drained(dead_letters), drained(queries)
    assert parked <= acknowledged
    rest = (acknowledged - parked).elements()
    assert passed_on == Counter(Envelope.from_bytes(body).to_bytes() for body in rest)


@pytest.fixture(scope="module")
def door(small_cloud: SmallCloud) -> Door:
    settings = IngestSettings(
        chat_endpoint=small_cloud.places.url,
        chat_audience=AUDIENCE,
        chat_certs_url=f"{small_cloud.places.url}/certs",
        questions_per_minute=100_000,
        longest_question=32_000,
    )
    services = open_ingest(settings)
    return Door(lambda: services, 25, "dead-letters")


def in_our_space(golden: dict[str, Any]) -> dict[str, Any]:
    """The same in a space that the stand-in knows."""
    text = json.dumps(golden)
    return dict(json.loads(text.replace("spaces/AAAA", SPACE).replace("spaces/DM1", SPACE)))


def in_a_space_that_is_forgotten(golden: dict[str, Any]) -> dict[str, Any]:
    """The same in a space and a direct message of which no other test needs anything to be remembered."""
    text = json.dumps(golden).replace("spaces/AAAA", "spaces/AAAAgroupab")
    return dict(json.loads(text.replace("spaces/DM1", "spaces/dmBenAAAAAE")))


def test_an_event_is_accepted_only_when_it_is_published_kept_or_needs_neither(
    door: Door, small_cloud: SmallCloud, inbox: Callable[[str], Inbox]
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    proof = {"Authorization": f"Bearer {small_cloud.cloud.signer.mint(audience=AUDIENCE)}"}
    asked, kept = Counter[str](), Counter[bytes]()

    @fuzzed(0.5, body=changed_bytes(*map(in_a_space_that_is_forgotten, EVENTS)), trace=odd_text)
    def receive(body: bytes, trace: str) -> None:
        assert door.receive({**proof, "Traceparent": trace}, body) == ({}, 200)
        try:
            event = understand(body)
        except Permanent:
            kept[storable(body)] += 1
            return
        if isinstance(event, Asked):
            asked[event.question.id] += 1

    receive()
    published = drained(questions)
    assert Counter(Envelope.from_bytes(data).question.id for data in published.elements()) == asked
    assert drained(dead_letters) == kept


def part(value: Any) -> str:
    """One part of a token: base64 of JSON."""
    return base64.urlsafe_b64encode(as_json(value, 5_000)).rstrip(b"=").decode()


tokens = st.lists(odd_json.map(part) | odd_text, min_size=1, max_size=4).map(".".join)
schemes = st.sampled_from(["Bearer ", "bearer ", "Basic ", "", "Bearer"])


def test_no_odd_token_opens_the_door_or_breaks_it(door: Door, inbox: Callable[[str], Inbox]) -> None:
    questions = inbox("questions")

    @fuzzed(2, scheme=schemes, token=tokens)
    def receive(scheme: str, token: str) -> None:
        assert door.receive({"Authorization": scheme + token}, as_json(QUESTION))[1] == 401

    receive()
    assert questions.is_empty()


@pytest.fixture(scope="module")
def teller(small_cloud: SmallCloud) -> Teller:
    services = open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))
    return Teller(lambda: services)


def case_of(firestore: Any, given: dict[str, str], body: bytes) -> Any:
    """The document in which a dead letter is kept."""
    return firestore.collection(COLLECTION).document(letter_from_push(given, body).case_id)


def test_a_dead_letter_is_acknowledged_only_when_its_case_is_kept(teller: Teller, firestore: Any) -> None:
    @fuzzed(0.5, given=headers(), body=changed_bytes(*map(in_our_space, ENVELOPES)))
    def receive(given: dict[str, str], body: bytes) -> None:
        assert teller.receive(given, body) == ("", 204)
        assert case_of(firestore, given, body).get().exists

    receive()


@pytest.mark.parametrize("characters", [900_000, 1_100_000, 9_000_000])
def test_a_dead_letter_that_is_bigger_than_a_document_is_kept_too(
    teller: Teller, firestore: Any, characters: int
) -> None:
    given, body = push(envelope(contexts=(context(text="x" * characters),)))

    assert teller.receive(given, body) == ("", 204)
    assert case_of(firestore, given, body).get().exists


@pytest.mark.parametrize(
    "foreign", [{"copies": "many"}, {"copies": [1]}, {"message_ids": "1", "told": 3}, {"a.b": 1, "`": 2}, {}]
)
def test_a_foreign_case_does_not_make_a_dead_letter_come_again(
    teller: Teller, firestore: Any, foreign: dict[str, Any]
) -> None:
    given, body = push(envelope())
    case_of(firestore, given, body).set(foreign)

    assert teller.receive(given, body) == ("", 204)
    assert case_of(firestore, given, body).get().to_dict().get("data") == body
