"""Answering: what is posted, what is remembered, and what a redelivery does."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from google.genai import types

from answer_fn.answer import Services, answer
from answer_fn.prompts import RagAnswer
from answer_fn.services import open_services
from answer_fn.settings import Settings
from local.cloud import KNOWLEDGE
from local.rag.index import Index
from shared.chat import Content, message_id
from shared.conversations import COLLECTION
from shared.deadline import Deadline
from shared.envelope import Context, Envelope, Question
from shared.errors import Permanent, Transient
from shared.firestore import document_id
from shared.texts import text
from tests.conftest import SmallCloud
from tests.factories import context, envelope, final, question, rag_answer, turn


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def found() -> tuple[Context, ...]:
    """What a search for the VPN finds."""
    hits = Index.from_folder(KNOWLEDGE).search("How do I configure the VPN?", 4)
    return tuple(
        Context(
            id=f"c{number}",
            title=hit.chunk.title,
            text=hit.chunk.text,
            uri=hit.chunk.uri,
            link="https://kb.example/vpn",
            distance=hit.distance,
        )
        for number, hit in enumerate(hits)
    )


@pytest.fixture
def message(small_cloud: SmallCloud) -> Any:
    """A Chat message of a question, as JSON; None when there is none."""

    def read(sent: Envelope, role: str = "") -> dict[str, Any] | None:
        name = f"{sent.question.space}/messages/{message_id(sent.question.id, role=role)}"
        response = httpx.get(f"{small_cloud.places.url}/v1/{name}", trust_env=False)
        return None if response.status_code == 404 else dict(response.raise_for_status().json())

    return read


def findings(found: tuple[Context, ...], **fields: Any) -> Envelope:
    return envelope(**{"search_query": "How do I configure the VPN?", "contexts": found, **fields})


def saved(firestore: Any, sent: Envelope) -> list[dict[str, Any]]:
    """The turns of the conversation."""
    document = firestore.collection(COLLECTION).document(document_id(sent.question.conversation)).get()
    return list((document.to_dict() or {}).get("turns", []))


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


#: Two articles that tell apart what the question does not.
TWO_WAYS = tuple(
    context(
        id=title,
        title=title,
        uri=f"gs://kb/{title}.md",
        text=f"# {title}\n\nThe guest code is valid for {days} days in {title}.",
    )
    for title, days in (("Tokyo", 5), ("Osaka", 3))
)


@dataclass
class Saying:
    """A model that always says the same."""

    answer: RagAnswer

    @property
    def models(self) -> "Saying":
        return self

    def generate_content(self, **_: Any) -> types.GenerateContentResponse:
        part = {"text": self.answer.model_dump_json()}
        candidate = {"content": {"parts": [part], "role": "model"}, "finish_reason": "STOP"}
        return types.GenerateContentResponse.model_validate({"candidates": [candidate]})


def saying(services: Services, answer: RagAnswer) -> Services:
    return replace(services, gemini=Saying(answer))


def test_a_question_back_is_the_final_message_and_is_remembered(
    services: Services, message: Any, firestore: Any
) -> None:
    said = rag_answer(status="needs_clarification", ask_back="In Tokyo or in Osaka?")
    sent = findings(TWO_WAYS, question=question(text="How long is the guest code valid?"))

    for _ in range(2):  # and so it is after a redelivery
        answer(sent, saying(services, said), Deadline(60))

    assert message(sent)["text"] == "In Tokyo or in Osaka?"
    assert "cardsV2" not in message(sent)
    assert [turn["text"] for turn in saved(firestore, sent)] == [sent.question.text, "In Tokyo or in Osaka?"]
    settled = services.records.settled(sent.question.id, Deadline(5))
    assert settled is not None and (settled.final["kind"], settled.final["answered"]) == (
        "clarification",
        False,
    )


@pytest.mark.parametrize("language", ["en", "ja"])
def test_who_needs_clarification_but_asks_nothing_asks_in_general(
    services: Services, message: Any, language: str
) -> None:
    sent = findings(TWO_WAYS, question=question(language=language))

    answer(sent, saying(services, rag_answer(status="needs_clarification")), Deadline(60))

    assert message(sent)["text"] == text(language, "answer", "which")


@pytest.mark.parametrize(
    "missing, key, language",
    [
        ("what applies in Nagoya", "partly", "en"),
        ("", "partly_only", "en"),
        ("名古屋での期間", "partly", "ja"),
    ],
)
def test_a_partial_answer_says_what_is_missing_and_remembers_that(
    services: Services, message: Any, firestore: Any, missing: str, key: str, language: str
) -> None:
    said = rag_answer("Five days in Tokyo [1].", status="partly", missing=missing)
    sent = findings(TWO_WAYS, question=question(language=language))

    answer(sent, saying(services, said), Deadline(60))

    told = f"Five days in Tokyo [1].\n\n{text(language, 'answer', key, missing=missing)}"
    assert message(sent)["text"].startswith(f"{told}\n\n_")
    assert saved(firestore, sent)[1]["text"] == told


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


@pytest.mark.parametrize(
    "fault, reason",
    [
        ("gemini-blocked", "gemini_blocked"),
        ("gemini-cut-off", "gemini_cut_off"),
        ("gemini-empty", "gemini_empty"),
        ("gemini-invalid", "gemini_invalid"),
    ],
)
def test_what_the_model_did_wrong_is_told_apart(
    services: Services, found: tuple[Context, ...], faults: Any, fault: str, reason: str
) -> None:
    faults.switch_on(fault)

    with pytest.raises(Permanent) as caught:
        answer(findings(found), services, Deadline(60))

    assert caught.value.reason == reason


@pytest.mark.parametrize("fault", ["gemini-cut-off", "gemini-empty", "gemini-invalid"])
def test_an_unusable_answer_is_asked_for_once_more(
    services: Services, found: tuple[Context, ...], faults: Any, fault: str
) -> None:
    faults.switch_on(fault)
    before = faults.hits.get(fault, 0)

    with pytest.raises(Permanent):
        answer(findings(found), services, Deadline(60))

    assert faults.hits[fault] == before + 2


def test_a_blocked_answer_is_not_asked_for_again(
    services: Services, found: tuple[Context, ...], faults: Any
) -> None:
    faults.switch_on("gemini-blocked")
    before = faults.hits.get("gemini-blocked", 0)

    with pytest.raises(Permanent):
        answer(findings(found), services, Deadline(60))

    assert faults.hits["gemini-blocked"] == before + 1


def test_a_model_that_is_down_is_transient(
    services: Services, found: tuple[Context, ...], faults: Any
) -> None:
    faults.switch_on("gemini-down")

    with pytest.raises(Transient, match="gemini_unavailable"):
        answer(findings(found), services, Deadline(1))


def test_a_redelivery_posts_and_saves_nothing_new(
    services: Services, found: tuple[Context, ...], faults: Any, firestore: Any, message: Any
) -> None:
    sent = findings(found)
    answer(sent, services, Deadline(60))
    posted = message(sent)
    faults.switch_on("gemini-down")  # neither is the model asked again

    answer(sent, services, Deadline(60))

    assert message(sent) == posted
    assert len(saved(firestore, sent)) == 2


def test_an_answer_noted_before_a_crash_is_the_one_that_is_posted_after_it(
    services: Services, found: tuple[Context, ...], firestore: Any, message: Any
) -> None:
    sent = findings(found)
    noted = final("answer", "Noted.")
    services.records.settle(sent.question.id, noted, Deadline(5))

    answer(sent, services, Deadline(60))

    assert message(sent)["text"] == "Noted."
    assert [turn["text"] for turn in saved(firestore, sent)] == [sent.question.text, "Noted."]


def test_an_answer_in_parts_is_posted_again_as_it_was_noted(
    services: Services, found: tuple[Context, ...], firestore: Any, message: Any
) -> None:
    sent = findings(found)
    services.records.settle(sent.question.id, {**final("answer", "One."), "more": ["Two."]}, Deadline(5))

    for _ in range(2):
        answer(sent, services, Deadline(60))

    assert message(sent)["text"] == "One."
    assert message(sent, role="part 1")["text"] == "Two."
    assert message(sent, role="part 2") is None


def test_a_redelivered_fallback_is_the_one_that_was_noted(
    services: Services, found: tuple[Context, ...], faults: Any
) -> None:
    sent = findings(found, question=question(text="Who won the football world cup in Brazil?"))
    answer(sent, services, Deadline(60))
    faults.switch_on("gemini-down")  # the model is not asked again

    answer(sent, services, Deadline(60))

    settled = services.records.settled(sent.question.id, Deadline(5))
    assert settled is not None and settled.posted and settled.final["kind"] == "fallback"


def asked_long_ago(**fields: Any) -> Question:
    return question(asked_at=datetime.now(UTC) - timedelta(minutes=11), **fields)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_late_answer_in_an_old_message_is_pointed_to_once(
    services: Services, found: tuple[Context, ...], message: Any, language: str
) -> None:
    late = findings(found, question=asked_long_ago(language=language, text="Hello <users/all>, VPN?"))
    services.chat.put_final(late.question, Content("Sorry."), Deadline(5))

    answer(late, services, Deadline(60))
    pointed = message(late, role="late")
    services.records.settle(late.question.id, final("answer", "-"), Deadline(5))
    answer(late, services, Deadline(60))

    assert pointed["text"] == "↑ " + text(language, "answer", "pointer", question="Hello ‹users/all>, VPN?")
    assert pointed["thread"] == message(late)["thread"]
    assert message(late, role="late") == pointed


def test_nothing_points_to_an_answer_in_time_or_in_a_new_message(
    services: Services, found: tuple[Context, ...], message: Any
) -> None:
    in_time, new = findings(found), findings(found, question=asked_long_ago())
    services.chat.put_final(in_time.question, Content("Sorry."), Deadline(5))
    for sent in (in_time, new):
        answer(sent, services, Deadline(60))

    assert message(in_time, role="late") is None
    assert message(new, role="late") is None


def test_an_answer_that_cannot_be_posted_is_transient(services: Services, faults: Any) -> None:
    faults.switch_on("chat-down")

    with pytest.raises(Transient, match="chat_unavailable"):
        answer(findings(()), services, Deadline(1))


@pytest.mark.slow
def test_the_answer_stands_when_nothing_can_be_remembered_and_comes_again_to_be(
    services: Services, found: tuple[Context, ...], faults: Any, message: Any, firestore: Any
) -> None:
    sent = findings(found)
    faults.switch_on("firestore-down")
    with pytest.raises(Transient, match="turn_not_saved"):
        answer(sent, services, Deadline(5))
    assert "[1]" in message(sent)["text"]
    faults.switch_off()

    answer(sent, services, Deadline(60))

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
