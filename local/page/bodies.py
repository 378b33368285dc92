"""The JSON bodies that the chat page may send. Everything else is refused."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Done(Body):
    """An action of a person. `locale` is the language of the page."""

    person: str
    locale: Literal["en", "ja"] = "en"


class Attachment(Body):
    """A file that is attached to a message. Only its name and type are sent."""

    name: str = Field(min_length=1, max_length=200)
    type: str = Field("application/octet-stream", pattern=r"^[a-z]+/[a-zA-Z0-9.+-]+$")


class PostedMessage(Done):
    """A message that a person writes."""

    space: str
    text: str
    thread: str | None = None
    mention: bool = True
    attachment: Attachment | None = None


class GivenCommand(Done):
    """A command by its number, and the words after it."""

    space: str
    command: int
    text: str = ""
    thread: str | None = None


class Click(Done):
    """A click on a button in a message of the bot, or in the dialog that the message opened (`dialog`).

    `inputs` are the values of the card's fields.
    """

    message: str
    function: str
    parameters: dict[str, str] = {}
    inputs: dict[str, list[str]] = {}
    dialog: bool = False


class Membership(Done):
    """Add the bot to a space, with an optional first message, or remove it."""

    space: str
    bot: Literal["add", "remove"]
    text: str | None = None


class DeletedMessage(Body):
    """The name of a message that a person deletes."""

    name: str


class FaultSwitch(Body):
    """Faults to switch off and on. `share` is the share of calls they hit (0 to 1), `seconds` a delay."""

    on: list[str] = []
    off: list[str] = []
    share: float = Field(1.0, ge=0, le=1)
    seconds: float = Field(2.0, ge=0)
