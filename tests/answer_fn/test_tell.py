"""Dead letters: each is one case, and its asker is told in the question's own message."""

from dataclasses import replace
from typing import Any

import pytest

from answer_fn.answer import answer
from answer_fn.services import open_services as open_answer_services
from answer_fn.services import open_tell_services
from answer_fn.settings import Settings
from answer_fn.tell import Services, Teller
from shared.chat.cards import progress
from shared.chat.message import Content, message_id
from shared.language.catalogue import text
from shared.memory.cases import COLLECTION
from shared.memory.failures import Failures
from shared.memory.records import Records
from shared.messages.dead_letter import reference
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.conftest import SmallCloud
from tests.support.factories import context, ending, envelope, push, question
from tests.support.loopback import http


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_tell_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def teller(services: Services) -> Teller:
    return Teller(lambda: services)


@pytest.fixture
def said(small_cloud: SmallCloud) -> Any:
    """The question's message, as JSON."""

    def read(asked: Question) -> dict[str, Any]:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return dict(http.get(f"{small_cloud.places.url}/v1/{name}").json())

    return read


@pytest.fixture
def case(firestore: Any) -> Any:
    """The stored case of a question."""

    def read(asked: Question) -> dict[str, Any]:
        return dict(firestore.collection(COLLECTION).document(document_id(asked.id)).get().to_dict())

    return read


def parked(sent: Envelope, *, number: int = 1, step: str = "retrieve") -> tuple[dict[str, str], bytes]:
    """A dead letter as a step parks it, as it is pushed to `tell`."""
    headers, body = push(sent, "reformulate")
    ours = {"Dead-Letter-Step": step, "Dead-Letter-Reason": "rag_refused"}
    return {**headers, **ours, "X-Goog-Pubsub-Message-Id": str(number)}, body


def forwarded(sent: Envelope, *, number: int = 1) -> tuple[dict[str, str], bytes]:
    """A dead letter as Pub/Sub forwards it."""
    headers, body = push(sent, "reformulate")
    theirs = {"Cloudpubsubdeadlettersourcesubscription": "queries-push"}
    return {**headers, **theirs, "X-Goog-Pubsub-Message-Id": str(number)}, body


@pytest.mark.parametrize("letter", [parked, forwarded])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_asker_is_told_in_their_language_in_the_same_message(
    teller: Teller, services: Services, asked: Question, said: Any, letter: Any, language: str
) -> None:
    spoken = asked.model_copy(update={"language": language})
    services.chat.post_progress(spoken, progress(spoken.language, "understanding"), Deadline(5))

    assert teller.receive(*letter(envelope(question=spoken))) == ("", 204)

    message = said(asked)
    assert message["text"] == text(language, "apology", "text", reference=reference(asked.id))
    assert not message.get("cardsV2")


def test_the_reference_is_short_and_always_the_same() -> None:
    assert reference("spaces/A/messages/B") == reference("spaces/A/messages/B")
    assert len(reference("spaces/A/messages/B")) == 11


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


def test_copies_of_a_dead_letter_are_one_case_and_one_apology(
    teller: Teller, case: Any, asked: Question, said: Any
) -> None:
    sent = envelope(question=asked)
    teller.receive(*parked(sent, number=1))
    before = said(asked)
    teller.receive(*parked(sent, number=2))
    teller.receive(*parked(sent, number=2))

    assert case(asked)["copies"] == 2
    assert said(asked)["text"] == before["text"]


def test_an_answer_whose_process_died_before_posting_it_is_delivered(
    teller: Teller, firestore: Any, asked: Question, said: Any
) -> None:
    Records(firestore, 24).end(asked, ending("answer", "Like this."), Deadline(5))

    assert teller.receive(*parked(envelope(question=asked))) == ("", 204)

    turns = firestore.collection("chat_threads").document(document_id(asked.conversation)).get().get("turns")
    assert said(asked)["text"] == "Like this."
    assert [turn["text"] for turn in turns] == [asked.text, "Like this."]


def test_what_was_answered_after_all_gets_no_apology(
    teller: Teller, firestore: Any, asked: Question, said: Any, case: Any
) -> None:
    Records(firestore, 24).end(asked, ending("answer", "Like this."), Deadline(5))

    assert teller.receive(*parked(envelope(question=asked))) == ("", 204)

    assert said(asked)["text"] == "Like this."
    assert case(asked)["answered_at"] and not case(asked)["told"]


def test_sources_that_were_found_are_offered(teller: Teller, asked: Question, said: Any) -> None:
    found = tuple(context(id=str(n), uri=f"gs://kb/{n}.md", title=f"Article {n}") for n in range(5))

    teller.receive(*parked(envelope(question=asked, search_query="VPN", contexts=found)))

    message = said(asked)
    assert text("en", "apology", "sources") in message["text"]
    assert str(message["cardsV2"]).count("Article") == 3


def test_a_replay_turns_the_apology_into_the_answer_in_place(
    teller: Teller, small_cloud: SmallCloud, asked: Question, said: Any
) -> None:
    teller.receive(*parked(envelope(question=asked)))
    apology = said(asked)

    answer_services = open_answer_services(Settings(chat_endpoint=small_cloud.places.url))
    found = (context(text="To configure the VPN, install the VPN client. Then configure the VPN profile."),)
    answer(envelope(question=asked, search_query="VPN", contexts=found), answer_services, Deadline(60))

    assert "[1]" in said(asked)["text"]
    assert said(asked)["name"] == apology["name"]


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

    assert any(document.get("data") == body for document in firestore.collection(COLLECTION).stream())


def test_a_letter_that_was_cut_off_on_the_way_comes_again_and_is_no_case(
    teller: Teller, firestore: Any
) -> None:
    headers, body = parked(envelope())

    assert teller.receive({**headers, "Content-Length": str(len(body))}, body[:77]) == ("", 503)

    assert not any(case.get("data") == body[:77] for case in firestore.collection(COLLECTION).stream())


def test_a_letter_of_a_newer_version_is_told_all_the_same(teller: Teller, asked: Question, said: Any) -> None:
    headers, body = parked(envelope(question=asked))

    teller.receive(headers, body.replace(b'"version":2', b'"version":3', 1))

    assert reference(asked.id) in said(asked)["text"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["firestore-down", "chat-down", "chat-throttled"])
def test_trouble_that_passes_brings_the_letter_again(
    teller: Teller, faults: Any, fault: str, asked: Question, said: Any
) -> None:
    letter = parked(envelope(question=asked))
    faults.switch_on(fault)
    hasty = Teller(lambda: teller.services, seconds=2)
    assert hasty.receive(*letter) == ("", 503)
    faults.switch_off()

    assert teller.receive(*letter) == ("", 204)
    assert reference(asked.id) in said(asked)["text"]


def test_a_space_that_is_gone_is_no_reason_to_loop(teller: Teller, case: Any) -> None:
    gone = question(space="spaces/GONE", thread=None, id="spaces/GONE/messages/A.A")

    assert teller.receive(*parked(envelope(question=gone))) == ("", 204)
    assert not case(gone)["told"]


def test_a_letter_comes_again_while_its_ending_cannot_be_recorded(
    services: Services, asked: Question, case: Any
) -> None:
    class Refused(Records):
        def end(self, *_: Any, **__: Any) -> Any:
            raise Permanent("firestore_refused", "403")

    refused = Refused(services.firestore, 24)
    teller = Teller(lambda: replace(services, records=refused))

    assert teller.receive(*parked(envelope(question=asked))) == ("", 503)
    assert not case(asked)["told"]


@pytest.mark.parametrize("plain", ["progress", "too_many"])
def test_what_stands_in_chat_is_never_taken_for_an_ending(
    teller: Teller, services: Services, asked: Question, said: Any, plain: str
) -> None:
    """Progress as plain text, because Chat refused the card, and a notice: neither is an answer."""
    card = progress("en", "searching") if plain == "progress" else Content("")
    services.chat.put_final(asked, Content(card.text or text("en", "notice", plain, most=10)), Deadline(5))

    assert teller.receive(*parked(envelope(question=asked))) == ("", 204)

    assert said(asked)["text"] == text("en", "apology", "text", reference=reference(asked.id))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_apology_names_whom_to_ask_if_that_is_set(
    services: Services, asked: Question, said: Any, language: str
) -> None:
    spoken = asked.model_copy(update={"language": language})
    teller = Teller(lambda: replace(services, contact="[IT](https://it.corp.example)"))

    teller.receive(*parked(envelope(question=spoken)))

    contact = text(language, "answer", "contact", contact="[IT](https://it.corp.example)")
    assert said(asked)["text"].endswith(contact)


def test_an_answer_in_parts_takes_the_place_of_an_apology(
    teller: Teller, services: Services, asked: Question, small_cloud: SmallCloud
) -> None:
    teller.receive(*parked(envelope(question=asked)))
    services.records.end(asked, ending("answer", "One.", more=["Two."]), Deadline(5))

    for number in (2, 3):
        teller.receive(*forwarded(envelope(question=asked), number=number))

    state = http.get(f"{small_cloud.places.url}/page/state").json()
    in_thread = [one for one in state["messages"] if one["thread"]["name"] == asked.thread]
    assert [one["text"] for one in in_thread if one["sender"]["type"] == "BOT"] == ["One.", "Two."]
