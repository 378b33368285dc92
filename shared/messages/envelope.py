"""The envelope: one question, and what each step has added to it.

Versions: a reader accepts the current version and the previous one, so that the functions need not be
deployed at the same instant. To change the envelope: raise VERSION, add an upgrade from the previous version,
and add a golden file of the new version to `tests/shared/messages/golden/`. Never edit the old golden files.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from shared.messages.names import ResourceName
from shared.runtime.errors import Permanent, Transient

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

VERSION = 3
#: The key is the old version; the function upgrades it to the next one. Only VERSION - 1 needs an entry.
#: 2 → 3: the optional fields `as_written` and `quote` of a question, and the role "quoted" were added.
UPGRADES: Mapping[int, Upgrade] = {2: lambda old: {**old, "version": 3}}

#: An ISO 639 code. The files in `shared/language/catalogues` decide which languages the bot speaks, not this
#: type: a function that was deployed before a language was added uses English for it.
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]


class _Part(BaseModel):
    # hide_input: an error must not carry what a person wrote into a log.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, validate_by_name=True, validate_by_alias=True
    )


class Turn(_Part):
    """One message of the history. A pending question has no assistant's turn after it.

    A "quoted" turn is the message that the next question quotes. It may be from anybody.
    """

    role: Literal["user", "assistant", "quoted"]
    text: str
    timestamp: AwareDatetime
    question_id: str


class Question(_Part):
    """What was asked, by whom and where.

    `id` is the resource name of the Chat message. `conversation` is the resource name of the conversation
    that it belongs to (a thread, or the space of a direct message). `thread` is where the reply goes (None:
    not into a thread). `text` has no mentions. `as_written` has the names of the people that the question
    mentions (None: nobody). `quote` is the text of the message that it quotes.
    """

    id: ResourceName
    conversation: ResourceName
    space: ResourceName
    thread: ResourceName | None = None
    person: str
    text: Annotated[str, Field(min_length=1)]
    as_written: str | None = None
    quote: str | None = None
    language: Language
    asked_at: AwareDatetime


class Context(_Part):
    """A passage that was found. `link` is for people to open. A smaller `distance` is a better match."""

    id: str
    title: str
    text: str
    uri: str
    link: str | None = None
    distance: float


class Envelope(_Part):
    """The payload of every message on `questions`, `queries` and `findings`.

    `rewrite_fault` is a reason code if the search query was made by rule, because the model gave no usable
    rewrite; None otherwise. `answer_number` is the number of the answer (0 = first); it grows each time the
    asker asks again. `again_at` is when they last did. `literal`: search for the question's own words.
    `click_target` is what a click on a button calls (None: clicks do not arrive). On the wire `answer_number`
    is named `again`, and `click_target` is named `button`.
    """

    version: Literal[3] = 3
    trace: Annotated[str, Field(pattern=r"^[\x20-\x7e]{1,256}$")]
    question: Question
    history: tuple[Turn, ...] = ()
    search_query: str | None = None
    rewrite_fault: Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")] | None = None
    contexts: tuple[Context, ...] | None = None
    answer_number: Annotated[int, Field(ge=0, alias="again")] = 0
    again_at: AwareDatetime | None = None
    literal: bool = False
    click_target: Annotated[str | None, Field(pattern=r"^[\x21-\x7e]{1,400}$", alias="button")] = None

    @property
    def key(self) -> str:
        """Identifies the answer: the question's id, with the number of the answer if it is not the first."""
        return f"{self.question.id}#{self.answer_number}" if self.answer_number else self.question.id

    @property
    def since(self) -> datetime:
        """When the asker began to wait for the answer."""
        return self.again_at or self.question.asked_at

    def to_bytes(self) -> bytes:
        """UTF-8 JSON."""
        return self.model_dump_json(by_alias=True).encode("utf-8")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Envelope":
        """Open an envelope. Raises Permanent (malformed, retired) or Transient (a newer version)."""
        raw = _object(data)
        current = upgraded(raw)
        try:
            # Read an upgraded one as JSON, too: a Python string may contain half of a surrogate pair.
            return cls.model_validate_json(data if current is raw else json.dumps(current))
        except ValidationError as error:
            raise Permanent("envelope_malformed", _where(error)) from None


def upgraded(
    raw: dict[str, Any], *, to: int = VERSION, upgrades: Mapping[int, Upgrade] = UPGRADES
) -> dict[str, Any]:
    """`raw` itself if it has the version `to`, or upgraded if it has the previous version.

    Raises Transient for a newer version and Permanent for an older or missing one.
    """
    version = raw.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Permanent("envelope_malformed", "no version number")
    if version > to:
        raise Transient("envelope_newer", f"version {version}: a deployment is under way")
    if version < to - 1:
        raise Permanent("envelope_retired", f"version {version}")
    return raw if version == to else upgrades[version](raw)


def _object(data: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise Permanent("envelope_malformed", "not JSON") from None
    if not isinstance(raw, dict):
        raise Permanent("envelope_malformed", "not a JSON object")
    return raw


def _where(error: ValidationError) -> str:
    return ", ".join(".".join(map(str, fault["loc"])) + " " + fault["type"] for fault in error.errors()[:3])
