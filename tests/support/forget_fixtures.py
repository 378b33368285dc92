"""Fixtures (as a pytest plugin): everything that can be kept for a conversation, and what is left of it."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.memory.cases import Cases
from shared.memory.failures import Failures
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.support import remembering
from tests.support.factories import ending
from tests.support.forgetting import KEPT_IN, asked_in, letter_of


@pytest.fixture
def remember(firestore: Any) -> Callable[..., list[Question]]:
    """Everything that can be kept for a conversation: an answered, a waiting, an unanswerable question."""

    def keep(conversation: str, space: str, **how: Any) -> list[Question]:
        answered, waiting, lost = (asked_in(conversation, space, **how) for _ in range(3))
        deadline = Deadline(20)
        for each in (answered, lost, waiting):
            remembering.wait_for(firestore, each)
        said = ending("answer", f"an answer to {answered.text}", search_query=answered.text)
        remembering.end(firestore, answered, said)
        Failures(firestore).record(lost.id, "retrieve", Transient("rag_unavailable"), [], deadline)
        Cases(firestore).store(letter_of(lost), None, deadline)
        firestore.collection(FEEDBACK).document(document_id(answered.id)).set(
            {"conversation": conversation, "space": space, "question_id": answered.id, "text": answered.text}
        )
        return [answered, waiting, lost]

    return keep


@pytest.fixture
def kept(firestore: Any) -> Callable[[str], list[str]]:
    """The collections in which anything names, or holds words of, a conversation."""

    def find(conversation: str) -> list[str]:
        names = (conversation, conversation.replace("/threads/", "/messages/"))
        found = [
            collection
            for collection in KEPT_IN
            for document in firestore.collection(collection).stream()
            if any(name in f"{document.to_dict()}" for name in names)
        ]
        return sorted(set(found))

    return find
