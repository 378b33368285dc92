"""Searches one corpus of RAG Engine with one or several queries."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from google.cloud.aiplatform_v1.types import (
    RagQuery,
    RagRetrievalConfig,
    RetrieveContextsRequest,
)

from retrieve_fn.queries import DEPTH, fused
from shared.messages.envelope import Context
from shared.runtime import logs
from shared.runtime.background import in_background
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line
from shared.runtime.retry import RAG, call

#: Seconds that the other queries may still take after the first one has succeeded. They only improve the
#: result.
PATIENCE = 2.0
#: The distance of a passage for which the engine gives no finite number.
FARTHEST = 1e9


@dataclass(frozen=True)
class Corpus:
    """A RAG corpus, and how it is searched.

    `top_k` is the number of passages. Passages beyond `distance_threshold` are left out (None: no limit).
    `ranker` is the model of Google's ranking service that sorts the passages; None: they are sorted by
    distance. `links` maps prefixes of source URIs to prefixes of links. `by_space` names the corpora of
    spaces that use a different one.
    """

    name: str
    top_k: int
    distance_threshold: float | None
    ranker: str | None
    links: Mapping[str, str]
    by_space: Mapping[str, str] = field(default_factory=dict)

    def of(self, space: str) -> "Corpus":
        """The corpus for questions of a space."""
        return replace(self, name=self.by_space.get(space, self.name))


def search(
    queries: Sequence[str], corpus: Corpus, rag: Any, deadline: Deadline, patience: float = PATIENCE
) -> list[Context]:
    """The passages found, best first, without duplicates; `rag` is a `VertexRagServiceClient`.

    Several queries run in parallel, and their results are fused by reciprocal rank. A query is left out if it
    fails, or if it takes `patience` seconds longer than the first that succeeds.
    Raises the Permanent or Transient error of the first query if all queries fail.
    """
    if len(queries) == 1:
        return _found(queries[0], corpus.top_k, corpus, rag, deadline)
    depth = max(DEPTH, corpus.top_k)
    asked = [in_background(partial(_found, query, depth, corpus, rag, deadline)) for query in queries]
    rankings = [future.result() for future in _answered(asked, deadline, patience)]
    if not rankings:
        return asked[0].result()
    if len(rankings) < len(queries):
        logs.warning("Some queries did not succeed in time", queries=len(queries), answered=len(rankings))
    best = {context.id: context for ranking in reversed(rankings) for context in ranking}
    order = fused([[context.id for context in ranking] for ranking in rankings])
    return [best[each] for each in order[: corpus.top_k]]


def _answered(
    asked: Sequence[Future[list[Context]]], deadline: Deadline, patience: float
) -> list[Future[list[Context]]]:
    """The queries that succeed, in their order. The others have `patience` seconds after the first."""
    pending, until = set(asked), deadline
    while pending:
        done, pending = wait(pending, until.remaining, FIRST_COMPLETED)
        if not done:
            break
        if until is deadline and any(future.exception() is None for future in done):
            until = deadline.within(patience)
    succeeded = [future for future in asked if future.done() and future.exception() is None]
    for future in asked:
        if succeeded and future.done() and isinstance(trouble := future.exception(), Exception):
            logs.warning("A query failed and was left out", error=in_one_line(trouble))
    return succeeded


def _found(query: str, top_k: int, corpus: Corpus, rag: Any, deadline: Deadline) -> list[Context]:
    request = _request(corpus, query, top_k)
    response = call(
        lambda timeout: rag.retrieve_contexts(request=request, retry=None, timeout=timeout),
        RAG,
        deadline,
    )
    contexts = _contexts(response.contexts.contexts, corpus.links)
    # Keep a ranker's order: it may rank a more distant passage higher.
    return contexts if corpus.ranker else sorted(contexts, key=lambda context: context.distance)


def _request(corpus: Corpus, query: str, top_k: int) -> RetrieveContextsRequest:
    retrieval = RagRetrievalConfig(top_k=top_k)
    if corpus.distance_threshold is not None:
        retrieval.filter = RagRetrievalConfig.Filter(vector_distance_threshold=corpus.distance_threshold)
    if corpus.ranker is not None:
        service = RagRetrievalConfig.Ranking.RankService(model_name=corpus.ranker)
        retrieval.ranking = RagRetrievalConfig.Ranking(rank_service=service)
    store = RetrieveContextsRequest.VertexRagStore(
        rag_resources=[RetrieveContextsRequest.VertexRagStore.RagResource(rag_corpus=corpus.name)]
    )
    return RetrieveContextsRequest(
        parent="/".join(corpus.name.split("/")[:4]),
        vertex_rag_store=store,
        query=RagQuery(text=query, rag_retrieval_config=retrieval),
    )


def _contexts(found: Any, links: Mapping[str, str]) -> list[Context]:
    """The passages that are not empty, without duplicates, in their order."""
    unique: dict[str, Context] = {}
    for passage in found:
        if passage.text.strip():
            context = _context(passage, links)
            unique.setdefault(context.id, context)
    return list(unique.values())


def _context(passage: Any, links: Mapping[str, str]) -> Context:
    uri = passage.source_uri
    return Context(
        id=_identity(uri, passage.text),
        title=passage.source_display_name or uri.rsplit("/", 1)[-1] or "?",
        text=passage.text,
        uri=uri,
        link=link(uri, links),
        # JSON has no NaN and no infinity.
        distance=passage.score if math.isfinite(passage.score) else FARTHEST,
    )


def _identity(uri: str, text: str) -> str:
    """A hash of URI and text, because the API gives passages no id."""
    return hashlib.sha256(f"{uri}\n{text}".encode()).hexdigest()[:16]


def link(uri: str, links: Mapping[str, str]) -> str | None:
    """The link that people open: `links` replaces the longest matching prefix; else an https URI stays."""
    for prefix in sorted(links, key=len, reverse=True):
        if uri.startswith(prefix):
            return links[prefix] + quote(uri.removeprefix(prefix), safe="/")
    return uri if uri.startswith("https://") else None
