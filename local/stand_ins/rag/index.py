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

#: What a score is worth in a chunk of the other language. Both languages share one index, and a multilingual
#: embedding, too, puts texts of one language closer together.
OTHER_LANGUAGE = 0.7
#: What a word in brackets counts: it is said by the way, and must not outweigh the question before it.
#: However long such a word is, it counts as so many terms at most.
ASIDE = 0.3
MOST_TERMS_OF_AN_ASIDE = 3

_IN_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


@dataclass(frozen=True)
class Hit:
    """A chunk that was found and its distance from the query: 0 (the same) to 1 (nothing in common)."""

    chunk: Chunk
    distance: float


class Index:
    """The chunks of articles, searchable; `fill` replaces them."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.fill(chunks)

    def fill(self, chunks: list[Chunk]) -> None:
        """Hold these chunks from now on."""
        self.chunks = chunks
        # The title counts as text of every chunk: the third part of "VPN" need not name it again.
        documents = [terms(f"{chunk.title}\n{chunk.text}") for chunk in chunks]
        self._frequency = Counter(term for document in documents for term in set(document))
        #: Whether the chunks are parts of articles: whether any two have the same URI.
        self.in_articles = len({chunk.uri for chunk in chunks}) < len(chunks)
        in_japanese = np.array([is_japanese(chunk.text) for chunk in chunks], dtype=bool)
        #: What a score is worth, by whether the query is Japanese.
        self._worth = {
            japanese: np.where(in_japanese == japanese, 1.0, OTHER_LANGUAGE) for japanese in (False, True)
        }
        # Values for short passages, as in Anserini; the defaults of bm25s are for web pages.
        self._bm25 = bm25s.BM25(k1=0.9, b=0.4)
        if self._frequency:
            self._bm25.index(documents, show_progress=False)

    @classmethod
    def from_folder(cls, folder: Path) -> "Index":
        """The index of every `*.md` below `folder`. Raises FileNotFoundError when it is missing."""
        articles = articles_of_folder(folder)
        return cls([chunk for each in articles for chunk in chunks_of(each.uri, each.markdown)])

    def terms(self, text: str) -> list[str]:
        """The index terms of a text: English stems without stop words, Japanese character bigrams."""
        return terms(text)

    def words(self, text: str) -> Iterator[Word]:
        """The words of a text, each with its index terms."""
        return words(text)

    def rarity(self, term: str) -> float:
        """How much a term says of what a conversation is about; 0 for one that no article has.

        The root of the idf: the rarest words that people use are slips and asides more often than the topic.
        """
        return math.sqrt(self.idf(term)) if self.knows(term) else 0.0

    def idf(self, term: str) -> float:
        """How rare a term is: near 0 where every chunk has it, highest where none has (as in Lucene)."""
        frequency = self._frequency[term]
        return math.log(1 + (len(self.chunks) - frequency + 0.5) / (frequency + 0.5))

    def knows(self, term: str) -> bool:
        """Whether any chunk has the term."""
        return term in self._frequency

    @property
    def highest_idf(self) -> float:
        """The idf of a term that a single chunk has."""
        return math.log(1 + (len(self.chunks) - 0.5) / 1.5)

    def asked_for(self, asked: Iterable[Word]) -> dict[str, float]:
        """The terms of the words asked for, each with its idf.

        A bigram that no article has is left out when most of its word is known: it is only where two words
        meet (the middle of 予約方法), and says nothing about the articles.
        """
        weights = dict[str, float]()
        for word in asked:
            known = [term for term in word.terms if self.knows(term)]
            for term in known if 2 * len(known) > len(word.terms) else word.terms:
                weights[term] = self.idf(term)
        return weights

    def search(self, text: str, top_k: int) -> list[Hit]:
        """The `top_k` nearest chunks that share a term with `text`, best first, ties by their order.

        The distance is 1 - score / (sum of the idf of all that is asked for), so it does not depend on the
        length of the query, and a word that no article has pushes every chunk away. Below 0.5 most of the
        query is in the chunk; above 0.85 only a small part is.
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
        """The words in brackets and what each counts."""
        for match in _IN_BRACKETS.findall(text):
            for word in words(match):
                yield word, ASIDE * min(1.0, MOST_TERMS_OF_AN_ASIDE / len(word.terms))

    def _scores(self, asked: Iterable[str]) -> Any:
        """The BM25 score of every chunk, as an array."""
        known = [term for term in asked if self.knows(term)]
        return self._bm25.get_scores(known) if known else np.zeros(len(self.chunks))
