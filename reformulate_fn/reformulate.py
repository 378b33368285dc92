"""Make a follow-up stand alone, for searching; the person's own words stay what is answered."""

from dataclasses import dataclass

from reformulate_fn.rewrite import Rewriter, query
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.language.follow_ups import stands_alone
from shared.memory.failures import Failures
from shared.messages.envelope import Envelope
from shared.messages.step import Times
from shared.pipeline import pipeline
from shared.runtime.deadline import Deadline
from shared.runtime.outbox import Outbox

#: Seconds for all attempts: without a rewrite the question is still searched for.
WAIT_FOR_REWRITE = 14.0


@dataclass(frozen=True)
class Services:
    """What rewriting asks of the world."""

    outbox: Outbox
    failures: Failures
    display: Display
    rewriter: Rewriter


def reformulate(envelope: Envelope, services: Services, deadline: Deadline) -> Envelope:
    """Add the search query. Never fails: without a usable rewrite it is made by rule."""
    found = query(envelope, services.rewriter, deadline.within(WAIT_FOR_REWRITE))
    return envelope.model_copy(update={"search_query": found.text, "rewrite_fault": found.fault})


def show_query(envelope: Envelope, services: Services, deadline: Deadline, times: Times) -> None:
    """Show in the progress card what is searched for; the question's own words are there from the start."""
    question = envelope.question
    if stands_alone(envelope):
        return
    card = progress(
        question.language, pipeline().after("reformulate").stage, envelope.search_query, seconds=times
    )
    services.display.progress(question, card, deadline, answer_number=envelope.answer_number)
