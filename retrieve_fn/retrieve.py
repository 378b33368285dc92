"""Searches the corpus with the query that stands alone."""

from dataclasses import dataclass
from typing import Any

from retrieve_fn.budget import within
from retrieve_fn.queries import SearchKind, queries
from retrieve_fn.search import Corpus, search
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.language.follow_ups import is_only_polite
from shared.memory.failures import Failures
from shared.messages.envelope import Envelope
from shared.messages.step import Times
from shared.pipeline import pipeline
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.outbox import Outbox


@dataclass(frozen=True)
class Services:
    """What retrieving needs from outside; `rag` is a `VertexRagServiceClient`.

    `kind` and `fusion` decide which queries are sent. `context_tokens` is the budget for the passages.
    """

    outbox: Outbox
    failures: Failures
    display: Display
    rag: Any
    corpus: Corpus
    kind: SearchKind
    fusion: bool
    context_tokens: int


def retrieve(envelope: Envelope, services: Services, deadline: Deadline) -> Envelope:
    """Add the passages, best first; there may be none. Raises Permanent or Transient.

    Thanks and greetings are not searched for.
    """
    if is_only_polite(envelope):
        return envelope.model_copy(update={"contexts": ()})
    asked = queries(envelope, services.kind, fusion=services.fusion)
    found = search(asked, services.corpus.of(envelope.question.space), services.rag, deadline)
    contexts = within(found, services.context_tokens)
    logs.info("Searched", queries=len(asked), found=len(found), passed_on=len(contexts))
    return envelope.model_copy(update={"contexts": contexts})


def show_found(envelope: Envelope, services: Services, deadline: Deadline, times: Times) -> None:
    """Show in the progress card that the search is done, and which stage is next."""
    question = envelope.question
    card = progress(
        question.language, pipeline().after("retrieve").stage, envelope.search_query, seconds=times
    )
    services.display.progress(question, card, deadline, answer_number=envelope.answer_number)
