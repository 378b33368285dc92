"""Answering: what the model may say, a question back or nonsense included."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from google.genai import types

from answer_fn.answer import Services, answer
from answer_fn.prompts import RagAnswer
from shared.language.catalogue import text
from shared.messages.envelope import Context
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.support.answering import findings, saved
from tests.support.factories import context, question, rag_answer

pytest_plugins = ["tests.support.answer_fixtures"]


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
    recorded = services.records.ending(sent.question.id, Deadline(5))
    assert recorded is not None and (recorded.kind, recorded.answered) == (
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
