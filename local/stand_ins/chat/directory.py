"""The preset people and spaces: the bot, two people, two spaces, a group, and a direct message for each."""

from dataclasses import dataclass
from typing import Any

from local.stand_ins.http_gate import not_found

Json = dict[str, Any]


@dataclass(frozen=True)
class Person:
    """A person who writes to the bot."""

    name: str
    display_name: str
    email: str

    def user(self) -> Json:
        """The User JSON of an interaction event."""
        return {
            "name": self.name,
            "displayName": self.display_name,
            "email": self.email,
            "type": "HUMAN",
            "domainId": "3xampl3",
        }

    def page_json(self) -> Json:
        """The person as the page shows them."""
        return {"name": self.name, "displayName": self.display_name, "email": self.email}


@dataclass(frozen=True)
class ChatSpace:
    """A named space, a group chat, or the direct messages of the bot and one `person`."""

    name: str
    display_name: str
    person: str | None = None
    kind: str = "SPACE"

    @property
    def is_dm(self) -> bool:
        """Whether this is a direct message."""
        return self.person is not None

    def event_json(self) -> Json:
        """The Space JSON of an interaction event. Only a named space has a display name."""
        common = {"name": self.name, "spaceThreadingState": "THREADED_MESSAGES"}
        if self.is_dm:
            return {**common, "type": "DM", "spaceType": "DIRECT_MESSAGE", "singleUserBotDm": True}
        if self.kind == "GROUP_CHAT":
            return {**common, "type": "ROOM", "spaceType": "GROUP_CHAT"}
        return {**common, "type": "ROOM", "spaceType": "SPACE", "displayName": self.display_name}

    def page_json(self) -> Json:
        """The space as the page lists it. A direct message names its person."""
        kind = "DIRECT_MESSAGE" if self.is_dm else self.kind
        fields = {"name": self.name, "displayName": self.display_name, "spaceType": kind}
        return {**fields, "person": self.person} if self.is_dm else fields


BOT = {"name": "users/109001", "displayName": "threadwise", "type": "BOT"}
#: How a message mentions the bot.
MENTION = f"@{BOT['displayName']}"

PEOPLE = {
    person.name: person
    for person in (
        Person("users/1001", "Aiko Tanaka", "aiko.tanaka@example.com"),
        Person("users/1002", "Ben Miller", "ben.miller@example.com"),
    )
}
SPACES = {
    space.name: space
    for space in (
        ChatSpace("spaces/AAAAhelpdesk", "IT support"),
        ChatSpace("spaces/AAAAsalestyo", "Sales Tokyo"),
        ChatSpace("spaces/AAAAgroupab", "Aiko Tanaka, Ben Miller", kind="GROUP_CHAT"),
        ChatSpace("spaces/dmAikoAAAAE", BOT["displayName"], person="users/1001"),
        ChatSpace("spaces/dmBenAAAAAE", BOT["displayName"], person="users/1002"),
    )
}


def person_in(space: ChatSpace, name: str) -> Person:
    """The person of that name. Raises RestError 404 if they are not in `space`."""
    if name not in PEOPLE or (space.is_dm and space.person != name):
        raise not_found(f"{name} is not in {space.name}.")
    return PEOPLE[name]


def space_named(name: str) -> ChatSpace:
    """The space of that name. Raises RestError 404 if there is none."""
    if name not in SPACES:
        raise not_found(f"Space {name} was not found, or the app is not a member of it.")
    return SPACES[name]
