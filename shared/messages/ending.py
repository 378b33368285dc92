"""The ending of a question: what its message says at last, as the question's record holds it.

An ending is stored as the field `final` of `questions/<message name with _>` (`shared/memory/records.py`),
under the names that its fields have always had: `again` and `button` are aliases. A reader passes over fields
that it does not know, and fields that came later have defaults, so that functions of two versions can work
side by side.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_serializer

from shared.messages.envelope import Context, Envelope, Question

#: The kinds. A courtesy is the reply to a greeting or to thanks.
APOLOGY, FALLBACK, ANSWER, CLARIFICATION = "apology", "fallback", "answer", "clarification"
COURTESY = "courtesy"
#: The kinds that the next question may refer to: "the second one", "on a Mac".
REMEMBERED = {ANSWER, CLARIFICATION}
#: The number of the answer, and what came of it: progress, an apology, or whatever else ends a question.
Rank = tuple[int, int]
PROGRESS, APOLOGISED, ANSWERED = -1, 0, 1
#: The version that is written. It grows when a field changes its meaning.
VERSION = 1


class _Stored(BaseModel):
    # hide_input: an error must not carry what a person wrote into a log.
    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )


class Source(_Stored):
    """A source as it is shown: its number in the text, its title, a link if there is one, and the passage."""

    id: str
    number: Annotated[int, Field(ge=0)]
    title: str
    link: str | None
    quote: str = ""

    @classmethod
    def of(cls, context: Context, number: int) -> "Source":
        """A passage as the source of this number."""
        return cls(id=context.id, number=number, title=context.title, link=context.link, quote=context.text)


def _question_or_none(value: Any) -> Question | None:
    try:
        return Question.model_validate(value)
    except ValidationError:
        return None


class Ending(_Stored):
    """What a question's message says at last.

    `more` are the texts of further messages, `plain` is the text without the hint. `asked` is the question
    (None: not stored, or of another shape), `since` when somebody began to wait for this ending.
    `answer_number` counts how often the asker has had the question answered anew: 0 is the first answer.
    `literal`: the question's own words were searched for. `click_target` is what a click on a button calls;
    None where Chat brings no clicks. `model` has written the answer.
    """

    version: Annotated[int, Field(ge=1)] = VERSION
    kind: str
    answered: bool
    text: Annotated[str, Field(pattern=r"\S")]
    more: list[str] = Field(default_factory=list)
    plain: str
    search_query: str
    sources: list[Source]
    asked: Annotated[Question | None, BeforeValidator(_question_or_none)] = None
    since: datetime | None = None
    answer_number: Annotated[int, Field(ge=0, alias="again")] = 0
    literal: bool = False
    click_target: Annotated[str | None, Field(alias="button")] = None
    model: str | None = None

    @field_serializer("asked")
    def _as_json(self, asked: Question | None) -> dict[str, Any] | None:
        return asked.model_dump(mode="json") if asked else None

    @property
    def parts(self) -> list[str]:
        """The texts of all messages, in order."""
        return [self.text, *self.more]

    @property
    def rank(self) -> Rank:
        """Which of two endings stands: the higher one. An apology is below the answer of its own number."""
        return self.answer_number, APOLOGISED if self.kind == APOLOGY else ANSWERED

    def to_fields(self) -> dict[str, Any]:
        """The fields as Firestore takes them."""
        return self.model_dump(by_alias=True)

    @classmethod
    def read(cls, value: Any) -> "Ending | None":
        """The ending in a record's field; None where there is none, or something of another shape."""
        try:
            return cls.model_validate(value)
        except ValidationError:
            return None


def origin(envelope: Envelope) -> dict[str, Any]:
    """What an ending keeps of the envelope that led to it, as arguments of `Ending`."""
    return {
        "asked": envelope.question,
        "since": envelope.since,
        "answer_number": envelope.answer_number,
        "literal": envelope.literal,
        "click_target": envelope.click_target,
    }
