"""What the tests put into the memory, as the functions do."""

from datetime import UTC, datetime
from typing import Any

from shared.memory import cases
from shared.memory.conversations import Conversations, history_in
from shared.memory.firestore import Fields, change
from shared.memory.records import Records, Standing
from shared.memory.turns import Past
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from tests.support.factories import ending


def wait_for(firestore: Any, asked: Question) -> Past:
    """A question waits for its answer; returns what it was asked in."""
    memory, now, seen = Conversations(firestore, 24), datetime.now(UTC), list[Past]()

    def edit(current: Fields | None) -> Fields | None:
        seen.append(history_in(current, asked, now))
        return memory.with_pending(current, asked, now)

    change(firestore, memory.reference(asked.conversation), edit, Deadline(10))
    return seen[-1]


def end(firestore: Any, asked: Question, final: Ending) -> Standing:
    """A question ends."""
    return Records(firestore, 24).end(asked, final, Deadline(10))


def answer(firestore: Any, asked: Question, said: str = "Like this [1].", **fields: Any) -> Standing:
    """A question is answered."""
    return end(firestore, asked, ending("answer", said, plain=said, **fields))


def close_case(firestore: Any, question_id: str) -> None:
    """The case of a question counts as answered."""
    firestore.collection(cases.COLLECTION).document(document_id(question_id)).update(
        {"answered_at": datetime.now(UTC)}
    )
