"""The Chat messages that a question leads to: one, or one for each part of a long answer.

Their ids are derived from the question's name, so writing one twice cannot make two messages: 409 means it is
there already. One that was there and is not any more has been deleted by a person: then, and only then, a
message with the next derived id takes its place. We never delete any: people would see "Message deleted".
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.apps.chat_v1.types import Message

from shared.chat.api import Card, ChatApi, Content, Form
from shared.chat.slots import Slots
from shared.language.catalogue import text
from shared.messages.envelope import Question
from shared.messages.names import message_name
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient

__all__ = ["Card", "Chat", "Content", "Posted", "message_id", "open_chat", "part_role"]

#: The first message, and how many may take its place after a person has deleted it.
MOST_MESSAGES = 3
#: More further messages than any answer has.
MOST_PARTS = 20
#: The card id of a message that is no answer yet.
PROGRESS_CARD = "progress"


@dataclass(frozen=True)
class Posted:
    """Where the question's message is (None: in no thread that counts), and whether it was there before."""

    thread: str | None
    in_place: bool


def message_id(question_id: str, number: int = 0, role: str = "") -> str:
    """The client-assigned id: `client-` and lowercase hexadecimal digits, 63 characters in all.

    `number` counts the messages that have taken a deleted one's place; `role` is "" for the question's own
    message, or tells what else it is (`part 1`, `late`).
    """
    key = f"{question_id}:{role}:{number}" if role else f"{question_id}:{number}"
    return "client-" + hashlib.sha256(key.encode()).hexdigest()[:56]


def part_role(number: int) -> str:
    """The role of a further message of a long answer; the first one is number 1."""
    return f"part {number}"


def open_chat(client: Any, firestore: Any, writes_per_second: float) -> "Chat":
    """Chat over a `ChatServiceClient`; whose turn it is to write is noted in Firestore."""
    return Chat(ChatApi(client, Slots(firestore, writes_per_second)))


class Chat:
    """Writes the messages of questions."""

    def __init__(self, api: ChatApi) -> None:
        self._api = api

    def post_progress(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post the progress card, if the space is free. Tried once. Does nothing when any message is there
        already: so it can never cover an ending."""
        form = Form(content, question.thread)
        self._api.create(question.space, message_id(question.id), form, deadline, final=False)

    def update_progress(self, question: Question, content: Content, deadline: Deadline) -> bool:
        """Show progress in the message; False when there is none, or the space is busy. Tried once."""
        return self._api.update(_name(question), content, deadline, final=False) is not None

    def put_final(
        self,
        question: Question,
        content: Content,
        deadline: Deadline,
        *,
        more: Sequence[Content] = (),
        parts: int = 1,
    ) -> Posted:
        """Make `content` what the question's message says, and `more` what follows it in further messages.

        Idempotent. `parts` is the most messages that there have ever been: those that are left over say that
        they are no part any more. Raises Permanent or Transient.
        """
        message, in_place = self._put(question, "", Form(content, question.thread), deadline, there=True)
        # Where the first part is: the question's thread may not be there any more.
        thread = question.thread and (message.thread.name or question.thread)
        for number, part in enumerate(more, start=1):
            self._put(question, part_role(number), Form(part, thread), deadline, there=False)
        for number in range(len(more) + 1, parts):
            self._take_back(question, part_role(number), deadline)
        return Posted(thread, in_place)

    def await_late_writes(self, question: Question, deadline: Deadline) -> bool:
        """Wait until Chat can no longer apply a write into the question's messages that it has not answered.

        Returns whether there was one: it may have covered what was written after it. Raises Transient when
        that is beyond the deadline.
        """
        return self._api.await_late_writes(_names(question), deadline)

    def put_accessory(self, name: str, accessory: list[Card], deadline: Deadline) -> None:
        """Replace the buttons below a message, and nothing else of it. Raises Permanent or Transient."""
        content = Content(accessory=accessory)
        self._api.update(name, content, deadline, final=True, mask=("accessory_widgets",))

    def say(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post a message of its own, once, for a question that does not enter the pipeline."""
        form = Form(content, question.thread)
        self._api.create(question.space, message_id(question.id), form, deadline, final=True)

    def point(self, question: Question, to: Posted, content: Content, deadline: Deadline) -> None:
        """Point to a message that nobody may have noticed, by a further one beside it, once."""
        identity = message_id(question.id, role="late")
        self._api.create(question.space, identity, Form(content, to.thread), deadline, final=True)

    def shown(self, question: Question, parts: int, deadline: Deadline) -> list[str | None]:
        """What so many of the question's messages say now (None: there is no such message).

        Raises Permanent or Transient.
        """
        roles = ["", *map(part_role, range(1, parts))]
        messages = (self._api.get(_name(question, role=role), deadline) for role in roles)
        return [message and message.text for message in messages]

    def question_of(self, name: str, question_ids: Collection[str], deadline: Deadline) -> str | None:
        """To which of some questions a message belongs; None when it is not there, or is none of theirs.

        Raises Permanent or Transient.
        """
        message = self._api.get(name, deadline)
        known = message.client_assigned_message_id if message is not None else ""
        return next((each for each in question_ids if known and known in _identities(each)), None)

    def _put(
        self, question: Question, role: str, form: Form, deadline: Deadline, *, there: bool
    ) -> tuple[Message, bool]:
        """Write one message; also whether it was there before. `there`: it is likely to be there already."""
        for number in range(MOST_MESSAGES):
            name, identity = _name(question, number, role), message_id(question.id, number, role)
            if there and (written := self._api.update(name, form.content, deadline, final=True)) is not None:
                return written, True
            written = self._api.create(question.space, identity, form, deadline, final=True)
            if written is not None:
                return written, False
            # There already: made by someone else just now, or deleted (ids are never free again).
            written = self._api.update(name, form.content, deadline, final=True)
            if written is not None:
                return written, True
        raise Transient("chat_message_deleted", f"{MOST_MESSAGES} messages were deleted")

    def _take_back(self, question: Question, role: str, deadline: Deadline) -> None:
        taken_back = Content(text(question.language, "answer", "taken_back"))
        for number in range(MOST_MESSAGES):
            if self._api.update(_name(question, number, role), taken_back, deadline, final=True) is not None:
                return


def _names(question: Question) -> set[str]:
    """The names of all messages that a question may have led to."""
    return {message_name(question.space, identity) for identity in _identities(question.id)}


def _identities(question_id: str) -> Iterator[str]:
    """The ids of all messages that a question may have led to."""
    roles = ["", "late", *map(part_role, range(1, MOST_PARTS))]
    return (message_id(question_id, number, role) for role in roles for number in range(MOST_MESSAGES))


def _name(question: Question, number: int = 0, role: str = "") -> str:
    return message_name(question.space, message_id(question.id, number, role))
