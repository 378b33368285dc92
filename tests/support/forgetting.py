"""Conversations to forget, and the event that says so."""

from typing import Any

from shared.chat.letters import letter_from_push
from shared.memory import cases, conversations, failures, records
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Question
from tests.support.factories import envelope, push, question
from tests.support.golden_events import golden, with_message
from tests.support.ingest_side import BENS_DM, GROUP, anew

KEPT_IN = (conversations.COLLECTION, records.COLLECTION, failures.COLLECTION, cases.COLLECTION, FEEDBACK)
numbers = iter(range(10_000))


def asked_in(conversation: str, space: str, *, named_after_thread: bool = True, **fields: Any) -> Question:
    """A question of a conversation, with words that are nowhere else."""
    number = next(numbers)
    thread = conversation.rsplit("/", maxsplit=1)[-1] if named_after_thread else f"other{number}"
    given = {
        "id": f"{space}/messages/{thread}.Q{number}",
        "conversation": conversation,
        "space": space,
        "thread": conversation if "/threads/" in conversation else None,
        "text": f"the words of {conversation} number {number}",
    }
    return question(**{**given, **fields})


def letter_of(asked: Question) -> DeadLetter:
    headers, body = push(envelope(question=asked))
    return letter_from_push({**headers, "X-Goog-Pubsub-Message-Id": asked.id}, body)


def forget(shape: str, conversation: str, words: str = "yes") -> dict[str, Any]:
    """The event of `/forget` in a conversation."""
    if conversation == BENS_DM:
        return with_message(anew(golden(f"{shape}-slash-forget-yes")), argumentText=f" {words}")
    event = anew(golden(f"{shape}-slash-forget"))
    changed = with_message(event, argumentText=f" {words}", thread={"name": conversation})
    return {**changed, "thread": {"name": conversation}} if shape == "classic" else changed


def new_thread(space: str = GROUP) -> str:
    return f"{space}/threads/thread{next(numbers)}"
