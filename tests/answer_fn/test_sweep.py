"""What nobody works on is set right: an ending that Chat does not show, a question without an end."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.services import open_tell_services
from answer_fn.settings import Settings
from answer_fn.sweep import EARLIEST, LATEST, NEVER_ENDS, REASON, Sweeper
from answer_fn.tell import Services
from shared.chat.cards import progress
from shared.memory import cases, records
from shared.memory.records import Records
from shared.messages.dead_letter import reference
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.factories import ending, envelope
from tests.support.loopback import http
from tests.support.remembering import end

pytest_plugins = ["tests.support.answer_fixtures"]
LONG = ending("answer", "One [1].", more=["Two."])


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_tell_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def sweeper(services: Services) -> Sweeper:
    return Sweeper(lambda: services)


def change(firestore: Any, question: Question, **fields: Any) -> None:
    """A record has other fields."""
    firestore.collection(records.COLLECTION).document(document_id(question.id)).update(fields)


def ended(services: Services, firestore: Any, asked: Question, ago: timedelta) -> None:
    """A question was answered so long ago, in two messages, and both are shown."""
    final = LONG.model_copy(update={"asked": asked})
    services.display.ending(asked, end(firestore, asked, final), Deadline(10))
    change(firestore, asked, ended_at=datetime.now(UTC) - ago)


def sweep(sweeper: Sweeper) -> None:
    assert sweeper.receive({}, b"") == ("", 204)


@pytest.mark.parametrize("ago", [EARLIEST, LATEST - timedelta(seconds=30)])
def test_progress_that_stands_in_place_of_an_ending_is_replaced(
    sweeper: Sweeper, services: Services, firestore: Any, message: Any, asked: Question, ago: timedelta
) -> None:
    ended(services, firestore, asked, ago)
    services.chat.update_progress(asked, progress("en", "writing"), Deadline(5))

    sweep(sweeper)

    assert message(envelope(question=asked))["text"] == "One [1]."


def test_a_repair_is_not_logged_as_a_late_answer(
    sweeper: Sweeper, services: Services, firestore: Any, asked: Question, caplog: pytest.LogCaptureFixture
) -> None:
    ended(services, firestore, asked, EARLIEST)
    services.chat.update_progress(asked, progress("en", "writing"), Deadline(5))
    caplog.clear()
    caplog.set_level(logging.INFO, logger="threadwise")

    sweep(sweeper)

    assert "posted again" in caplog.text
    assert "Posted" not in [record.message for record in caplog.records]


def test_a_part_that_says_something_else_is_replaced(
    sweeper: Sweeper,
    services: Services,
    firestore: Any,
    message: Any,
    asked: Question,
    small_cloud: SmallCloud,
) -> None:
    ended(services, firestore, asked, EARLIEST)
    name = message(envelope(question=asked), "part 1")["name"]
    url = f"{small_cloud.places.url}/v1/{name}?updateMask=text"
    http.patch(url, json={"text": "Of another answer."}).raise_for_status()

    sweep(sweeper)

    assert message(envelope(question=asked), "part 1")["text"] == "Two."


@pytest.mark.parametrize("ago", [EARLIEST - timedelta(seconds=30), LATEST + timedelta(seconds=30)])
def test_nobody_looks_at_what_ended_just_now_or_long_ago(
    sweeper: Sweeper, services: Services, firestore: Any, message: Any, asked: Question, ago: timedelta
) -> None:
    ended(services, firestore, asked, ago)
    services.chat.update_progress(asked, progress("en", "writing"), Deadline(5))

    sweep(sweeper)

    assert message(envelope(question=asked))["text"] != "One [1]."


def test_what_is_right_is_not_written_again_and_what_a_person_deleted_stays_deleted(
    sweeper: Sweeper,
    services: Services,
    firestore: Any,
    message: Any,
    asked: Question,
    small_cloud: SmallCloud,
) -> None:
    ended(services, firestore, asked, EARLIEST)
    before = message(envelope(question=asked))
    http.delete(f"{small_cloud.places.url}/v1/{message(envelope(question=asked), 'part 1')['name']}")

    sweep(sweeper)

    assert message(envelope(question=asked)) == before
    assert message(envelope(question=asked), "part 1") is None


def opened(firestore: Any, asked: Question, ago: timedelta) -> None:
    """A question was registered so long ago, and then its process died."""
    at = datetime.now(UTC) - ago
    reference = firestore.collection(records.COLLECTION).document(document_id(asked.id))
    reference.set(Records(firestore, 24).opened(asked, at))


def case_of(firestore: Any, asked: Question) -> dict[str, Any] | None:
    found = firestore.collection(cases.COLLECTION).document(document_id(asked.id)).get().to_dict()
    return dict(found) if found else None


def test_who_was_never_answered_is_told_once_and_the_question_can_be_replayed(
    sweeper: Sweeper, firestore: Any, message: Any, asked: Question
) -> None:
    opened(firestore, asked, NEVER_ENDS)

    sweep(sweeper)
    sweep(sweeper)

    assert reference(asked.id) in message(envelope(question=asked))["text"]
    case = case_of(firestore, asked)
    assert case is not None
    assert (case["reason"], case["step"], case["told"], case["copies"]) == (REASON, "reformulate", True, 1)


def test_a_question_that_may_still_be_under_way_is_left_alone(
    sweeper: Sweeper, firestore: Any, message: Any, asked: Question
) -> None:
    opened(firestore, asked, NEVER_ENDS - timedelta(seconds=30))

    sweep(sweeper)

    assert message(envelope(question=asked)) is None
    assert case_of(firestore, asked) is None


def test_one_question_that_cannot_be_set_right_does_not_keep_the_others_waiting(
    sweeper: Sweeper, firestore: Any, message: Any, asked: Question
) -> None:
    broken = asked.model_copy(update={"id": f"{asked.id}-broken"})
    opened(firestore, broken, 2 * NEVER_ENDS)
    change(firestore, broken, asked={"id": 7})
    opened(firestore, asked, NEVER_ENDS)

    sweep(sweeper)

    assert reference(asked.id) in message(envelope(question=asked))["text"]
