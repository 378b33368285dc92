"""Single calls of the Chat API. They wait for a turn, are retried, and are simplified if refused."""

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from google.api_core.exceptions import BadRequest, Conflict, NotFound
from google.apps.chat_v1.types import CreateMessageRequest, MarkupSyntax, Message, UpdateMessageRequest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.json_format import MessageToJson

from shared.chat.limits import MOST_BYTES, MOST_UNITS, MOST_WIDGETS, units
from shared.chat.slots import Slots
from shared.messages.names import message_name, space_of
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, Transient, classify
from shared.runtime.retry import CHAT_FINAL, CHAT_PROGRESS, CHAT_READ, call

#: After this many seconds Chat no longer applies a write that it has not confirmed. This is an assumption,
#: because Google does not say. It is shorter than the shortest backoff of our subscriptions (10 s), so that a
#: redelivery comes later.
LATENESS = 8.0
#: The reason code if Chat's quota refused a write. The write has changed nothing.
THROTTLED = "chat_throttled"

Card = dict[str, Any]
_REPLY: Any = CreateMessageRequest.MessageReplyOption.REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD
#: The fields that an update replaces.
ALL = ("text", "cards_v2", "accessory_widgets")


@dataclass(frozen=True)
class Content:
    """The content of a message: Markdown text and cards (`card_id` and `card`, in the API's snake case).

    `bare` is the text to send without cards if Chat refuses the cards ("" means `text`). `accessory` are the
    widgets below the message: lists of buttons.
    """

    text: str = ""
    cards: list[Card] = field(default_factory=list)
    bare: str = ""
    accessory: list[Card] = field(default_factory=list)


@dataclass(frozen=True)
class Form:
    """One way to send a message. If `thread` is None, it starts a new thread."""

    content: Content
    thread: str | None = None

    def simpler(self, refusal: str) -> "Form | None":
        """The next form to try after Chat replied 400 with the text `refusal`. None if there is none."""
        card_less = replace(self, content=without_cards(self.content))
        decorated = bool(self.content.cards or self.content.accessory)
        thread_less = replace(self, thread=None)
        if self.thread and "thread" in refusal.lower():
            return thread_less
        if decorated and card_less.content.text:
            return card_less
        return thread_less if self.thread else None


def fits(content: Content) -> bool:
    """Whether Chat accepts the size of a message. Japanese is sent as `\\uXXXX`, six bytes a character."""
    of_cards = (len(section["widgets"]) for card in content.cards for section in card["card"]["sections"])
    widgets = sum(of_cards) + len(content.accessory)
    sent = MessageToJson(Message.pb(message_of(Form(content))), use_integers_for_enums=True)
    return units(content.text) <= MOST_UNITS and len(sent) <= MOST_BYTES and widgets <= MOST_WIDGETS


def without_cards(content: Content) -> Content:
    """The content as text only."""
    return Content(content.bare or content.text)


def message_of(form: Form) -> Message:
    """The API message for a form."""
    fields: dict[str, Any] = {
        "text": form.content.text,
        "cards_v2": form.content.cards,
        "accessory_widgets": form.content.accessory,
    }
    if form.content.text:
        fields["markup_syntax"] = MarkupSyntax.MARKUP_SYNTAX_MARKDOWN
    if form.thread:
        fields["thread"] = {"name": form.thread}
    return Message(fields)


class ChatApi:
    """Writes and reads messages over one `ChatServiceClient`.

    A write with `final` waits for its turn and is retried until the deadline. A write without it is tried
    once, and is skipped if the space is busy.
    """

    def __init__(self, client: Any, slots: Slots, lateness: float = LATENESS) -> None:
        self._client = client
        self._slots = slots
        self._lateness = lateness
        #: Message name → monotonic time until which Chat may still apply an unconfirmed write.
        self._doubtful: dict[str, float] = {}

    def create(
        self, space: str, identity: str, form: Form, deadline: Deadline, *, final: bool
    ) -> Message | None:
        """Create a message. None if the id is taken, or the space is busy. Raises Permanent or Transient."""

        def request(form: Form) -> CreateMessageRequest:
            # No request id: Chat would reply to a repeated request id with the old message, without saying
            # that it changed nothing. For a repeated message id it replies 409.
            asked = CreateMessageRequest(parent=space, message=message_of(form), message_id=identity)
            if form.thread:  # the option is an error without a thread
                asked.message_reply_option = _REPLY
            return asked

        # Over REST a 409 is a plain Conflict: the client maps errors by their HTTP status alone.
        name = message_name(space, identity)
        return self._write(self._client.create_message, request, Conflict, name, form, deadline, final=final)

    def update(
        self, name: str, content: Content, deadline: Deadline, *, final: bool, mask: Sequence[str] = ALL
    ) -> Message | None:
        """Replace the fields of a message that `mask` names. None if the message does not exist (any more),
        or the space is busy.

        Raises Permanent or Transient.
        """

        def request(form: Form) -> UpdateMessageRequest:
            message = message_of(form)
            message.name = name
            return UpdateMessageRequest(message=message, update_mask=FieldMask(paths=mask))

        form = Form(content)
        return self._write(self._client.update_message, request, NotFound, name, form, deadline, final=final)

    def get(self, name: str, deadline: Deadline) -> Message | None:
        """The current message. None if it does not exist. Raises Permanent or Transient."""
        try:
            message: Message = call(
                lambda timeout: self._client.get_message(name=name, retry=None, timeout=timeout),
                CHAT_READ,
                deadline,
                answers=(NotFound,),
            )
        except NotFound:
            return None
        return None if message.delete_time else message

    def await_late_writes(self, names: Collection[str], deadline: Deadline) -> bool:
        """Wait until Chat can no longer apply any unconfirmed write into these messages.

        Returns whether there was one. Raises Transient if the wait would be longer than the deadline.
        """
        found = [until for name, until in list(self._doubtful.items()) if name in names]
        if not found:
            return False
        wait = max(found) - time.monotonic()
        if wait > deadline.remaining:
            raise Transient("chat_unavailable", "a write may still be applied", in_doubt=True)
        time.sleep(max(0.0, wait))
        for name in names:
            if self._doubtful.get(name, math.inf) <= time.monotonic():
                self._doubtful.pop(name, None)
        return True

    def _write(
        self,
        method: Any,
        request: Any,
        refusal: type[Exception],
        name: str,
        form: Form,
        deadline: Deadline,
        *,
        final: bool,
    ) -> Message | None:
        current: Form | None = (
            form if fits(form.content) else replace(form, content=without_cards(form.content))
        )
        while current is not None:
            if not self._is_its_turn(name, deadline, final=final):
                return None
            try:
                written = self._send(method, request(current), refusal, name, deadline, final=final)
            except refusal:
                return None
            except BadRequest as error:
                current, refused = current.simpler(str(error)), error
                logs.warning("Chat refuses the message in this form", simpler=current is not None)
            else:
                return None if written.delete_time else written
        raise classify(refused, "chat") from refused

    def _is_its_turn(self, name: str, deadline: Deadline, *, final: bool) -> bool:
        space = space_of(name)
        if final:
            self._slots.wait(space, deadline)
        elif self._slots.is_busy(space):
            logs.info("Progress is not shown: the space is busy")
            return False
        return True

    def _send(
        self,
        method: Any,
        request: Any,
        refusal: type[Exception],
        name: str,
        deadline: Deadline,
        *,
        final: bool,
    ) -> Message:
        def failed(trouble: StepError) -> None:
            if trouble.reason == THROTTLED:
                self._slots.refused(space_of(name))
            elif isinstance(trouble, Transient) and trouble.in_doubt:
                self._doubtful[name] = time.monotonic() + self._lateness

        message: Message = call(
            lambda timeout: method(request=request, retry=None, timeout=timeout),
            CHAT_FINAL if final else CHAT_PROGRESS,
            deadline,
            answers=(refusal, BadRequest),
            failed=failed,
        )
        return message
