"""What the chat page may ask for, as JSON; anything else is refused."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Done(Body):
    """What somebody does; their language is the page's."""

    person: str
    locale: Literal["en", "ja"] = "en"


class Attachment(Body):
    """A file that is attached to a message, in name only."""

    name: str = Field(min_length=1, max_length=200)
    type: str = Field("application/octet-stream", pattern=r"^[a-z]+/[a-zA-Z0-9.+-]+$")


class PostedMessage(Done):
    """What a person writes on the page."""

    space: str
    text: str
    thread: str | None = None
    mention: bool = True
    attachment: Attachment | None = None


class GivenCommand(Done):
    """A command, by its number, with the words after it."""

    space: str
    command: int
    text: str = ""
    thread: str | None = None


class Click(Done):
    """A click on a button of the bot's, as the message has it, or the `dialog` that a click on it has opened,
    with the card's inputs."""

    message: str
    function: str
    parameters: dict[str, str] = {}
    inputs: dict[str, list[str]] = {}
    dialog: bool = False


class Membership(Done):
    """To add the bot to a space, with what is written to it or None; or to remove it."""

    space: str
    bot: Literal["add", "remove"]
    text: str | None = None


class DeletedMessage(Body):
    """The name of the message that a person deletes."""

    name: str


class FaultSwitch(Body):
    """Faults to switch off, and on: for which share of calls (0 to 1), holding each how long (seconds)."""

    on: list[str] = []
    off: list[str] = []
    share: float = Field(1.0, ge=0, le=1)
    seconds: float = Field(2.0, ge=0)
