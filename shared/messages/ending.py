"""What a question's message says at last, as its record holds it (`shared/memory/records.py`).

kind (answer, clarification, fallback, courtesy, apology), answered, text, more (the texts of further
messages), plain (without the hint), search_query, sources (id, number, title, link, and the quoted
passage). Of later versions, so they may be missing: asked (the question), since (when somebody began to
wait for it), again (the how-many-th answer it is), literal (whether the question's own words were
searched for), button (what a click calls; None: there are no clicks), and model.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeGuard

from pydantic import ValidationError

from shared.memory.firestore import Fields
from shared.messages.envelope import Envelope, Question

APOLOGY, FALLBACK, ANSWER, CLARIFICATION = "apology", "fallback", "answer", "clarification"
#: What is said to a greeting or to thanks.
COURTESY = "courtesy"
#: The kinds that the next question may refer to: "the second one", "on a Mac".
REMEMBERED = {ANSWER, CLARIFICATION}
_FINAL = {"kind": str, "answered": bool, "text": str, "plain": str, "search_query": str, "sources": list}
_SOURCE = {"id", "number", "title", "link"}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


#: What may be missing, and what it is otherwise.
_LATER: dict[str, Callable[[Any], bool]] = {
    "more": lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value),
    "asked": lambda value: isinstance(value, dict),
    "since": lambda value: isinstance(value, datetime),
    "again": _is_count,
    "literal": lambda value: isinstance(value, bool),
    "button": lambda value: value is None or isinstance(value, str),
    "model": lambda value: value is None or isinstance(value, str),
}


def is_final(value: Any) -> TypeGuard[Fields]:
    """Whether a record's `final` is of this version's shape; another one counts as none."""
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), kind) for name, kind in _FINAL.items())
        and bool(value["text"].strip())
        and all(fits(value[name]) for name, fits in _LATER.items() if name in value)
        and all(map(_is_source, value["sources"]))
    )


def _is_source(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() - {"quote"} == _SOURCE
        and isinstance(value["id"], str)
        and _is_count(value["number"])
        and isinstance(value["title"], str)
        and isinstance(value["link"], str | None)
        and isinstance(value.get("quote", ""), str)
    )


def again_of(final: Fields) -> int:
    """The how-many-th answer it is; 0 is the first one."""
    return int(final.get("again", 0))


def asked_in(final: Fields) -> Question | None:
    """The question that it answers, as far as it is noted."""
    try:
        return Question.model_validate(final.get("asked"))
    except ValidationError:
        return None


def origin(envelope: Envelope) -> Fields:
    """What a final message keeps of the envelope that led to it."""
    return {
        "asked": envelope.question.model_dump(mode="json"),
        "since": envelope.since,
        "again": envelope.again,
        "literal": envelope.literal,
        "button": envelope.button,
    }
