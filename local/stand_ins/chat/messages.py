"""Chat's rules for messages: ids, threads, idempotency, updates, deletion (docs of spaces.messages)."""

import datetime
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.apps import chat_v1

from local.stand_ins.chat.directory import BOT, space_named
from local.stand_ins.chat.masks import copy_fields, masked_fields
from local.stand_ins.chat.store import MessageStore, Stored
from local.stand_ins.chat.validation import ProtoMessage, check_content, message_from, message_json
from local.stand_ins.http_gate import RestError, already_exists, invalid, not_found, unimplemented

CLIENT_ID = re.compile(r"client-[a-z0-9-]{1,56}")
THREAD_NAME = re.compile(r"(spaces/[^/]+)/threads/[^/]+")
ON_CREATE = ("text", "markup_syntax", "cards_v2", "accessory_widgets", "fallback_text")

ReplyOption = chat_v1.CreateMessageRequest.MessageReplyOption
Json = dict[str, Any]


@dataclass(frozen=True)
class CreateOptions:
    """The query parameters of a create call. Empty means not given."""

    message_id: str = ""
    reply_option: int = ReplyOption.MESSAGE_REPLY_OPTION_UNSPECIFIED


class Messages:
    """The messages of all spaces. Calls `on_change` after every write."""

    def __init__(self, store: MessageStore, on_change: Callable[[], None]) -> None:
        self._store = store
        self._on_change = on_change

    def create(self, space: str, draft: ProtoMessage, options: CreateOptions) -> Json:
        """Create a message of the bot. Raises RestError 400, 404, 409, 501."""
        space_named(space)
        self._check_client_id(space, options.message_id)
        thread = self._thread_for(space, draft.thread, options.reply_option)
        message = chat_v1.Message.pb()()
        copy_fields(ON_CREATE, draft, message)
        message.client_assigned_message_id = options.message_id
        check_content(message)
        return self._add(message, space, thread, BOT, options)

    def create_by_person(self, space: str, fields: Json, sender: Json, thread: str | None) -> Json:
        """Create a message of `sender`, in `thread` or a new one. Raises RestError 400, 404."""
        space_named(space)
        if thread is not None and not self._in_space(space, thread):
            raise not_found(f"Thread {thread} was not found.")
        message = message_from(fields)
        check_content(message)
        return self._add(message, space, thread, sender, CreateOptions())

    def check_bot_in(self, space: str) -> None:
        """Raises RestError 404 if there is no such space, and 403 if the bot is not a member of it."""
        space_named(space)
        if space in self._store.without_bot():
            raise RestError(403, "PERMISSION_DENIED", f"The app is not a member of {space}.")

    def get(self, space: str, message_id: str) -> Stored:
        """The message with either of its ids. Raises RestError 404 if it is missing or deleted."""
        found = self._store.find(space_named(space).name, message_id)
        if found is None or found.deleted:
            raise not_found(f"Message {space}/messages/{message_id} was not found.")
        return found

    def update(self, space: str, message_id: str, draft: ProtoMessage, mask: str) -> Json:
        """Replace the fields in `mask`, clear those absent from `draft`. Raises RestError 400, 403, 404."""
        fields = masked_fields(mask)
        message = message_from(self.own(space, message_id).message)
        copy_fields(fields, draft, message)
        check_content(message)
        message.last_update_time.FromDatetime(_now())
        self._store.replace(message_json(message))
        self._on_change()
        return message_json(message)

    def readable(self, space: str, message_id: str) -> Stored:
        """The message, if the bot may read it. Raises RestError 404, and 403 if it is only for people."""
        stored = self.get(space, message_id)
        addressed = "annotations" in stored.message or space_named(space).is_dm
        if not addressed and stored.message["sender"] != BOT:
            raise RestError(403, "PERMISSION_DENIED", "The app has no access to this message.")
        return stored

    def own(self, space: str, message_id: str) -> Stored:
        """The bot's own message. Raises RestError 404, and 403 if somebody else wrote it."""
        stored = self.get(space, message_id)
        if stored.message["sender"]["name"] != BOT["name"]:
            raise RestError(403, "PERMISSION_DENIED", "An app can change only the messages it created.")
        return stored

    def delete(self, stored: Stored) -> None:
        """Delete a message. Its ids stay taken."""
        self._store.delete(stored.message["name"])
        self._on_change()

    def _check_client_id(self, space: str, message_id: str) -> None:
        if not message_id:
            return
        if not CLIENT_ID.fullmatch(message_id):
            raise invalid(
                "messageId must start with client-, hold only lowercase letters, digits and hyphens,"
                " and be at most 63 characters long."
            )
        if self._store.find(space, message_id):
            raise already_exists(f"Message {space}/messages/{message_id} already exists.")

    def _thread_for(self, space: str, asked: ProtoMessage, option: int) -> str | None:
        """The thread of a reply; None starts a new one. Raises RestError 400, 404, 501."""
        if asked.name and not self._in_space(space, asked.name, exists=False):
            raise invalid(f"Invalid thread resource name: {asked.name}.")
        if asked.thread_key:
            raise unimplemented("threadKey")
        if option and not asked.name:
            raise invalid("messageReplyOption needs a thread.")
        if not option:
            return None
        if self._store.has_thread(asked.name):
            return str(asked.name)
        if option == ReplyOption.REPLY_MESSAGE_OR_FAIL:
            raise not_found(f"Thread {asked.name} was not found.")
        return None

    def _in_space(self, space: str, thread: str, *, exists: bool = True) -> bool:
        match = THREAD_NAME.fullmatch(thread)
        return match is not None and match[1] == space and (not exists or self._store.has_thread(thread))

    def _add(
        self, message: ProtoMessage, space: str, thread: str | None, sender: Json, options: CreateOptions
    ) -> Json:
        own_id = secrets.token_urlsafe(8)
        thread_id = thread.rpartition("/")[2] if thread else own_id
        fields = {
            **message_json(message),
            "name": f"{space}/messages/{thread_id}.{own_id}",
            "sender": sender,
            "createTime": _now().isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "thread": {**message_json(message.thread), "name": f"{space}/threads/{thread_id}"},
            "space": {"name": space},
        }
        if thread:
            fields["threadReply"] = True
        self._store.add(fields, client_id=options.message_id or None)
        self._on_change()
        return fields


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
