"""The search engine that is measured: the local one, over the passages of a data set."""

from collections.abc import Iterable, Sequence

from evaluation.data import Passage
from local.rag.chunks import Chunk
from local.rag.index import Hit, Index

#: So many passages of each query are fused: more change nothing at the ranks that count.
DEPTH = 20
#: Dampens the first ranks, so that one query alone does not decide; the value of the method's authors.
DAMPING = 60


class Engine:
    """BM25 over the passages, as `make run` searches; rankings are of passage ids."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        passages = tuple(passages)
        self.index = Index([Chunk(passage.title, passage.article, passage.text) for passage in passages])
        pairs = zip(self.index.chunks, passages, strict=True)
        self._ids = {id(chunk): passage.id for chunk, passage in pairs}

    def hits(self, query: str, top_k: int) -> list[Hit]:
        """The nearest passages, best first; ties by their order in the data."""
        return self.index.search(query, top_k)

    def ids(self, hits: Iterable[Hit]) -> list[str]:
        """The ids of passages that were found."""
        return [self._ids[id(hit.chunk)] for hit in hits]

    def ranking(self, *queries: str) -> list[str]:
        """The ids that a query finds; of several queries, what they find fused by reciprocal rank."""
        return fused([self.ids(self.hits(query, DEPTH)) for query in queries])


def fused(rankings: Iterable[Sequence[str]]) -> list[str]:
    """Each id once, by the sum of 1 / (60 + rank) over the rankings; ties as they were first seen."""
    scores = dict[str, float]()
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (DAMPING + rank)
    return sorted(scores, key=lambda item: -scores[item])
