"""Search the corpus with the query that stands alone."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from google.cloud.aiplatform_v1.types import (
    RagQuery,
    RagRetrievalConfig,
    RetrieveContextsRequest,
)

from shared import logs
from shared.cards import progress
from shared.deadline import Deadline
from shared.envelope import Context, Envelope
from shared.errors import Permanent
from shared.failures import Failures
from shared.outbox import Outbox
from shared.progress import Progress
from shared.retry import call
from shared.step import Times

#: Seconds for one attempt; RAG Engine answers within about a second.
TIMEOUT = 10.0
#: The distance of a passage that the engine gives no proper one for.
FARTHEST = 1e9


@dataclass(frozen=True)
class Corpus:
    """What is searched and how: a RAG corpus, how many passages, and from which distance on none.

    `by_space` are the corpora of spaces that have another one.
    """

    name: str
    top_k: int
    distance_threshold: float | None
    links: Mapping[str, str]
    by_space: Mapping[str, str] = field(default_factory=dict)

    def of(self, space: str) -> str:
        """The corpus that is searched for a question of a space."""
        return self.by_space.get(space, self.name)


@dataclass(frozen=True)
class Services:
    """What retrieving asks of the world; `rag` is a `VertexRagServiceClient`."""

    outbox: Outbox
    failures: Failures
    progress: Progress
    rag: Any
    corpus: Corpus


def retrieve(envelope: Envelope, services: Services, deadline: Deadline) -> Envelope:
    """Add the contexts, nearest first; none is a result too. Raises Permanent or Transient."""
    if envelope.search_query is None:
        raise Permanent("envelope_incomplete", "no search_query")
    request = _request(services.corpus, envelope.question.space, envelope.search_query)
    response = call(
        lambda timeout: services.rag.retrieve_contexts(request=request, retry=None, timeout=timeout),
        service="rag",
        deadline=deadline,
        timeout=TIMEOUT,
    )
    contexts = _contexts(response.contexts.contexts, services.corpus.links)
    logs.info("Searched", found=len(contexts))
    return envelope.model_copy(update={"contexts": contexts})


def show_writing(envelope: Envelope, services: Services, deadline: Deadline, times: Times) -> None:
    """Show in the progress card that the answer is being written, which takes longest."""
    question = envelope.question
    card = progress(question.language, "writing", envelope.search_query, seconds=times)
    services.progress.show(question, card, deadline, again=envelope.again)


def _request(corpus: Corpus, space: str, query: str) -> RetrieveContextsRequest:
    name = corpus.of(space)
    retrieval = RagRetrievalConfig(top_k=corpus.top_k)
    if corpus.distance_threshold is not None:
        retrieval.filter = RagRetrievalConfig.Filter(vector_distance_threshold=corpus.distance_threshold)
    store = RetrieveContextsRequest.VertexRagStore(
        rag_resources=[RetrieveContextsRequest.VertexRagStore.RagResource(rag_corpus=name)]
    )
    return RetrieveContextsRequest(
        parent="/".join(name.split("/")[:4]),
        vertex_rag_store=store,
        query=RagQuery(text=query, rag_retrieval_config=retrieval),
    )


def _contexts(found: Any, links: Mapping[str, str]) -> tuple[Context, ...]:
    """The passages that say anything, each once, nearest first."""
    unique: dict[str, Context] = {}
    for passage in found:
        if passage.text.strip():
            context = _context(passage, links)
            unique.setdefault(context.id, context)
    return tuple(sorted(unique.values(), key=lambda context: context.distance))


def _context(passage: Any, links: Mapping[str, str]) -> Context:
    uri = passage.source_uri
    return Context(
        id=_identity(uri, passage.text),
        title=passage.source_display_name or uri.rsplit("/", 1)[-1] or "?",
        text=passage.text,
        uri=uri,
        link=link(uri, links),
        # NaN and infinity cannot travel as JSON.
        distance=passage.score if math.isfinite(passage.score) else FARTHEST,
    )


def _identity(uri: str, text: str) -> str:
    """The API gives passages no id: a hash of where it is from and what it says."""
    return hashlib.sha256(f"{uri}\n{text}".encode()).hexdigest()[:16]


def link(uri: str, links: Mapping[str, str]) -> str | None:
    """What a person may open: an https address as it is, others through the mapping (longest prefix)."""
    for prefix in sorted(links, key=len, reverse=True):
        if uri.startswith(prefix):
            return links[prefix] + quote(uri.removeprefix(prefix), safe="/")
    return uri if uri.startswith("https://") else None
