"""The ending of a question: its final message, as the question's record stores it.

An ending is stored in the field `final` of `questions/<message name with _>` (`shared/memory/records.py`).
Its fields keep their old names there: `again` and `button` are aliases. A reader ignores unknown fields, and
newer fields have defaults, so that functions of two versions can run at the same time.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_serializer

from shared.messages.envelope import Context, Envelope, Question

#: The kinds. A courtesy is the reply to a greeting or to thanks.
APOLOGY, FALLBACK, ANSWER, CLARIFICATION = "apology", "fallback", "answer", "clarification"
COURTESY = "courtesy"
#: The kinds that become part of the history, because a follow-up may refer to them ("the second one").
REMEMBERED = {ANSWER, CLARIFICATION}
#: The number of the answer, and its result: progress, an apology, or any other ending.
Rank = tuple[int, int]
PROGRESS, APOLOGISED, ANSWERED = -1, 0, 1
#: The version that is written. It is raised when a field changes its meaning.
VERSION = 1


class _Stored(BaseModel):
    # hide_input: an error in a log must not contain what a person wrote.
    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )


class Source(_Stored):
    """A source as it is shown: its number in the text, title, link if there is one, and passage."""

    id: str
    number: Annotated[int, Field(ge=0)]
    title: str
    link: str | None
    quote: str = ""

    @classmethod
    def of(cls, context: Context, number: int) -> "Source":
        """The source with this number, from a passage."""
        return cls(id=context.id, number=number, title=context.title, link=context.link, quote=context.text)


def _question_or_none(value: Any) -> Question | None:
    try:
        return Question.model_validate(value)
    except ValidationError:
        return None


class Ending(_Stored):
    """The final message of a question.

    `more` are the texts of further messages. `plain` is the text without the hint. `asked` is the question
    (None: not stored, or of another shape). `since` is when the asker began to wait for this ending.
    `answer_number` is the number of the answer (0 = first); it grows each time the asker asks again.
    `literal`: the search used the question's own words. `click_target` is what a click on a button calls
    (None: clicks do not arrive). `model` is the model that wrote the answer.
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
        """The higher of two ranks counts. An apology ranks below an answer of the same number."""
        return self.answer_number, APOLOGISED if self.kind == APOLOGY else ANSWERED

    def to_fields(self) -> dict[str, Any]:
        """The fields for Firestore."""
        return self.model_dump(by_alias=True)

    @classmethod
    def read(cls, value: Any) -> "Ending | None":
        """The ending in a field of a record. None if it is missing or has another shape."""
        try:
            return cls.model_validate(value)
        except ValidationError:
            return None


def origin(envelope: Envelope) -> dict[str, Any]:
    """The fields that an ending takes from its envelope, as arguments of `Ending`."""
    return {
        "asked": envelope.question,
        "since": envelope.since,
        "answer_number": envelope.answer_number,
        "literal": envelope.literal,
        "click_target": envelope.click_target,
    }
