"""Answering: what a redelivery does, and a late answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.answer import Services, answer
from shared.chat.message import Content
from shared.language.catalogue import text
from shared.messages.envelope import Context, Question
from shared.runtime.deadline import Deadline
from tests.support.answering import findings, saved
from tests.support.factories import ending, question

pytest_plugins = ["tests.support.answer_fixtures"]


#: To post the same again updates the message.
UPDATED = {"lastUpdateTime": None}


def test_a_redelivery_posts_and_saves_nothing_new(
    services: Services, found: tuple[Context, ...], faults: Any, firestore: Any, message: Any
) -> None:
    sent = findings(found)
    answer(sent, services, Deadline(60))
    posted = message(sent)
    faults.switch_on("gemini-down")  # neither is the model asked again

    answer(sent, services, Deadline(60))

    assert {**message(sent), **UPDATED} == {**posted, **UPDATED}
    assert len(saved(firestore, sent)) == 2


def test_an_answer_recorded_before_a_crash_is_the_one_that_is_posted_after_it(
    services: Services, found: tuple[Context, ...], firestore: Any, message: Any
) -> None:
    sent = findings(found)
    recorded = ending("answer", "Recorded.")
    services.records.end(sent.question, recorded, Deadline(5))

    answer(sent, services, Deadline(60))

    assert message(sent)["text"] == "Recorded."
    assert [turn["text"] for turn in saved(firestore, sent)] == [sent.question.text, "Recorded."]


def test_an_answer_in_parts_is_posted_again_as_it_was_recorded(
    services: Services, found: tuple[Context, ...], firestore: Any, message: Any
) -> None:
    sent = findings(found)
    services.records.end(sent.question, ending("answer", "One.", more=["Two."]), Deadline(5))

    for _ in range(2):
        answer(sent, services, Deadline(60))

    assert message(sent)["text"] == "One."
    assert message(sent, role="part 1")["text"] == "Two."
    assert message(sent, role="part 2") is None


def test_a_redelivered_fallback_is_the_one_that_was_recorded(
    services: Services, found: tuple[Context, ...], faults: Any
) -> None:
    sent = findings(found, question=question(text="Who won the football world cup in Brazil?"))
    answer(sent, services, Deadline(60))
    faults.switch_on("gemini-down")  # the model is not asked again

    answer(sent, services, Deadline(60))

    recorded = services.records.ending(sent.question.id, Deadline(5))
    assert recorded is not None and recorded.kind == "fallback"


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
    services.records.end(late.question, ending("answer", "-"), Deadline(5))
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
