"""Registers a question with one read and one commit: it counts the asker's questions, reads the history,
and records that the question waits for an answer.

Because of this commit, an event that is sent twice is one question. A question that the bot must forget is
not registered.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any

from ingest_fn.pace import Pace
from shared.chat.places import Place
from shared.language.courtesies import is_small_talk
from shared.language.follow_ups import is_unclear
from shared.memory.conversations import Conversations, history_in, known_in
from shared.memory.firestore import Fields, change_all
from shared.memory.forgotten import Forgotten, covers
from shared.memory.records import Records, standing_in
from shared.messages.ending import ANSWERED
from shared.messages.envelope import Question, Turn
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line

#: Seconds for reading and writing. A question that cannot be registered still gets an answer.
WAIT_FOR_REGISTERING = 4.0


class Outcome(Enum):
    """What to do with a question."""

    GO_ON = auto()
    #: It has already ended: the event was sent again.
    ENDED = auto()
    TOO_MANY = auto()
    #: It refers to a message that the bot does not know.
    UNCLEAR = auto()
    FORGOTTEN = auto()


@dataclass(frozen=True)
class Registered:
    """What to do with a question, and its history.

    `of_space` is the memory of the space, in which a thread of a direct message may have begun. None if it
    was not read.
    """

    outcome: Outcome = Outcome.GO_ON
    history: tuple[Turn, ...] = ()
    of_space: tuple[Turn, ...] | None = None


class Register:
    """The register in one Firestore database."""

    def __init__(self, client: Any, pace: Pace, conversations: Conversations, records: Records) -> None:
        self._client = client
        self._pace = pace
        self._conversations = conversations
        self._records = records
        self._forgotten = Forgotten(client)

    def add(self, place: Place, question: Question, deadline: Deadline) -> Registered:
        """Register a question. Never fails: without Firestore the question goes on without a history."""
        now, with_space = datetime.now(UTC), place.flat and question.conversation != place.space
        registered = Registered()

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal registered
            asker, conversation, record, *others = documents
            space = others.pop(0) if with_space else None
            past = history_in(conversation, question, now)
            rank = standing_in(record, now).rank
            asked = self._pace.counted(asker, question.id, now)
            if covers(others, question):
                registered = Registered(Outcome.FORGOTTEN)
            elif past.answered or (rank is not None and rank >= (0, ANSWERED)):
                registered = Registered(Outcome.ENDED)
            elif asked is None:
                registered = Registered(Outcome.TOO_MANY)
            elif place.replies and not (past.history or question.quote) and _is_unclear(question):
                registered = Registered(Outcome.UNCLEAR)
            else:
                known = known_in(space, now) if with_space else None
                registered = Registered(Outcome.GO_ON, past.history, known)
                pending = self._conversations.with_pending(conversation, question, now)
                opened = None if standing_in(record, now).known else self._records.opened(question, now)
                return [asked or None, pending, opened, *(None for _ in documents[3:])]
            return []

        references = [
            self._pace.reference(question.person),
            self._conversations.reference(question.conversation),
            self._records.reference(question.id),
            *([self._conversations.reference(place.space)] if with_space else []),
            *self._forgotten.references(question),
        ]
        try:
            change_all(self._client, references, edit, deadline.within(WAIT_FOR_REGISTERING))
        except Exception as error:
            logs.error("The question is not registered; continuing", error=in_one_line(error))
        return registered


def _is_unclear(question: Question) -> bool:
    return is_unclear(question.text) and not is_small_talk(question.text)
