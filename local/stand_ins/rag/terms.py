"""From text to index terms: English stems and Japanese character bigrams, side by side in one index."""

import re
from collections.abc import Iterator
from functools import cache

import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

from shared.language import words as shared_words
from shared.language.catalogue import ENGLISH, grammar
from shared.language.detect import of_words
from shared.language.words import KANJI, Word

_stem = Stemmer.Stemmer("english").stemWord


def words(text: str) -> Iterator[Word]:
    """The words of a text that say something about its subject, in order, each with its index terms."""
    return shared_words.words(text, _stem, _stop_words(of_words(text)))


@cache
def _stop_words(language: str) -> frozenset[str]:
    """Those of the catalogue; in English a longer list."""
    known = grammar(language)
    return known.asking_words.union(STOPWORDS_EN_PLUS) if language == ENGLISH else known.stop_words


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeated as often as they occur."""
    return [term for word in words(text) for term in word.terms]


def is_japanese(text: str) -> bool:
    """Whether a text has kana or kanji in it: an English text has none, a Japanese one always."""
    return re.search(rf"[ぁ-んァ-ヺ]|{KANJI}", text) is not None
