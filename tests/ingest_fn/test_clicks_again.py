"""Clicks that have a question answered again: "Not what I meant" and "Try again"."""

from datetime import UTC, datetime
from typing import Any

import pytest

from answer_fn.answer import Services as AnswerServices
from answer_fn.answer import answer
from answer_fn.deliver import deliver
from answer_fn.tell import Teller
from reformulate_fn.reformulate import Services as ReformulateServices
from reformulate_fn.reformulate import reformulate
from reformulate_fn.rewrite import Rewriter
from shared.chat.buttons import MOST_AGAIN
from shared.chat.cards import progress
from shared.language.catalogue import text
from shared.memory.cases import COLLECTION as CASES
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.clicking import FOUND, OTHER, buttons_of, click, offered, sent_on, told
from tests.support.factories import envelope, push, turn
from tests.support.ingest_side import AUDIENCE, Ingest

pytest_plugins = ["tests.support.click_fixtures", "tests.support.event_fixtures"]


def test_not_what_i_meant_searches_for_the_question_s_own_words_with_its_history(
    ingest: Ingest, services: AnswerServices, answered: Any, shown: Any, turns: Any, inbox: Any,
    asked: Question, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    event = click(shape, answered(), action="literal")
    ingest.over_https(event)
    sent = sent_on(questions)
    assert (sent.literal, sent.answer_number, sent.question, sent.click_target) == (True, 1, asked, AUDIENCE)
    assert offered(shown(asked)) == []  # it shows progress now

    nobody = Rewriter(None, "none")
    words = ReformulateServices(services.outbox, services.failures, services.display, nobody)
    searched = reformulate(sent.model_copy(update={"history": (turn("user", "Mac?"),)}), words, Deadline(5))
    assert searched.search_query == asked.text
    answer(searched.model_copy(update={"contexts": OTHER}), services, Deadline(60))

    after = shown(asked)
    assert "call the help desk" in after["text"]
    assert "literal" not in offered(after)
    assert len(turns()) == 2
    assert "call the help desk" in turns()[1]


def test_a_click_that_comes_twice_or_late_leads_to_one_answer(
    ingest: Ingest, services: AnswerServices, answered: Any, shown: Any, turns: Any, inbox: Any,
    asked: Question, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    event = click(shape, answered(), action="literal")
    ingest.over_https(event)
    ingest.over_https(event)
    first, second = questions.messages(2)
    assert first.attributes["ce-id"] == second.attributes["ce-id"]
    for sent in (first, second):
        again = Envelope.from_bytes(sent.data)
        answer(
            again.model_copy(update={"search_query": asked.text, "contexts": OTHER}), services, Deadline(60)
        )
    after = shown(asked)

    ingest.over_https(event)
    answered()  # what had led to the first answer is delivered again

    assert questions.is_empty()
    assert shown(asked) == after
    assert len(turns()) == 2


def test_a_click_that_was_killed_when_it_had_covered_the_answer_puts_it_back_when_it_comes_again(
    ingest: Ingest, answered: Any, shown: Any, asked: Question, chat: Any, shape: str
) -> None:
    event = click(shape, answered(), action="literal")
    after = answered(answer_number=1, literal=True, search_query=asked.text, contexts=OTHER)
    chat.update_progress(asked, progress("en", "searching"), Deadline(5))

    ingest.over_https(event)

    assert shown(asked) == after


def test_an_answer_of_before_that_is_posted_late_gives_way_to_the_later_one(
    services: AnswerServices, shown: Any, turns: Any, asked: Question, small_cloud: SmallCloud
) -> None:
    """The first answer's process was slow: it posts when the later one stands already."""
    late = envelope(question=asked, search_query="VPN on a Mac", contexts=FOUND, button=AUDIENCE)
    answer(late, services, Deadline(60))
    stored = services.records.standing(asked, Deadline(5))
    later = late.model_copy(update={"answer_number": 1, "search_query": asked.text, "contexts": OTHER})
    answer(later, services, Deadline(60))

    deliver(asked, stored, services, Deadline(60))

    assert "call the help desk" in shown(asked)["text"]
    assert len(turns()) == 2
    assert "call the help desk" in turns()[1]


def test_when_the_own_words_find_nothing_the_earlier_answer_is_not_remembered(
    services: AnswerServices, answered: Any, shown: Any, turns: Any, asked: Question
) -> None:
    answered()
    assert len(turns()) == 2

    answered(answer_number=1, literal=True, search_query=asked.text, contexts=())

    assert shown(asked)["text"] == text("en", "answer", "not_found")
    assert turns() == []


@pytest.mark.parametrize("action", ["literal", "again"])
def test_only_whoever_asked_can_have_it_answered_again(
    ingest: Ingest, answered: Any, inbox: Any, shape: str, action: str
) -> None:
    questions = inbox("questions")
    event = click(shape, answered(contexts=()), action=action, person="users/7")

    ingest.over_https(event)

    assert questions.is_empty()
    assert told(ingest, event, "not_yours")


def apologised(teller: Teller, asked: Question, **fields: Any) -> tuple[dict[str, str], bytes]:
    headers, body = push(envelope(question=asked, button=AUDIENCE, **fields), "reformulate")
    letter = {**headers, "Dead-Letter-Step": "retrieve", "Dead-Letter-Reason": "rag_refused"}
    number = f"{asked.id} {fields.get('answer_number', 0)}"
    assert teller.receive({**letter, "X-Goog-Pubsub-Message-Id": number}, body) == ("", 204)
    return headers, body


def test_try_again_below_an_apology_asks_from_the_start_and_the_case_shows_the_answer(
    ingest: Ingest, services: AnswerServices, teller: Teller, shown: Any, inbox: Any, asked: Question,
    firestore: Any, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    apologised(teller, asked)
    sorry = shown(asked)
    assert offered(sorry) == ["again"]

    ingest.over_https(click(shape, sorry, action="again"))
    sent = sent_on(questions)
    assert (sent.answer_number, sent.literal, sent.search_query) == (1, False, None)
    answer(sent.model_copy(update={"search_query": "VPN", "contexts": FOUND}), services, Deadline(60))

    assert "[1]" in shown(asked)["text"]
    case = firestore.collection(CASES).document(document_id(asked.id)).get().to_dict()
    assert case["answered_at"] is not None


def test_trying_again_what_a_replay_has_answered_meanwhile_leaves_the_answer(
    ingest: Ingest, teller: Teller, answered: Any, shown: Any, inbox: Any, asked: Question, shape: str
) -> None:
    questions = inbox("questions")
    apologised(teller, asked)
    event = click(shape, shown(asked), action="again")
    message = answered()

    ingest.over_https(event)

    assert questions.is_empty()
    assert shown(asked) == message


def test_what_dies_again_after_trying_again_is_told_again_and_opens_its_case(
    teller: Teller, answered: Any, shown: Any, asked: Question, firestore: Any
) -> None:
    apologised(teller, asked)
    case = firestore.collection(CASES).document(document_id(asked.id))
    case.update({"state": "replayed", "replays": 1, "answered_at": datetime.now(UTC)})

    apologised(teller, asked, answer_number=1)
    apologised(teller, asked)  # a late copy of the first letter

    kept = case.get().to_dict()
    assert (kept["state"], kept["answered_at"], kept["again"]) == ("open", None, 1)
    assert b'"again":1' in kept["data"]
    [again] = buttons_of(shown(asked))
    assert {"key": "again", "value": "1"} in again["onClick"]["action"]["parameters"]
    assert "[1]" in answered(answer_number=1)["text"]


def test_a_dead_letter_of_a_question_asked_again_takes_the_place_of_its_answer(
    teller: Teller, answered: Any, shown: Any, asked: Question
) -> None:
    answered()

    apologised(teller, asked, answer_number=1)

    assert offered(shown(asked)) == ["again"]


def test_a_dead_letter_of_before_does_not_take_the_place_of_a_later_answer(
    teller: Teller, answered: Any, shown: Any, asked: Question
) -> None:
    answered(answer_number=1)
    before = shown(asked)

    apologised(teller, asked)

    assert shown(asked) == before


def test_a_question_is_not_tried_again_for_ever(teller: Teller, shown: Any, asked: Question) -> None:
    apologised(teller, asked, answer_number=MOST_AGAIN - 1)
    assert offered(shown(asked)) == ["again"]

    apologised(teller, asked, answer_number=MOST_AGAIN)

    assert offered(shown(asked)) == []


def test_trying_again_counts_among_the_questions_of_a_minute(
    small_cloud: SmallCloud, teller: Teller, shown: Any, asked: Question, inbox: Any, shape: str
) -> None:
    questions, ingest = inbox("questions"), Ingest(small_cloud, {"questions_per_minute": 1})
    person = f"users/{abs(hash(asked.id))}"
    mine = asked.model_copy(update={"person": person})
    apologised(teller, mine)
    event = click(shape, shown(mine), action="again", person=person)
    for _ in range(2):
        ingest.over_https(event)
    assert len(questions.messages(2)) == 2
    apologised(teller, mine, answer_number=1)
    another = click(shape, shown(mine), action="again", person=person)

    ingest.over_https(another)

    assert questions.is_empty()
    said = ingest.said(another)
    assert said is not None
    assert said["text"] == text("ja", "notice", "too_many", most=1)
