"""People's actions with the bot, as interaction events in both formats.

Sources: the Chat API's schema DeprecatedEvent (classic), and developers.google.com, "Workspace add-ons: event
objects" and "Convert a Chat app to a Workspace add-on" (what differs).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from local.stand_ins.chat.directory import BOT, ChatSpace, Person

Json = dict[str, Any]
Kind = Literal["message", "added", "removed", "clicked", "command"]
CommandType = Literal["SLASH_COMMAND", "QUICK_COMMAND"]
#: The part that a click plays for a dialog; "" if it plays none.
DialogType = Literal["", "REQUEST_DIALOG", "SUBMIT_DIALOG"]


@dataclass(frozen=True)
class ChatCommand:
    """A command as configured for the Chat app. People see `name`."""

    id: int
    name: str
    type: CommandType


#: As docs/chat.md says to configure them.
COMMANDS = {
    command.id: command
    for command in (
        ChatCommand(1, "/ask", "SLASH_COMMAND"),
        ChatCommand(2, "/forget", "SLASH_COMMAND"),
        ChatCommand(3, "/help", "SLASH_COMMAND"),
        ChatCommand(4, "Forget", "QUICK_COMMAND"),
        ChatCommand(5, "Help", "QUICK_COMMAND"),
    )
}


@dataclass(frozen=True)
class Interaction:
    """An action of a person. `message` is their own, or holds the button that they clicked."""

    kind: Kind
    person: Person
    space: ChatSpace
    locale: str
    at: str
    message: Json | None = None
    thread: str | None = None
    command: ChatCommand | None = None
    function: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)
    dialog: DialogType = ""


def slash_command(command: ChatCommand, words: str) -> Json:
    """The fields of a slash command's message."""
    invoked = {"bot": BOT, "type": "INVOKE", "commandName": command.name, "commandId": str(command.id)}
    fields: Json = {
        "text": f"{command.name} {words}".strip(),
        "slashCommand": {"commandId": str(command.id)},
        "annotations": [
            {
                "type": "SLASH_COMMAND",
                "startIndex": 0,
                "length": len(command.name),
                "slashCommand": invoked,
            }
        ],
    }
    return {**fields, "argumentText": f" {words}"} if words else fields


def classic(done: Interaction) -> Iterator[Json]:
    """The one event that a classic Chat app gets."""
    event: Json = {
        "type": _CLASSIC[done.kind],
        "eventTime": done.at,
        "user": done.person.user(),
        "space": done.space.event_json(),
        "common": {"hostApp": "CHAT", "userLocale": done.locale},
    }
    if done.message is not None:
        event |= {"message": done.message, "thread": done.message["thread"]}
    if done.kind == "clicked":
        listed = [{"key": key, "value": value} for key, value in done.parameters.items()]
        event["action"] = {"actionMethodName": done.function, "parameters": listed}
        event["common"] |= {
            "invokedFunction": done.function,
            "parameters": done.parameters,
            "formInputs": _form(done.inputs),
        }
        event |= _dialog(done)
    if done.kind == "command" and done.command is not None:
        if done.message is not None:  # a slash command is a message like any other
            event["type"] = "MESSAGE"
        else:
            event["appCommandMetadata"] = _metadata(done.command)
            event |= {"thread": {"name": done.thread}} if done.thread else {}
    yield event


def add_on(done: Interaction) -> Iterator[Json]:
    """The events that an add-on gets: two if a message adds it, otherwise one."""
    if done.kind == "added" and done.message is not None:
        yield _add_on(done, {"addedToSpacePayload": {**_space(done), "interactionAdd": True}}, locale=False)
        yield _add_on(done, {"messagePayload": {**_space(done), "message": done.message}})
        return
    message = {} if done.message is None else {"message": done.message}
    match done.kind:
        case "command":
            command = {"appCommandMetadata": _metadata(done.command)} if done.command else {}
            thread = {"thread": {"name": done.thread}} if done.thread and not message else {}
            yield _add_on(done, {"appCommandPayload": {**_space(done), **command, **message, **thread}})
        case "added":
            yield _add_on(done, {"addedToSpacePayload": _space(done)}, locale=False)
        case "removed":
            yield _add_on(done, {"removedFromSpacePayload": _space(done)}, locale=False)
        case "clicked":
            yield _add_on(done, {"buttonClickedPayload": {**_space(done), **message, **_dialog(done)}})
        case "message":
            yield _add_on(done, {"messagePayload": {**_space(done), **message}})


_CLASSIC = {
    "message": "MESSAGE",
    "added": "ADDED_TO_SPACE",
    "removed": "REMOVED_FROM_SPACE",
    "clicked": "CARD_CLICKED",
    "command": "APP_COMMAND",
}


def _add_on(done: Interaction, payload: Json, *, locale: bool = True) -> Json:
    common: Json = {"hostApp": "CHAT", "platform": "WEB"}
    if locale:
        common["userLocale"] = done.locale
    if done.kind == "clicked":  # an add-on never learns the function itself
        common |= {"parameters": done.parameters, "formInputs": _form(done.inputs)}
    chat = {"user": done.person.user(), "eventTime": done.at, **payload}
    return {"commonEventObject": common, "chat": chat}


def _space(done: Interaction) -> Json:
    return {"space": done.space.event_json()}


def _metadata(command: ChatCommand) -> Json:
    return {"appCommandId": command.id, "appCommandType": command.type}


def _dialog(done: Interaction) -> Json:
    return {"isDialogEvent": True, "dialogEventType": done.dialog} if done.dialog else {}


def _form(inputs: dict[str, list[str]]) -> Json:
    return {name: {"stringInputs": {"value": values}} for name, values in inputs.items()}
