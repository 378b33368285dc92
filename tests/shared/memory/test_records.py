"""A question's record: progress under a lease, one final message, and the order between them."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.memory.firestore import document_id
from shared.memory.records import COLLECTION, LEASE, Lease, Records
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.support.factories import ending, question

FINAL = ending("answer", "Like this [1].")
APOLOGY = ending("apology", "Sorry.")


@pytest.fixture
def records(firestore: Any) -> Records:
    return Records(firestore, 24)


def release(records: Records, asked: Question, lease: Lease | None, **options: bool) -> None:
    assert lease is not None
    records.release(asked.id, lease, Deadline(5), **options)


def run_out(firestore: Any, asked: Question) -> None:
    reference = firestore.collection(COLLECTION).document(document_id(asked.id))
    reference.update({"lease_until": datetime.now(UTC) - timedelta(seconds=1)})


def test_progress_may_be_written_under_a_lease(records: Records) -> None:
    assert records.lease(question().id, Deadline(5))


def test_two_never_write_progress_at_once(records: Records) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))

    assert not records.lease(asked.id, Deadline(5))


def test_a_lease_given_back_is_free(records: Records) -> None:
    asked = question()
    release(records, asked, records.lease(asked.id, Deadline(5)))

    assert records.lease(asked.id, Deadline(5))


def test_a_lease_that_has_run_out_cannot_be_given_back_for_somebody_else(
    records: Records, firestore: Any
) -> None:
    asked = question()
    stale = records.lease(asked.id, Deadline(5))
    run_out(firestore, asked)
    records.lease(asked.id, Deadline(5))

    release(records, asked, stale)

    assert not records.lease(asked.id, Deadline(5))


def test_a_lease_whose_holder_died_ends_by_itself(records: Records, firestore: Any) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))
    run_out(firestore, asked)

    assert records.lease(asked.id, Deadline(5))


def test_after_the_final_message_there_is_no_more_progress(records: Records) -> None:
    asked = question()
    records.settle(asked.id, FINAL, Deadline(5))

    assert not records.lease(asked.id, Deadline(5))


def test_the_first_final_message_wins(records: Records) -> None:
    asked = question()
    records.settle(asked.id, FINAL, Deadline(5))

    assert records.settle(asked.id, ending("answer", "other"), Deadline(5)).ending == FINAL


def test_a_final_message_waits_until_the_progress_under_way_is_written(records: Records) -> None:
    asked = question()
    lease = records.lease(asked.id, Deadline(5))
    order: list[str] = []

    def settle() -> None:
        records.settle(asked.id, FINAL, Deadline(10))
        order.append("settled")

    waiting = threading.Thread(target=settle)
    waiting.start()
    waiting.join(0.4)
    order.append("released")
    release(records, asked, lease)
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
    assert (noted.ending, noted.posted) == (FINAL, False)
    assert (posted.ending, posted.posted) == (FINAL, True)


def test_releasing_the_lease_of_a_purged_question_is_no_error(records: Records, firestore: Any) -> None:
    asked = question()
    lease = records.lease(asked.id, Deadline(5))
    firestore.collection(COLLECTION).document(document_id(asked.id)).delete()

    release(records, asked, lease)

    assert records.settled(asked.id, Deadline(5)) is None


def test_an_apology_gives_way_to_an_answer_and_never_the_other_way(records: Records) -> None:
    asked = question()
    lease = records.lease_for_apology(asked.id, APOLOGY, Deadline(5))
    release(records, asked, lease, apologised=True)

    assert records.settle(asked.id, FINAL, Deadline(5)).ending == FINAL
    assert records.lease_for_apology(asked.id, APOLOGY, Deadline(5)) is None


def test_an_apology_is_made_once(records: Records) -> None:
    asked = question()
    release(records, asked, records.lease_for_apology(asked.id, APOLOGY, Deadline(5)), apologised=True)

    assert records.lease_for_apology(asked.id, APOLOGY, Deadline(5)) is None


def test_an_apology_that_could_not_be_written_is_tried_again(records: Records) -> None:
    asked = question()
    release(records, asked, records.lease_for_apology(asked.id, APOLOGY, Deadline(5)))

    assert records.lease_for_apology(asked.id, APOLOGY, Deadline(5))


def test_an_apology_does_not_break_into_progress(records: Records) -> None:
    asked = question()
    records.lease(asked.id, Deadline(5))

    with pytest.raises(Transient, match="message_busy"):
        records.lease_for_apology(asked.id, APOLOGY, Deadline(5))


def test_an_answer_noted_while_the_apology_is_written_counts_as_not_posted(records: Records) -> None:
    asked = question()
    lease = records.lease_for_apology(asked.id, APOLOGY, Deadline(5))
    impatient = Deadline(0.3)  # it does not wait for the end of the lease
    records.settle(asked.id, FINAL, impatient)

    release(records, asked, lease, apologised=True)

    settled = records.settled(asked.id, Deadline(5))
    assert settled is not None
    assert (settled.ending, settled.posted) == (FINAL, False)


def test_after_an_apology_there_is_no_more_progress(records: Records) -> None:
    asked = question()
    release(records, asked, records.lease_for_apology(asked.id, APOLOGY, Deadline(5)), apologised=True)

    assert records.lease(asked.id, Deadline(5)) is None


def test_a_write_that_may_still_show_keeps_its_lease(records: Records) -> None:
    asked = question()
    lease = records.lease(asked.id, Deadline(5))
    assert lease is not None

    with pytest.raises(Transient), records.writing(asked.id, lease, Deadline(5)):
        raise Transient("chat_unavailable", in_doubt=True)

    assert records.lease(asked.id, Deadline(5)) is None


@pytest.mark.parametrize("trouble", [Transient("chat_throttled"), Permanent("chat_refused")])
def test_a_write_that_was_refused_gives_its_lease_back(records: Records, trouble: Exception) -> None:
    asked = question()
    lease = records.lease(asked.id, Deadline(5))
    assert lease is not None

    with pytest.raises(type(trouble)), records.writing(asked.id, lease, Deadline(5)):
        raise trouble

    assert records.lease(asked.id, Deadline(5))


def test_nothing_is_written_after_the_lease(records: Records) -> None:
    asked = question()
    lease = records.lease(asked.id, Deadline(5))
    assert lease is not None

    with records.writing(asked.id, lease, Deadline(60)) as until:
        assert until.remaining < LEASE.total_seconds()


def again(number: int, kind: str = "answer") -> Ending:
    return ending(kind, f"Answer {number}.", answer_number=number)


def test_a_later_answer_takes_the_place_of_an_earlier_one_and_never_the_other_way_round(
    records: Records,
) -> None:
    asked = question()
    records.settle(asked.id, again(0), Deadline(5))

    assert records.settle(asked.id, again(1), Deadline(5)).ending == again(1)
    assert records.settle(asked.id, again(0), Deadline(5)).ending == again(1)
    assert records.lease_for_apology(asked.id, again(0, "apology"), Deadline(5)) is None


def test_what_is_posted_late_does_not_count_as_the_later_answer(records: Records) -> None:
    asked = question()
    records.settle(asked.id, again(1), Deadline(5))

    newer = records.mark_posted(asked.id, Deadline(5))

    assert newer is not None and newer.ending == again(1)
    settled = records.settled(asked.id, Deadline(5))
    assert settled is not None and not settled.posted
    assert records.mark_posted(asked.id, Deadline(5), answer_number=1) is None
    settled = records.settled(asked.id, Deadline(5))
    assert settled is not None and settled.posted


def test_an_apology_for_what_was_asked_again_gives_way_to_its_answer_alone(records: Records) -> None:
    asked = question()
    records.settle(asked.id, again(0), Deadline(5))
    records.mark_posted(asked.id, Deadline(5))
    sorry = again(1, "apology")

    release(records, asked, records.lease_for_apology(asked.id, sorry, Deadline(5)), apologised=True)

    assert records.settle(asked.id, again(0), Deadline(5)).ending == sorry
    assert records.settle(asked.id, again(1), Deadline(5)).ending == again(1)
