"""A question's record: progress under a lease, one final message, and the order between them."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.deadline import Deadline
from shared.firestore import document_id
from shared.records import COLLECTION, Records
from tests.factories import question

FINAL = {"answered": True, "text": "Like this [1]."}


@pytest.fixture
def records(firestore: Any) -> Records:
    return Records(firestore, 24)


def test_progress_may_be_written_under_a_lease(records: Records) -> None:
    assert records.lease(question().id, Deadline(5))


def test_two_never_write_progress_at_once(records: Records) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))

    assert not records.lease(asked.id, Deadline(5))


def test_a_lease_given_back_is_free(records: Records) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))
    records.release(asked.id, Deadline(5))

    assert records.lease(asked.id, Deadline(5))


def test_a_lease_whose_holder_died_ends_by_itself(records: Records, firestore: Any) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))
    reference = firestore.collection(COLLECTION).document(document_id(asked.id))
    reference.update({"lease_until": datetime.now(UTC) - timedelta(seconds=1)})

    assert records.lease(asked.id, Deadline(5))


def test_after_the_final_message_there_is_no_more_progress(records: Records) -> None:
    asked = question()
    records.settle(asked.id, FINAL, Deadline(5))

    assert not records.lease(asked.id, Deadline(5))


def test_the_first_final_message_wins(records: Records) -> None:
    asked = question()
    records.settle(asked.id, FINAL, Deadline(5))

    assert records.settle(asked.id, {"answered": True, "text": "other"}, Deadline(5)).final == FINAL


def test_a_final_message_waits_until_the_progress_under_way_is_written(records: Records) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))
    order: list[str] = []

    def settle() -> None:
        records.settle(asked.id, FINAL, Deadline(10))
        order.append("settled")

    waiting = threading.Thread(target=settle)
    waiting.start()
    waiting.join(0.4)
    order.append("released")
    records.release(asked.id, Deadline(5))
    waiting.join(10)

    assert order == ["released", "settled"]


def test_a_redelivery_knows_that_everything_is_done(records: Records) -> None:
    asked = question()
    assert records.settled(asked.id, Deadline(5)) is None

    records.settle(asked.id, FINAL, Deadline(5))
    noted = records.settled(asked.id, Deadline(5))
    records.mark_posted(asked.id, Deadline(5))
    posted = records.settled(asked.id, Deadline(5))

    assert noted is not None and posted is not None
    assert (noted.final, noted.posted) == (FINAL, False)
    assert (posted.final, posted.posted) == (FINAL, True)


def test_releasing_the_lease_of_a_purged_question_is_no_error(records: Records, firestore: Any) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))
    firestore.collection(COLLECTION).document(document_id(asked.id)).delete()

    records.release(asked.id, Deadline(5))

    assert records.settled(asked.id, Deadline(5)) is None
