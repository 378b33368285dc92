"""Dead letters: the asker is told in the question's own message."""

import json
from dataclasses import replace
from typing import Any

import pytest

from answer_fn.answer import answer
from answer_fn.services import open_services as open_answer_services
from answer_fn.settings import Settings
from answer_fn.tell import Services, Teller
from shared.chat.cards import progress
from shared.chat.message import Content
from shared.language.catalogue import text
from shared.memory.records import Records
from shared.messages.dead_letter import reference
from shared.messages.envelope import VERSION, Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from tests.conftest import SmallCloud
from tests.support.factories import context, ending, envelope, forwarded, parked, question
from tests.support.loopback import http

pytest_plugins = ["tests.support.tell_fixtures"]


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


def _newer(body: bytes) -> bytes:
    return json.dumps({**json.loads(body), "version": VERSION + 1}).encode()


def test_a_letter_of_a_newer_version_is_told_all_the_same(teller: Teller, asked: Question, said: Any) -> None:
    headers, body = parked(envelope(question=asked))

    teller.receive(headers, _newer(body))

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
