"""The one Chat message that a question leads to.

Its id is derived from the question's name, so writing it twice cannot make two messages: 409 means it is
there already. 404 on an update means that it was never made (the progress card failed), or that a person
has deleted it: then, and only then, a message with the next derived id takes its place.
"""

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

from google.api_core.exceptions import Conflict, NotFound
from google.apps.chat_v1.types import (
    CreateMessageNotificationOptions,
    CreateMessageRequest,
    MarkupSyntax,
    Message,
    UpdateMessageRequest,
)
from google.protobuf.field_mask_pb2 import FieldMask

from shared.deadline import Deadline
from shared.envelope import Question
from shared.errors import Transient
from shared.retry import call

#: Seconds one attempt of a write may take.
TIMEOUT = 5.0
#: A progress write is tried once, and briefly: it must never delay the answer.
PROGRESS_TIMEOUT = 3.0
#: The first message, and how many may take its place after a person has deleted it.
MOST_MESSAGES = 3

Card = dict[str, Any]
_REPLY: Any = CreateMessageRequest.MessageReplyOption.REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD
_SILENT: Any = CreateMessageNotificationOptions.NotificationType.NOTIFICATION_TYPE_NONE


@dataclass(frozen=True)
class Content:
    """What a message shows: Markdown text and cards (`card_id` and `card`, in the API's snake case).

    `fallback` is what a notification shows of a message that has only cards.
    """

    text: str = ""
    cards: list[Card] = field(default_factory=list)
    fallback: str = ""


def message_id(question_id: str, number: int = 0) -> str:
    """The client-assigned id: `client-` and lowercase hexadecimal digits, 63 characters in all."""
    return "client-" + hashlib.sha256(f"{question_id}:{number}".encode()).hexdigest()[:56]


class Chat:
    """Writes the messages of questions, over one `ChatServiceClient`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def post_progress(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post the progress card. Does nothing when the message is there already. Tried once."""
        self._create(question, 0, content, deadline, final=False)

    def update_progress(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Show progress in the message, if there is one. Tried once."""
        self._update(question, 0, content, deadline, final=False)

    def put_final(self, question: Question, content: Content, deadline: Deadline) -> str:
        """Make `content` what the question's message says, and return the message's name.

        Idempotent. Raises Permanent or Transient.
        """
        for number in range(MOST_MESSAGES):
            written = (
                self._update(question, number, content, deadline, final=True)
                or self._create(question, number, content, deadline, final=True)
                # There already: made by someone else just now, or deleted (ids are never free again).
                or self._update(question, number, content, deadline, final=True)
            )
            if written:
                return self._name(question, number)
        raise Transient("chat_message_deleted", f"{MOST_MESSAGES} messages were deleted")

    def said(self, question: Question, deadline: Deadline) -> str:
        """The text of the question's message as it is in Chat now; "" for a card or no message at all.

        Raises Permanent or Transient.
        """
        for number in range(MOST_MESSAGES):
            try:
                return str(self._get(self._name(question, number), deadline).text)
            except NotFound:
                continue
        return ""

    def say(self, question: Question, content: Content, deadline: Deadline) -> None:
        """Post a message of its own, once, for a question that does not enter the pipeline."""
        self._create(question, 0, content, deadline, final=True)

    def _create(
        self, question: Question, number: int, content: Content, deadline: Deadline, *, final: bool
    ) -> bool:
        request = CreateMessageRequest(
            parent=question.space,
            message=_message(content, question.thread),
            message_id=message_id(question.id, number),
            request_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{question.id}:{number}:{final}")),
        )
        if question.thread:  # without a thread the option is an error
            request.message_reply_option = _REPLY
        if not final:
            request.create_message_notification_options = CreateMessageNotificationOptions(
                notification_type=_SILENT
            )
        # Over REST a 409 is a plain Conflict: the client maps errors by their HTTP status alone.
        return self._write(self._client.create_message, request, Conflict, deadline, final=final)

    def _update(
        self, question: Question, number: int, content: Content, deadline: Deadline, *, final: bool
    ) -> bool:
        message = _message(content, None)
        message.name = self._name(question, number)
        request = UpdateMessageRequest(message=message, update_mask=FieldMask(paths=["text", "cards_v2"]))
        return self._write(self._client.update_message, request, NotFound, deadline, final=final)

    def _write(
        self, method: Any, request: Any, refusal: type[Exception], deadline: Deadline, *, final: bool
    ) -> bool:
        try:
            call(
                lambda timeout: method(request=request, retry=None, timeout=timeout),
                service="chat",
                deadline=deadline,
                timeout=TIMEOUT if final else PROGRESS_TIMEOUT,
                attempts=10 if final else 1,  # bounded by the deadline: one write a second for a space
                answers=(refusal,),
            )
        except refusal:
            return False
        return True

    def _get(self, name: str, deadline: Deadline) -> Message:
        message: Message = call(
            lambda timeout: self._client.get_message(name=name, retry=None, timeout=timeout),
            service="chat",
            deadline=deadline,
            timeout=TIMEOUT,
            answers=(NotFound,),
        )
        return message

    def _name(self, question: Question, number: int) -> str:
        return f"{question.space}/messages/{message_id(question.id, number)}"


def _message(content: Content, thread: str | None) -> Message:
    fields: dict[str, Any] = {"text": content.text, "cards_v2": content.cards}
    if content.text:
        fields["markup_syntax"] = MarkupSyntax.MARKUP_SYNTAX_MARKDOWN
    if content.fallback:
        fields["fallback_text"] = content.fallback
    if thread:
        fields["thread"] = {"name": thread}
    return Message(fields)
