"""The Chat messages for a question: one, or one for each part of a long answer.

Their ids are derived from the question's name, so creating a message twice cannot make two messages: 409
means that it exists already. If a message existed and is gone, a person has deleted it. Only then a message
with the next derived id replaces it. The bot never deletes a message, because people would see "Message
deleted".
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

#: The first message and its replacements, if people delete it.
MOST_MESSAGES = 3
#: More than the number of parts of any answer.
MOST_PARTS = 20
#: The card id of a progress card.
PROGRESS_CARD = "progress"


@dataclass(frozen=True)
class Posted:
    """Where the question's message is (None: not in a thread), and whether it existed before."""

    thread: str | None
    in_place: bool


def message_id(question_id: str, number: int = 0, role: str = "") -> str:
    """The client-assigned id of a message: `client-` and lowercase hexadecimal digits, 63 characters in all.

    `number` counts the replacements of deleted messages. `role` is "" for the question's main message; others
    are `part 1` and `late`.
    """
    key = f"{question_id}:{role}:{number}" if role else f"{question_id}:{number}"
    return "client-" + hashlib.sha256(key.encode()).hexdigest()[:56]


def part_role(number: int) -> str:
    """The role of a further message of a long answer. The first further message has number 1."""
    return f"part {number}"


def open_chat(client: Any, firestore: Any, writes_per_second: float) -> "Chat":
    """Chat over a `ChatServiceClient`. Firestore stores the turns to write into busy spaces."""
    return Chat(ChatApi(client, Slots(firestore, writes_per_second)))


class Chat:
    """Writes the messages of questions."""

    def __init__(self, api: ChatApi) -> None:
        self._api = api

    def post_progress(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post the progress card, if the space is not busy. It is tried once.

        This does nothing if the message exists already, so it can never cover an ending.
        """
        form = Form(content, question.thread)
        self._api.create(question.space, message_id(question.id), form, deadline, final=False)

    def update_progress(self, question: Question, content: Content, deadline: Deadline) -> bool:
        """Show progress in the message. False if there is none, or the space is busy. It is tried once."""
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
        """Show `content` in the question's message, and `more` in further messages. Idempotent.

        `parts` is the most messages that any ending of the question has had. The messages that are left over
        are changed to say that they are no longer part of the answer. Raises Permanent or Transient.
        """
        message, in_place = self._put(question, "", Form(content, question.thread), deadline, there=True)
        # Use the thread of the first part: the question's own thread may be gone.
        thread = question.thread and (message.thread.name or question.thread)
        for number, part in enumerate(more, start=1):
            self._put(question, part_role(number), Form(part, thread), deadline, there=False)
        for number in range(len(more) + 1, parts):
            self._take_back(question, part_role(number), deadline)
        return Posted(thread, in_place)

    def await_late_writes(self, question: Question, deadline: Deadline) -> bool:
        """Wait until Chat can no longer apply any unconfirmed write into the question's messages.

        Returns whether there was one, because it may have covered a later write. Raises Transient if the wait
        would be longer than the deadline.
        """
        return self._api.await_late_writes(_names(question), deadline)

    def put_accessory(self, name: str, accessory: list[Card], deadline: Deadline) -> None:
        """Replace only the buttons below a message. Raises Permanent or Transient."""
        content = Content(accessory=accessory)
        self._api.update(name, content, deadline, final=True, mask=("accessory_widgets",))

    def say(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post one message, once, for a question that does not enter the pipeline."""
        form = Form(content, question.thread)
        self._api.create(question.space, message_id(question.id), form, deadline, final=True)

    def point(self, question: Question, to: Posted, content: Content, deadline: Deadline) -> None:
        """Post one more message, once, that points to an updated message that people may not have noticed."""
        identity = message_id(question.id, role="late")
        self._api.create(question.space, identity, Form(content, to.thread), deadline, final=True)

    def shown(self, question: Question, parts: int, deadline: Deadline) -> list[str | None]:
        """The current texts of the first `parts` messages of a question (None: the message does not exist).

        Raises Permanent or Transient.
        """
        roles = ["", *map(part_role, range(1, parts))]
        messages = (self._api.get(_name(question, role=role), deadline) for role in roles)
        return [message and message.text for message in messages]

    def question_of(self, name: str, question_ids: Collection[str], deadline: Deadline) -> str | None:
        """The id of the question, among `question_ids`, that a message belongs to. None if there is none.

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
            # The id exists: another process has just created the message, or a person deleted it (ids stay
            # taken).
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
    """The names of all messages that a question may have."""
    return {message_name(question.space, identity) for identity in _identities(question.id)}


def _identities(question_id: str) -> Iterator[str]:
    """The ids of all messages that a question may have."""
    roles = ["", "late", *map(part_role, range(1, MOST_PARTS))]
    return (message_id(question_id, number, role) for role in roles for number in range(MOST_MESSAGES))


def _name(question: Question, number: int = 0, role: str = "") -> str:
    return message_name(question.space, message_id(question.id, number, role))
