"""Failed attempts are counted by question and step, but for what is to be forgotten."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.memory.failures import Failures
from shared.memory.forgotten import Forgotten
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.support.factories import question

TROUBLE = Transient("rag_unavailable", "503")


def failed(firestore: Any, asked: Question | str) -> int:
    return Failures(firestore).record(asked, "retrieve", TROUBLE, ["search.py:1 search"], Deadline(10))


@pytest.mark.parametrize("count", [2**63 - 1, -1, True, "2", None])
def test_a_count_that_cannot_be_is_begun_anew(firestore: Any, count: Any) -> None:
    asked = question()
    Failures(firestore).reference(asked.id, "retrieve").set({"count": count})

    assert [failed(firestore, asked), failed(firestore, asked.id)] == [1, 2]


@pytest.mark.parametrize("name", ["conversation", "space", "id"])
def test_nothing_is_recorded_of_what_is_to_be_forgotten(firestore: Any, name: str) -> None:
    asked = question(
        space=(space := f"spaces/{datetime.now(UTC):%H%M%S%f}"),
        conversation=f"{space}/threads/T",
        id=f"{space}/messages/T.M",
    )
    Forgotten(firestore).record(getattr(asked, name), asked.asked_at, Deadline(10))

    assert failed(firestore, asked) == 0
    assert not Failures(firestore).reference(asked.id, "retrieve").get().exists
