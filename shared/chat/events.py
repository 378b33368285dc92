"""Understands Google Chat's interaction events: what a person did, and whether it is a question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shared.chat.payloads import Json, Payload, part, parts, payload
from shared.chat.places import Place, named, place_of
from shared.chat.said import Said, said_in, whole
from shared.messages.envelope import Language, Question
from shared.messages.names import MESSAGE
from shared.runtime.errors import Permanent

Command = Literal["ask", "forget", "help", "unknown"]
#: The ids of slash and quick commands, as docs/chat.md says to configure them.
COMMANDS: Mapping[str, str] = {"1": "ask", "2": "forget", "3": "help", "4": "forget", "5": "help"}
_NAMED: Mapping[str, Command] = {"/ask": "ask", "/forget": "forget", "/help": "help"}
#: How Chat names the app itself (developers.google.com/workspace/chat/api/reference/rest/v1/User).
THE_APP = "users/app"
#: A command that is typed as text, for apps without configured commands.
_TYPED = re.compile(r"(/ask|/forget|/help)(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """A question. Its text has no mention of the bot. `files` is the number of attached files."""

    place: Place
    question: Question
    files: int = 0


@dataclass(frozen=True)
class Mentioned:
    """The bot was mentioned without any words, but perhaps with files."""

    place: Place
    files: int = 0


@dataclass(frozen=True)
class Commanded:
    """A command other than a question. `words` is the text after it."""

    place: Place
    command: Command
    words: str = ""


@dataclass(frozen=True)
class Added:
    """The bot was added to a space, without a message to it."""

    place: Place


@dataclass(frozen=True)
class Removed:
    """The bot was removed from a space. It can no longer post there."""

    place: Place


@dataclass(frozen=True)
class Clicked:
    """One of our buttons was clicked. `message` is the name of its message; `inputs` are the card's."""

    place: Place
    action: str
    message: str
    parameters: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ignored:
    """An event that needs no reply. `kind` says which event, and why."""

    kind: str


Event = Asked | Mentioned | Commanded | Added | Removed | Clicked | Ignored


def understand(
    body: bytes, commands: Mapping[str, str] = COMMANDS, spoken: tuple[Language, ...] | None = None
) -> Event:
    """Read an event. `commands` maps command ids to names. `spoken` are the languages that the bot speaks
    (None: all).

    Raises Permanent: `event_malformed` if a required part is missing, `event_unknown` if it does not have one
    of Chat's formats.
    """
    event = payload(body)
    if event.kind == "silent":
        return Ignored(event.name)
    if _by_a_bot(event):
        return Ignored(f"{event.name} of a bot")
    said = said_in(event.message)
    place = place_of(event, said.words, body, spoken)
    match event.kind:
        case "removed":
            return Removed(place)
        case "clicked":
            return _clicked(event, place)
        case _:
            return _spoken(event, place, said, commands)


def question_of(body: bytes, spoken: tuple[Language, ...] | None = None) -> Question | None:
    """The question in an event, if there is one. Never fails."""
    try:
        event = understand(body, spoken=spoken)
    except Permanent:
        return None
    return event.question if isinstance(event, Asked) else None


def _spoken(event: Payload, place: Place, said: Said, commands: Mapping[str, str]) -> Event:
    """A message, a command, or an added bot. The last may come with one of the others."""
    if event.kind == "added" and event.message_follows:
        return Ignored(f"{event.name}, and the message follows")
    command, words = _command(event, said.words, commands)
    if event.kind == "added" and command is None and not words:
        return Added(place)
    if command not in {None, "ask"}:
        return Commanded(place, command or "unknown", words)
    files = len(parts(event.message, "attachment"))
    return Asked(place, _question(event, place, said, words), files) if words else Mentioned(place, files)


def _by_a_bot(event: Payload) -> bool:
    """Whether a bot caused the event. For a click only the user is checked: the message is the bot's own."""
    who = [event.user] if event.kind == "clicked" else [event.user, part(event.message, "sender")]
    return any(each.get("type") == "BOT" or each.get("name") == THE_APP for each in who)


def _command(event: Payload, said: str, commands: Mapping[str, str]) -> tuple[Command | None, str]:
    """The command, if there is one, and the other words."""
    typed = _TYPED.fullmatch(said)
    name = _slash_name(event.message)
    if event.kind == "command" or event.command_id is not None or name:
        # The typed name decides, else the id: a quick command has no name, and others may have other names.
        found = _NAMED.get(name, commands.get(event.command_id or "", "unknown"))
        return next((known for known in _NAMED.values() if known == found), "unknown"), said
    return (_NAMED[typed[1].lower()], (typed[2] or "").strip()) if typed else (None, said)


def _slash_name(message: Json) -> str:
    names = (part(each, "slashCommand").get("commandName") for each in parts(message, "annotations"))
    return next((name.lower() for name in names if isinstance(name, str)), "")


def _clicked(event: Payload, place: Place) -> Clicked:
    listed = {str(each.get("key")): each.get("value") for each in parts(event.action, "parameters")}
    given = {**listed, **part(event.common, "parameters")}
    parameters = {whole(name): whole(value) for name, value in given.items() if isinstance(value, str)}
    # An add-on does not get the function's name, so our buttons also name the action in a parameter.
    function = event.common.get("invokedFunction") or event.action.get("actionMethodName")
    action = parameters.pop("action", function if isinstance(function, str) else "")
    message = named(event.message.get("name"), MESSAGE, "message.name")
    return Clicked(place, action, message, parameters, _inputs(part(event.common, "formInputs")))


def _inputs(form: Json) -> dict[str, tuple[str, ...]]:
    values = {name: part(part(form, name), "stringInputs").get("value") for name in form}
    return {
        name: tuple(whole(each) for each in given if isinstance(each, str))
        for name, given in values.items()
        if isinstance(given, list)
    }


def _question(event: Payload, place: Place, said: Said, words: str) -> Question:
    if place.conversation is None:
        raise Permanent("event_malformed", "thread.name")
    return Question(
        id=named(event.message.get("name"), MESSAGE, "message.name"),
        conversation=place.conversation,
        space=place.space,
        thread=place.thread,
        person=place.person,
        text=words,
        as_written=said.as_written if said.as_written != said.words else None,
        quote=said.quote or None,
        language=place.language,
        asked_at=place.at,
    )
