"""Rewrites a follow-up for the search, so that it stands alone. The asker's own words are answered."""

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
from shared.runtime.retry import WAIT_FOR_REWRITE


@dataclass(frozen=True)
class Services:
    """What rewriting needs from outside."""

    outbox: Outbox
    failures: Failures
    display: Display
    rewriter: Rewriter


def reformulate(envelope: Envelope, services: Services, deadline: Deadline) -> Envelope:
    """Add the search query. Never fails: if there is no usable rewrite, the query is made by rule."""
    found = query(envelope, services.rewriter, deadline.within(WAIT_FOR_REWRITE))
    return envelope.model_copy(update={"search_query": found.text, "rewrite_fault": found.fault})


def show_query(envelope: Envelope, services: Services, deadline: Deadline, times: Times) -> None:
    """Show the rewritten query in the progress card. A question that stands alone is in the card already."""
    question = envelope.question
    if stands_alone(envelope):
        return
    card = progress(
        question.language, pipeline().after("reformulate").stage, envelope.search_query, seconds=times
    )
    services.display.progress(question, card, deadline, answer_number=envelope.answer_number)
