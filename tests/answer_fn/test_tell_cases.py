"""Dead letters: each question has one case, which holds what operators need."""

from typing import Any

import pytest

from answer_fn.answer import answer
from answer_fn.services import open_services as open_answer_services
from answer_fn.settings import Settings
from answer_fn.tell import Teller
from shared.memory.cases import COLLECTION
from shared.memory.failures import Failures
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.conftest import SmallCloud
from tests.support.factories import context, envelope, forwarded, parked

pytest_plugins = ["tests.support.tell_fixtures"]


def kept(firestore: Any) -> list[Any]:
    """The data of all cases. Other tests leave some without data."""
    return [(each.to_dict() or {}).get("data") for each in firestore.collection(COLLECTION).stream()]


def test_a_case_holds_what_a_replay_needs(teller: Teller, case: Any) -> None:
    sent = envelope()
    headers, body = parked(sent)

    teller.receive(headers, body)

    kept = case(sent.question)
    assert kept["data"] == body
    assert kept["attributes"]["ce-id"] == headers["Ce-Id"]
    assert not any(name.startswith(("dead-letter", "cloudpubsub")) for name in kept["attributes"])
    assert (kept["sender"], kept["step"], kept["reason"]) == ("reformulate", "retrieve", "rag_refused")
    assert kept["told"]


def test_what_pub_sub_forwards_gets_its_reason_from_the_failure_record(
    teller: Teller, case: Any, firestore: Any
) -> None:
    sent = envelope()
    trouble = Transient("rag_unavailable", "503 ServiceUnavailable")
    Failures(firestore).record(sent.question.id, "retrieve", trouble, [], Deadline(5))

    teller.receive(*forwarded(sent))

    kept = case(sent.question)
    assert (kept["step"], kept["reason"]) == ("retrieve", "rag_unavailable")
    assert kept["error"] == "rag_unavailable: 503 ServiceUnavailable"


def test_a_process_that_died_has_left_no_reason(teller: Teller, case: Any) -> None:
    sent = envelope()

    teller.receive(*forwarded(sent))

    assert case(sent.question)["reason"] == "no_failure_record"


def test_a_letter_that_comes_back_from_its_replay_opens_the_case_again(
    teller: Teller, case: Any, firestore: Any
) -> None:
    sent = envelope()
    teller.receive(*parked(sent, number=1))
    document = firestore.collection(COLLECTION).document(document_id(sent.question.id))
    document.update({"state": "replayed", "replays": 1})
    headers, body = parked(sent, number=2, step="answer")

    teller.receive({**headers, "Replay-Count": "1"}, body)

    kept = case(sent.question)
    assert (kept["state"], kept["returned"], kept["replays"], kept["step"]) == ("open", 1, 1, "answer")


def test_a_late_copy_of_what_was_replayed_is_only_counted(teller: Teller, case: Any, firestore: Any) -> None:
    sent = envelope()
    teller.receive(*parked(sent, number=1))
    document = firestore.collection(COLLECTION).document(document_id(sent.question.id))
    document.update({"state": "replayed", "replays": 1})

    teller.receive(*parked(sent, number=2, step="answer"))

    kept = case(sent.question)
    assert (kept["state"], kept["returned"], kept["copies"], kept["step"]) == ("replayed", 0, 2, "retrieve")


def test_an_archived_case_stays_archived_and_a_discarded_one_empty(
    teller: Teller, case: Any, firestore: Any
) -> None:
    archived, discarded = envelope(), envelope()
    for sent, fields in (
        (archived, {"state": "archived"}),
        (discarded, {"state": "discarded", "data": None}),
    ):
        teller.receive(*parked(sent, number=1))
        firestore.collection(COLLECTION).document(document_id(sent.question.id)).update(fields)
        teller.receive(*parked(sent, number=2))

    assert case(archived.question)["state"] == "archived"
    assert (case(discarded.question)["state"], case(discarded.question)["data"]) == ("discarded", None)


def test_a_case_tells_when_its_question_was_answered_after_all(
    teller: Teller, small_cloud: SmallCloud, asked: Question, case: Any
) -> None:
    teller.receive(*parked(envelope(question=asked)))
    assert case(asked)["answered_at"] is None

    answer_services = open_answer_services(Settings(chat_endpoint=small_cloud.places.url))
    found = (context(text="To configure the VPN, install the VPN client. Then configure the VPN profile."),)
    answer(envelope(question=asked, search_query="VPN", contexts=found), answer_services, Deadline(60))

    assert case(asked)["answered_at"] is not None


def test_a_case_counts_the_attempts_of_our_code_or_else_those_of_pub_sub(
    teller: Teller, case: Any, firestore: Any
) -> None:
    failed, killed = envelope(), envelope()
    for _ in range(3):
        trouble = Transient("rag_unavailable", "503 ServiceUnavailable")
        Failures(firestore).record(failed.question.id, "retrieve", trouble, [], Deadline(5))
    for sent in (failed, killed):
        headers, body = forwarded(sent)
        teller.receive({**headers, "Cloudpubsubdeadlettersourcedeliverycount": "5"}, body)

    assert (case(failed.question)["attempts"], case(killed.question)["attempts"]) == (3, 5)


@pytest.mark.parametrize(
    "headers, body",
    [
        ({}, b""),
        ({}, b"\xff\xfe"),
        ({"Content-Type": "text/plain"}, b"not a CloudEvent"),
        ({"Ce-Id": "\u65e5"}, b"[]"),
        ({"Ce-Source": "//threadwise/nowhere"}, b'{"question": []}'),
        ({}, b'{"question": {"id": "../x"}}'),
    ],
)
def test_anything_is_kept_even_what_names_no_question(
    teller: Teller, firestore: Any, headers: dict[str, str], body: bytes
) -> None:
    assert teller.receive(headers, body) == ("", 204)

    assert body in kept(firestore)


def test_a_letter_that_was_cut_off_on_the_way_comes_again_and_is_no_case(
    teller: Teller, firestore: Any
) -> None:
    headers, body = parked(envelope())

    assert teller.receive({**headers, "Content-Length": str(len(body))}, body[:77]) == ("", 503)

    assert body[:77] not in kept(firestore)
