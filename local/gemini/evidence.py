"""How well a passage bears on a question: which of the question's words it has, and how much each says.

A word counts by its idf. It is there when the passage has it, has another word for it (`synonyms.toml`), or
has what it is a slip of the pen for; of a Japanese verb its kanji is enough.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from local.gemini.spelling import meant
from local.rag.index import Index
from local.rag.terms import terms
from shared.words import Word

#: What a word counts that stands elsewhere in the same passage, and one that is there by another name.
ELSEWHERE = 0.6
ANOTHER_WORD = 0.9

#: Words of a question that say how, not what about.
_ASIDES = """
    think believe guess wonder suppose already again meantime meanwhile accident accidentally suddenly
    currently really actually maybe somehow possible somebody someone just say said shows appears
    直 解決 困
"""
_BESIDE_THE_POINT = frozenset(terms(_ASIDES))
_KANJI_AND_KANA = re.compile(r"([一-鿿])[ぁ-ん]")
_KANJI_OF_A_VERB = re.compile(r"[一-鿿](?=[ぁ-ん])")


@dataclass(frozen=True)
class Claim:
    """A word of the question: its terms as written, the ways in which a passage may have it, its weight."""

    written: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    weight: float

    def held(self, near: frozenset[str], far: frozenset[str]) -> float:
        """How far (0 to 1) it is in a block (`near`), or else in the passage around it (`far`)."""
        return max(
            (ANOTHER_WORD if number else 1.0) * _held(way, near, far) for number, way in enumerate(self.ways)
        )


class Evidence:
    """A question's words against passages; `known` are the words of the passages, as they are written."""

    def __init__(self, asked: Iterable[Word], index: Index, known: Iterable[str]) -> None:
        self._index = index
        self._known = frozenset(known)
        telling = [word for word in asked if _tells(word)]
        named = [word for word in telling if word.names] or telling
        self.claims = tuple(dict.fromkeys(self._claim(word) for word in named))

    def share(self, block: str, passage: str) -> float:
        """Which part of the question (0 to 1) a block bears on, that stands in this passage."""
        near, far = _present(block), _present(passage)
        held = sum(claim.weight * claim.held(near, far) for claim in self.claims)
        return held / (sum(claim.weight for claim in self.claims) or 1.0)

    def by_another_name(self) -> dict[str, float]:
        """For words that no article has: the terms that may stand for them, with what each counts."""
        unknown = [claim for claim in self.claims if not any(map(self._index.knows, claim.written))]
        return {
            term: ANOTHER_WORD * claim.weight / len(way)
            for claim in unknown
            for way in claim.ways
            for term in way
        }

    def _claim(self, word: Word) -> Claim:
        known = tuple(term for term in word.terms if self._index.knows(term))
        own = known if len(word.terms) > 1 and 2 * len(known) > len(word.terms) else word.terms
        weight = sum(min(self._index.idf(term), self._index.highest_idf) for term in own) / len(own)
        if not known and (right := meant(word.surface, self._known)):
            return Claim(word.terms, (tuple(terms(right)) or own,), weight)
        others = synonyms().get(word.surface.lower()) or synonyms().get(" ".join(word.terms)) or []
        return Claim(word.terms, (own, *others), weight)


@lru_cache(maxsize=256)  # a passage is compared with for each of its blocks
def _present(text: str) -> frozenset[str]:
    """The terms of a text, and the kanji that its verbs have in common."""
    return frozenset((*terms(text), *_KANJI_OF_A_VERB.findall(text)))


@cache
def synonyms() -> dict[str, list[tuple[str, ...]]]:
    """The terms of the other words of its group, by a word in lower case and by its stem."""
    groups = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))
    found = dict[str, list[tuple[str, ...]]]()
    for line in (line for lines in groups.values() for line in lines):
        members = line.split()
        as_terms = {member: tuple(terms(member)) or (member,) for member in members}
        for member in members:
            others = [as_terms[other] for other in members if other != member]
            for key in {member.lower(), as_terms[member][0] if len(as_terms[member]) == 1 else ""} - {""}:
                found.setdefault(key, []).extend(others)
    return found


def _held(way: tuple[str, ...], near: frozenset[str], far: frozenset[str]) -> float:
    return sum(1.0 if _in(term, near) else ELSEWHERE * _in(term, far) for term in way) / len(way)


def _in(term: str, there: frozenset[str]) -> bool:
    if term in there:
        return True
    verb = _KANJI_AND_KANA.fullmatch(term)
    return verb is not None and verb[1] in there


def _tells(word: Word) -> bool:
    return not word.surface.isdecimal() and word.terms[0] not in _BESIDE_THE_POINT
