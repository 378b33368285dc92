"""The query that a question is searched for with: the model's rewrite, or one by rule."""

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
    """Who rewrites: `gemini` is a `genai.Client`; `utc_offset` is in hours."""

    gemini: Any
    model: str
    utc_offset: float = 0.0
    policy: Policy = GEMINI_REWRITE


@dataclass(frozen=True)
class Query:
    """What to search for. `fault` is the reason code why it was made by rule, None when it was not."""

    text: str
    fault: str | None = None


def query(envelope: Envelope, rewriter: Rewriter, deadline: Deadline) -> Query:
    """The question as it is when nothing came before it or it is small talk or to be taken literally, else a
    rewrite. Never fails."""
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
    """The rewrite in a model's output: without label, quotes and surrounding space.

    Raises ValueError for anything but one line.
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
    """What a model may write before the rewrite, perhaps in bold type."""
    labels = "|".join(each.label for each in grammars())
    return re.compile(rf"^[*_]{{0,2}}(?:{labels})\s*[:：]\s*[*_]{{0,2}}\s*", re.IGNORECASE)
