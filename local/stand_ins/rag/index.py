"""Search over the articles: BM25, with its score turned into a distance as RAG Engine gives one."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from local.stand_ins.rag.chunks import Chunk, articles_of_folder, chunks_of
from local.stand_ins.rag.terms import is_japanese, terms, words
from shared.language.words import Word

#: The weight of a score in a chunk of the other language. Both languages share one index, and multilingual
#: embeddings also put texts of one language closer together.
OTHER_LANGUAGE = 0.7
#: The weight of a word in brackets: it is an aside, and must not outweigh the question before it. However
#: long it is, it counts as at most MOST_TERMS_OF_AN_ASIDE terms.
ASIDE = 0.3
MOST_TERMS_OF_AN_ASIDE = 3

_IN_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


@dataclass(frozen=True)
class Hit:
    """A found chunk, and its distance from the query: 0 (the same) to 1 (nothing in common)."""

    chunk: Chunk
    distance: float


class Index:
    """A search index of chunks. `fill` replaces them."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.fill(chunks)

    def fill(self, chunks: list[Chunk]) -> None:
        """Replace the chunks."""
        self.chunks = chunks
        # The title counts as text of every chunk: the third chunk of "VPN" may not name it again.
        documents = [terms(f"{chunk.title}\n{chunk.text}") for chunk in chunks]
        self._frequency = Counter(term for document in documents for term in set(document))
        #: Whether the chunks are parts of articles: any two have the same URI.
        self.in_articles = len({chunk.uri for chunk in chunks}) < len(chunks)
        in_japanese = np.array([is_japanese(chunk.text) for chunk in chunks], dtype=bool)
        #: The weight of each chunk's score, for a Japanese query and for others.
        self._worth = {
            japanese: np.where(in_japanese == japanese, 1.0, OTHER_LANGUAGE) for japanese in (False, True)
        }
        # Values for short passages, as in Anserini; the defaults of bm25s are for web pages.
        self._bm25 = bm25s.BM25(k1=0.9, b=0.4)
        if self._frequency:
            self._bm25.index(documents, show_progress=False)

    @classmethod
    def from_folder(cls, folder: Path) -> "Index":
        """The index of every `*.md` below `folder`. Raises FileNotFoundError if there is no such folder."""
        articles = articles_of_folder(folder)
        return cls([chunk for each in articles for chunk in chunks_of(each.uri, each.markdown)])

    def terms(self, text: str) -> list[str]:
        """The index terms of a text: English stems without stop words, Japanese character bigrams."""
        return terms(text)

    def words(self, text: str) -> Iterator[Word]:
        """The words of a text, each with its index terms."""
        return words(text)

    def rarity(self, term: str) -> float:
        """How much a term says about the topic of a conversation; 0 if no article has it.

        It is the square root of the idf, because the rarest words are often slips or asides, not the topic.
        """
        return math.sqrt(self.idf(term)) if self.knows(term) else 0.0

    def idf(self, term: str) -> float:
        """How rare a term is: near 0 if every chunk has it, highest if none has it (as in Lucene)."""
        frequency = self._frequency[term]
        return math.log(1 + (len(self.chunks) - frequency + 0.5) / (frequency + 0.5))

    def knows(self, term: str) -> bool:
        """Whether any chunk has the term."""
        return term in self._frequency

    @property
    def highest_idf(self) -> float:
        """The idf of a term that only one chunk has."""
        return math.log(1 + (len(self.chunks) - 0.5) / 1.5)

    def asked_for(self, asked: Iterable[Word]) -> dict[str, float]:
        """The terms of a query's words, each with its idf.

        A bigram that no article has is left out if most of its word is known: it only joins two words (the
        middle of 予約方法) and says nothing about the articles.
        """
        weights = dict[str, float]()
        for word in asked:
            known = [term for term in word.terms if self.knows(term)]
            for term in known if 2 * len(known) > len(word.terms) else word.terms:
                weights[term] = self.idf(term)
        return weights

    def search(self, text: str, top_k: int) -> list[Hit]:
        """The `top_k` nearest chunks that share a term with `text`, best first; ties keep their order.

        The distance is 1 - score / (sum of the idf of all terms of the query). So it does not depend on the
        length of the query, and a word that no article has increases every distance. Below 0.5, most of the
        query is in the chunk; above 0.85, only a small part.
        """
        asked = self.asked_for(words(_IN_BRACKETS.sub(" ", text)))
        scores, most = self._scores(asked), sum(asked.values())
        for word, weight in self._asides(text):
            new = {term: idf for term, idf in self.asked_for([word]).items() if term not in asked}
            scores += weight * self._scores(new)
            most += weight * sum(new.values())
            asked |= new
        scores = scores * self._worth[is_japanese(text)]
        found = np.flatnonzero(scores > 0)
        best = found[np.argsort(-scores[found], kind="stable")[:top_k]]
        return [Hit(self.chunks[number], 1 - float(scores[number]) / most) for number in best]

    @staticmethod
    def _asides(text: str) -> Iterator[tuple[Word, float]]:
        """The words in brackets, each with its weight."""
        for match in _IN_BRACKETS.findall(text):
            for word in words(match):
                yield word, ASIDE * min(1.0, MOST_TERMS_OF_AN_ASIDE / len(word.terms))

    def _scores(self, asked: Iterable[str]) -> Any:
        """The BM25 score of every chunk, as an array."""
        known = [term for term in asked if self.knows(term)]
        return self._bm25.get_scores(known) if known else np.zeros(len(self.chunks))
