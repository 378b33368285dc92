"""Make a follow-up stand alone, for searching; the person's own words stay what is answered."""

import re
from dataclasses import dataclass
from typing import Any

from reformulate_fn.fallback import fallback
from reformulate_fn.guard import fault
from reformulate_fn.prompts import config, prompt
from shared import logs
from shared.cards import progress
from shared.deadline import Deadline
from shared.envelope import Envelope
from shared.errors import in_one_line
from shared.failures import Failures
from shared.gemini import generate
from shared.language import of_text
from shared.outbox import Outbox
from shared.progress import Progress
from shared.step import Times

#: Seconds for one attempt, and for all of them: without a rewrite the question is still searched for.
TIMEOUT = 8.0
WAIT_FOR_REWRITE = 14.0
_LABEL = re.compile(
    r"^[*_]{0,2}(?:(?:here(?:'s| is) )?(?:the |a )?"
    r"(?:re-?written|stand-?alone|search) (?:question|query|sentence)"
    r"|書き換え(?:後の質問|た質問)?|質問文?)\s*[:：]\s*[*_]{0,2}\s*",
    re.IGNORECASE,
)
_QUOTES = {('"', '"'), ("'", "'"), ("“", "”"), ("「", "」"), ("『", "』"), ("`", "`")}


@dataclass(frozen=True)
class Services:
    """What rewriting asks of the world; `gemini` is a `genai.Client`."""

    outbox: Outbox
    failures: Failures
    progress: Progress
    gemini: Any
    model: str


def reformulate(envelope: Envelope, services: Services, deadline: Deadline) -> Envelope:
    """Add the search query. Never fails: without a usable rewrite it is made by rule."""
    query = envelope.question.text
    if envelope.history and not envelope.literal:
        query = _rewritten(envelope, services, deadline.within(WAIT_FOR_REWRITE)) or _by_rule(envelope)
    return envelope.model_copy(update={"search_query": query})


def show_query(envelope: Envelope, services: Services, deadline: Deadline, times: Times) -> None:
    """Show in the progress card what is searched for; the question's own words are there from the start."""
    question = envelope.question
    if not envelope.history or envelope.literal:
        return
    card = progress(question.language, "searching", envelope.search_query, seconds=times)
    services.progress.show(question, card, deadline, again=envelope.again)


def cleaned(text: str) -> str:
    """The rewrite in a model's output: without label, quotes and surrounding space.

    Raises ValueError for anything but one line.
    """
    line = _LABEL.sub("", text.strip()).strip()
    inside = line[1:-1]
    if (line[:1], line[-1:]) in _QUOTES and not {line[0], line[-1]} & set(inside):
        line = inside.strip()
    if len(line.splitlines()) != 1 or not line.isprintable():
        raise ValueError("not one line")
    return line


def _rewritten(envelope: Envelope, services: Services, deadline: Deadline) -> str | None:
    try:
        query = generate(
            services.gemini,
            model=services.model,
            prompt=prompt(envelope),
            config=config(),
            parse=cleaned,
            deadline=deadline,
            timeout=TIMEOUT,
        )
    except Exception as error:
        logs.warning("No rewrite; searching by rule", error=in_one_line(error))
        return None
    question = envelope.question
    reason = fault(query, question.text, of_text(question.text, question.language))
    if reason:
        logs.warning("Unusable rewrite; searching by rule", reason=reason, characters=len(query))
        return None
    return query


def _by_rule(envelope: Envelope) -> str:
    question = envelope.question
    history = ((turn.role, turn.text) for turn in envelope.history)
    return fallback(question.text, history, of_text(question.text, question.language))
