"""Answering: what is posted, and what is remembered."""

from typing import Any

import pytest

from answer_fn.answer import Services, answer
from local.runner.cloud import KNOWLEDGE
from local.stand_ins.rag.index import Index
from shared.language.catalogue import text
from shared.messages.envelope import Context, Question
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.support.answering import findings, saved
from tests.support.factories import context, envelope, question, turn

pytest_plugins = ["tests.support.answer_fixtures"]


def test_the_answer_is_posted_in_the_thread_with_its_sources(
    services: Services, found: tuple[Context, ...], message: Any, asked: Question
) -> None:
    sent = findings(found, question=asked)

    answer(sent, services, Deadline(60))

    posted = message(sent)
    assert "[1]" in posted["text"]
    assert posted["thread"]["name"] == sent.question.thread
    assert "How to configure the VPN" in str(posted["cardsV2"])
    assert "https://kb.example/vpn" in str(posted["cardsV2"])


def test_the_turn_is_saved_with_question_and_answer(
    services: Services, found: tuple[Context, ...], firestore: Any
) -> None:
    sent = findings(found)

    answer(sent, services, Deadline(60))

    user, assistant = saved(firestore, sent)
    assert (user["role"], user["text"]) == ("user", sent.question.text)
    assert assistant["role"] == "assistant"
    assert assistant["search_query"] == sent.search_query
    assert assistant["sources"]
    assert "24 hours" not in assistant["text"]


def test_the_first_answer_of_a_conversation_carries_the_hint_and_the_next_does_not(
    services: Services, found: tuple[Context, ...], message: Any
) -> None:
    first = findings(found)
    second = findings(found, history=(turn("user", "VPN?"), turn("assistant", "Yes [1].")))
    for sent in (first, second):
        answer(sent, services, Deadline(60))

    hint = text("en", "answer", "hint", hours="24")
    assert hint in message(first)["text"]
    assert hint not in message(second)["text"]


def test_after_a_fallback_the_first_answer_still_carries_the_hint(
    services: Services, found: tuple[Context, ...], message: Any
) -> None:
    sent = findings(found, history=(turn("user", "What is the price of gold?"),))

    answer(sent, services, Deadline(60))

    assert text("en", "answer", "hint", hours="24") in message(sent)["text"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_nothing_found_is_said_honestly_and_not_remembered(
    services: Services, message: Any, firestore: Any, language: str, faults: Any
) -> None:
    faults.switch_on("gemini-down")  # without contexts the model is not asked
    sent = findings((), question=question(language=language))

    answer(sent, services, Deadline(60))

    assert message(sent)["text"] == text(language, "answer", "not_found")
    assert saved(firestore, sent) == []


@pytest.mark.parametrize("language, said", [("en", "Thanks, that worked!"), ("ja", "ありがとうございます！")])
def test_thanks_are_answered_politely_without_a_model_and_not_remembered(
    services: Services, message: Any, firestore: Any, language: str, said: str, faults: Any
) -> None:
    faults.switch_on("gemini-down")
    sent = findings((), question=question(text=said, language=language))

    answer(sent, services, Deadline(60))

    assert message(sent)["text"] == text(language, "answer", "courtesy")
    assert "accessoryWidgets" not in message(sent) and saved(firestore, sent) == []


def test_a_question_that_the_sources_do_not_answer_gets_the_fallback(
    services: Services, found: tuple[Context, ...], message: Any, firestore: Any
) -> None:
    sent = findings(found, question=question(text="Who won the football world cup in Brazil?"))

    answer(sent, services, Deadline(60))

    assert message(sent)["text"] == text("en", "answer", "not_found")
    assert saved(firestore, sent) == []


def test_a_japanese_question_is_answered_in_japanese(services: Services, message: Any) -> None:
    hits = Index.from_folder(KNOWLEDGE).search("VPNの設定方法を教えて", 4)
    contexts = tuple(
        context(id=str(number), title=hit.chunk.title, text=hit.chunk.text, uri=hit.chunk.uri)
        for number, hit in enumerate(hits)
    )
    sent = findings(contexts, question=question(text="VPNの設定方法を教えて", language="ja"))

    answer(sent, services, Deadline(60))

    assert text("ja", "answer", "hint", hours="24") in message(sent)["text"]
    assert "接続" in message(sent)["text"]


def test_an_answer_that_cannot_be_posted_is_transient(services: Services, faults: Any) -> None:
    faults.switch_on("chat-down")

    with pytest.raises(Transient, match="chat_unavailable"):
        answer(findings(()), services, Deadline(1))


@pytest.mark.slow
def test_nothing_is_posted_that_cannot_be_recorded_and_it_comes_again(
    services: Services, found: tuple[Context, ...], faults: Any, message: Any, firestore: Any
) -> None:
    sent = findings(found)
    faults.switch_on("firestore-down")
    with pytest.raises(Transient, match="firestore_unavailable"):
        answer(sent, services, Deadline(5))
    assert message(sent) is None
    faults.switch_off()

    answer(sent, services, Deadline(60))

    assert "[1]" in message(sent)["text"]
    assert len(saved(firestore, sent)) == 2


def test_an_envelope_without_contexts_is_permanent(services: Services) -> None:
    with pytest.raises(Permanent, match="envelope_incomplete"):
        answer(envelope(search_query="VPN"), services, Deadline(60))


def test_the_query_is_shown_only_when_it_is_not_the_question(
    services: Services, found: tuple[Context, ...], message: Any
) -> None:
    rewritten = findings(found, search_query="How do I configure the VPN on a Mac?")
    literal = findings(found)
    for sent in (rewritten, literal):
        answer(sent, services, Deadline(60))

    assert "I searched for: How do I configure the VPN on a Mac?" in str(message(rewritten)["cardsV2"])
    assert "I searched for" not in str(message(literal)["cardsV2"])
