"""The search engine that is measured: the local one, over the passages of a data set."""

from collections.abc import Iterable

from evaluation.data import Passage
from local.stand_ins.rag.chunks import Chunk
from local.stand_ins.rag.index import Hit, Index
from retrieve_fn.queries import DEPTH, fused


class Engine:
    """BM25 over the passages, as in `make run`. A ranking is a list of passage ids."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        passages = tuple(passages)
        self.index = Index([Chunk(passage.title, passage.article, passage.text) for passage in passages])
        pairs = zip(self.index.chunks, passages, strict=True)
        self._ids = {id(chunk): passage.id for chunk, passage in pairs}

    def hits(self, top_k: int, *queries: str) -> list[Hit]:
        """What is found, best first, as `retrieve_fn` asks and fuses; ties by the order in the data."""
        if len(queries) == 1:
            return self.index.search(queries[0], top_k)
        found = [self.index.search(query, max(DEPTH, top_k)) for query in queries]
        hits = {self._id(hit): hit for ranking in reversed(found) for hit in ranking}
        return [hits[each] for each in fused(map(self.ids, found))[:top_k]]

    def ids(self, hits: Iterable[Hit]) -> list[str]:
        """The ids of passages that were found."""
        return list(map(self._id, hits))

    def ranking(self, *queries: str) -> list[str]:
        """The ids of what one or several queries find, each once: the best place of an id that several
        passages share counts."""
        return list(dict.fromkeys(self.ids(self.hits(DEPTH, *queries))))

    def _id(self, hit: Hit) -> str:
        return self._ids[id(hit.chunk)]
