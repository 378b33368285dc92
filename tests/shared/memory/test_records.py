"""A question's record: which ending stands, and what is changed together with it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.memory import cases, conversations
from shared.memory.forgotten import Forgotten
from shared.memory.records import COLLECTION, Records
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.support import remembering
from tests.support.factories import ending, question

ANSWER = ending("answer", "Like this [1].")
APOLOGY = ending("apology", "Sorry.")


@pytest.fixture
def records(firestore: Any) -> Records:
    return Records(firestore, 24)


def again(number: int, kind: str = "answer") -> Ending:
    return ending(kind, f"Answer {number}.", answer_number=number)


def end(records: Records, asked: Question, final: Ending) -> Ending | None:
    return records.end(asked, final, Deadline(10)).ending


def stored(firestore: Any, collection: str, name: str) -> dict[str, Any]:
    return firestore.collection(collection).document(document_id(name)).get().to_dict() or {}


def turns(firestore: Any, asked: Question) -> list[str]:
    found = stored(firestore, conversations.COLLECTION, asked.conversation).get("turns", [])
    return [turn["text"] for turn in found if turn["question_id"] == asked.id]


def pending(firestore: Any, asked: Question) -> list[str]:
    found = stored(firestore, conversations.COLLECTION, asked.conversation).get("pending", [])
    return [entry["question_id"] for entry in found]


def test_a_question_that_has_not_ended_has_no_ending(records: Records) -> None:
    asked = question()

    assert records.standing(asked, Deadline(5)).rank is None
    assert records.ending(asked.id, Deadline(5)) is None


def test_an_ending_its_turn_and_its_case_are_changed_together(records: Records, firestore: Any) -> None:
    asked = question()
    remembering.wait_for(firestore, asked)
    case = firestore.collection(cases.COLLECTION).document(document_id(asked.id))
    case.set({"question_id": asked.id, "state": "open", "answered_at": None, "data": b"large"})

    assert end(records, asked, ANSWER) == ANSWER

    assert records.standing(asked, Deadline(5)).ending == records.ending(asked.id, Deadline(5)) == ANSWER
    assert turns(firestore, asked) == [asked.text, "Like this [1]."]
    assert pending(firestore, asked) == []
    assert case.get().get("answered_at") and case.get().get("data") == b"large"


@pytest.mark.parametrize(
    "lower, higher",
    [
        (APOLOGY, ANSWER),
        (again(0), again(1, "apology")),
        (again(1, "apology"), again(1, "fallback")),
        (again(0, "clarification"), again(1)),
    ],
)
def test_the_higher_ending_stands_in_whatever_order_they_come(
    records: Records, lower: Ending, higher: Ending
) -> None:
    for first, second in ((lower, higher), (higher, lower)):
        asked = question()
        end(records, asked, first)

        assert end(records, asked, second) == higher
        assert records.ending(asked.id, Deadline(5)) == higher


@pytest.mark.parametrize("kind", ["answer", "apology", "fallback"])
def test_of_two_endings_of_one_rank_the_first_stands(records: Records, kind: str) -> None:
    asked, first = question(), ending(kind, "First.")
    end(records, asked, first)

    assert end(records, asked, ending(kind, "Second.")) == first


def test_only_one_of_many_endings_that_come_at_once_stands(records: Records, firestore: Any) -> None:
    asked = question()
    with ThreadPoolExecutor(6) as pool:
        ends = [ending("answer", f"Answer of {number}.") for number in range(6)]
        standing = set(pool.map(lambda final: getattr(end(records, asked, final), "text", ""), ends))

    assert len(standing) == 1
    assert turns(firestore, asked) == [asked.text, *standing]


@pytest.mark.parametrize("kind", ["apology", "fallback", "courtesy"])
def test_what_is_no_answer_leaves_no_turn_not_even_of_an_earlier_answer(
    records: Records, firestore: Any, kind: str
) -> None:
    asked = question()
    remembering.wait_for(firestore, asked)
    end(records, asked, again(0))
    end(records, asked, again(1, kind))

    assert (turns(firestore, asked), pending(firestore, asked)) == ([], [])


def test_an_apology_leaves_a_case_open_and_the_answer_closes_it(records: Records, firestore: Any) -> None:
    asked = question()
    case = firestore.collection(cases.COLLECTION).document(document_id(asked.id))
    case.set({"question_id": asked.id, "answered_at": None, "again": 1})

    for final, closed in ((again(1, "apology"), False), (again(0), False), (again(1), True)):
        end(records, asked, final)
        assert bool(case.get().get("answered_at")) is closed


def test_a_case_that_came_after_its_answer_is_closed_by_who_wants_to_apologise(
    records: Records, firestore: Any
) -> None:
    asked = question()
    end(records, asked, ANSWER)
    case = firestore.collection(cases.COLLECTION).document(document_id(asked.id))
    case.set({"question_id": asked.id, "answered_at": None})

    assert end(records, asked, APOLOGY) == ANSWER
    assert case.get().get("answered_at")


@pytest.mark.parametrize("what", ["conversation", "space", "id"])
def test_nothing_is_recorded_of_what_is_to_be_forgotten(records: Records, firestore: Any, what: str) -> None:
    asked = question()
    asked = asked.model_copy(update={"space": f"{asked.space}{asked.id[-6:]}"})
    Forgotten(firestore).record(getattr(asked, what), asked.asked_at, Deadline(5))

    standing = records.end(asked, ANSWER, Deadline(5))

    assert standing.forgotten and standing.ending is None
    assert records.standing(asked, Deadline(5)).forgotten
    assert stored(firestore, COLLECTION, asked.id) == {} and turns(firestore, asked) == []


def test_what_is_forgotten_between_the_look_and_the_commit_is_not_recorded(
    records: Records, firestore: Any
) -> None:
    asked = question()
    begun = records.begin(asked, Deadline(5))
    Forgotten(firestore).record(asked.conversation, asked.asked_at, Deadline(5))

    assert records.end(asked, ANSWER, Deadline(5), begun).forgotten
    assert stored(firestore, COLLECTION, asked.id) == {} and turns(firestore, asked) == []


def test_what_is_asked_after_that_is_recorded(records: Records, firestore: Any) -> None:
    asked = question()
    forgotten_at = asked.asked_at - timedelta(microseconds=1)
    Forgotten(firestore).record(asked.conversation, forgotten_at, Deadline(5))

    assert end(records, asked, ANSWER) == ANSWER


def test_an_ending_begun_before_another_one_is_compared_with_it(records: Records) -> None:
    asked = question()
    begun = records.begin(asked, Deadline(5))
    end(records, asked, again(1))

    assert records.end(asked, again(0), Deadline(5), begun).ending == again(1)


def test_the_most_parts_that_there_have_ever_been_are_known(records: Records) -> None:
    asked = question()
    end(records, asked, ending("answer", "One.", more=["Two.", "Three."]))

    assert records.end(asked, again(1), Deadline(5)).parts == 3
    assert records.standing(asked, Deadline(5)).parts == 3


def test_an_expired_record_counts_as_none_and_a_new_ending_lasts_anew(
    records: Records, firestore: Any
) -> None:
    asked = question()
    end(records, asked, again(1))
    document = firestore.collection(COLLECTION).document(document_id(asked.id))
    document.update({"expired_at": datetime.now(UTC) - timedelta(seconds=1)})

    assert records.standing(asked, Deadline(5)).rank is None
    assert end(records, asked, again(0)) == again(0)
    assert document.get().get("expired_at") > datetime.now(UTC)


@pytest.mark.parametrize("foreign", [{}, {"final": "?"}, {"final": {}, "parts": -1, "expired_at": "soon"}])
def test_a_record_of_another_shape_counts_as_none(
    records: Records, firestore: Any, foreign: dict[str, Any]
) -> None:
    asked = question()
    firestore.collection(COLLECTION).document(document_id(asked.id)).set(foreign)

    assert records.standing(asked, Deadline(5)).rank is None
    assert end(records, asked, ANSWER) == ANSWER


def test_without_firestore_nothing_ends(records: Records, faults: Any) -> None:
    faults.switch_on("firestore-down")

    with pytest.raises(Transient):
        records.end(question(), ANSWER, Deadline(1))
