"""Where an event of Google Chat happened, who did it, and which conversation it belongs to."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.chat.payloads import Json, Payload, storable
from shared.chat.said import whole
from shared.language.detect import of_person
from shared.messages.envelope import Language
from shared.messages.names import LONGEST, MESSAGE, SPACE, THREAD, message_name, opens_thread, space_of
from shared.runtime.errors import Permanent

DIRECT = "DIRECT_MESSAGE"
#: Real names are short. The limit keeps derived names short enough.
_LONGEST_SPACE = 200


@dataclass(frozen=True)
class Place:
    """Where something happened and who did it.

    `kind` is Chat's spaceType. `thread` is where a reply goes (None: not into a thread). `conversation` is
    the resource name of the conversation: the thread, or the space of a direct message (None: there is no
    thread). `flat`: the whole space is one conversation, but people may also reply in a thread of it.
    `opens`: the event is a message that opens a thread, so the thread has no history. `replies`: it is a
    message in a thread of a space that somebody else may have opened. `domains` are the
    domain of the person's e-mail address, and Google's id of the domain. `key` identifies the event. It is
    the same when the event is sent again.
    """

    space: str
    kind: str
    thread: str | None
    conversation: str | None
    flat: bool
    opens: bool
    replies: bool
    person: str
    domains: tuple[str, ...]
    language: Language
    at: datetime
    key: str


def place_of(event: Payload, said: str, body: bytes, spoken: tuple[Language, ...] | None = None) -> Place:
    """The place of an event. `said` is the person's text. Raises Permanent (`event_malformed`).

    `spoken` are the languages that the bot speaks there (None: all).
    """
    name = event.message.get("name")
    space = named(space_of(str(name or event.space.get("name"))), SPACE, "space.name")
    if len(space) > _LONGEST_SPACE:
        raise Permanent("event_malformed", "space.name")
    kind, thread, reply = _kind(event.space), event.thread.get("name"), _is_reply(event)
    if thread is not None:
        thread = named(thread, THREAD, "thread.name")
    conversation = thread
    flat = kind == DIRECT or event.space.get("spaceThreadingState") == "UNTHREADED_MESSAGES"
    if flat:
        # Each message there has a thread of its own, but people see one conversation.
        thread = thread if reply else None
        conversation = thread or space
    return Place(
        space=space,
        kind=kind,
        thread=thread,
        conversation=conversation,
        flat=flat,
        opens=conversation != space and reply is False,
        replies=not flat and reply is True,
        person=whole(str(event.user.get("name") or "users/unknown")),
        domains=_domains(event.user),
        language=of_person(_locale(event.common), said, spoken),
        at=_time((event.kind != "clicked" and event.message.get("createTime")) or event.time),
        key=_key(event, space, body),
    )


def named(value: Any, pattern: re.Pattern[str], where: str) -> str:
    """A resource name. Raises Permanent (`event_malformed`) for anything else."""
    if not isinstance(value, str) or not pattern.fullmatch(value) or len(value) > LONGEST:
        raise Permanent("event_malformed", where)
    return value


def _is_reply(event: Payload) -> bool | None:
    """Whether a message is a reply in an existing thread. None if Chat does not say."""
    told = event.message.get("threadReply")
    if isinstance(told, bool):
        return told
    opens = event.kind != "clicked" and opens_thread(str(event.message.get("name")))
    return False if opens else None


def _kind(space: Json) -> str:
    """Chat's spaceType. The deprecated `type` counts only without it: there, a group chat is a ROOM."""
    if space.get("singleUserBotDm") is True:
        return DIRECT
    kind = space.get("spaceType") or (DIRECT if space.get("type") == "DM" else None)
    return next((known for known in (DIRECT, "GROUP_CHAT") if kind == known), "SPACE")


def _domains(user: Json) -> tuple[str, ...]:
    email, domain_id = user.get("email"), user.get("domainId")
    domain = email.rpartition("@")[2].lower() if isinstance(email, str) and "@" in email else None
    return tuple(each for each in (domain, domain_id) if isinstance(each, str))


def _key(event: Payload, space: str, body: bytes) -> str:
    if event.kind == "message":
        return named(event.message.get("name"), MESSAGE, "message.name")
    happened = f"{event.name} {event.time} {event.user.get('name')} {event.message.get('name')}"
    same = whole(happened).encode() if event.time else storable(body)
    return message_name(space, f"{event.kind}-{hashlib.sha256(same).hexdigest()[:40]}")


def _locale(common: Json) -> str | None:
    locale = common.get("userLocale")
    return locale if isinstance(locale, str) else None


def _time(value: Any) -> datetime:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return datetime.now(UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
