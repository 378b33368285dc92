"""Makes the search query of a question: the model's rewrite, or a query by rule."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from reformulate_fn.guard import fault
from reformulate_fn.prompts import config, prompt
from shared.language.catalogue import grammars
from shared.language.detect import of_text
from shared.language.follow_ups import stands_alone
from shared.language.keywords import by_rule
from shared.messages.envelope import Envelope
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import classify, in_one_line
from shared.runtime.gemini import generate
from shared.runtime.retry import GEMINI_REWRITE, Policy


@dataclass(frozen=True)
class Rewriter:
    """The model that rewrites. `gemini` is a `genai.Client`; `utc_offset` is in hours."""

    gemini: Any
    model: str
    utc_offset: float = 0.0
    policy: Policy = GEMINI_REWRITE


@dataclass(frozen=True)
class Query:
    """A search query. `fault` is the reason code if it was made by rule; None for a question or a rewrite."""

    text: str
    fault: str | None = None


def query(envelope: Envelope, rewriter: Rewriter, deadline: Deadline) -> Query:
    """The search query of a question. Never fails.

    It is the question itself if there is no history, or if the question is small talk or must be taken
    literally. Otherwise it is a rewrite, or a query by rule if there is no usable rewrite.
    """
    question = envelope.question.text
    if stands_alone(envelope):
        return Query(question)
    try:
        rewrite = generate(
            rewriter.gemini,
            model=rewriter.model,
            prompt=prompt(envelope, rewriter.utc_offset),
            config=config(),
            parse=cleaned,
            policy=rewriter.policy,
            deadline=deadline,
        )
    except Exception as error:
        logs.warning("No rewrite; searching by rule", error=in_one_line(error))
        return Query(by_rule(envelope), classify(error, "gemini").reason)
    reason = fault(rewrite, question, of_text(question, envelope.question.language))
    if reason:
        logs.warning("Unusable rewrite; searching by rule", reason=reason, characters=len(rewrite))
        return Query(by_rule(envelope), reason)
    return Query(rewrite)


def cleaned(text: str) -> str:
    """The rewrite in a model's output, without label, quotes and surrounding space.

    Raises ValueError if it is not one line.
    """
    line = _label().sub("", text.strip()).strip()
    inside = line[1:-1]
    quoted = any(line[:1] + line[-1:] in each.quotes for each in grammars())
    if quoted and not {line[0], line[-1]} & set(inside):
        line = inside.strip()
    if len(line.splitlines()) != 1 or not line.isprintable():
        raise ValueError("not one line")
    return line


@cache
def _label() -> re.Pattern[str]:
    """Matches a label that a model may write before the rewrite, perhaps in bold type."""
    labels = "|".join(each.label for each in grammars())
    return re.compile(rf"^[*_]{{0,2}}(?:{labels})\s*[:：]\s*[*_]{{0,2}}\s*", re.IGNORECASE)
