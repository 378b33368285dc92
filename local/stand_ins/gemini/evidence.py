"""How well a sentence fits a question: which words of the question it has, and how much each word weighs.

A word counts as present if the sentence or its block has the word, a synonym (`synonyms.toml`), or the right
spelling of a mistyped word. For a Japanese verb, its kanji is enough.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from local.stand_ins.gemini.answer_type import AnswerType
from local.stand_ins.gemini.claims import ANOTHER_WORD, Claim
from local.stand_ins.gemini.clauses import ONE_QUESTION, Form
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import terms

#: The weight of a word that is not in the sentence, but in its block, in the heading or in the title.
IN_THE_BLOCK = 0.8
#: What the words of a question that articles know count in all, at most, and in one that is told at length:
#: who says much says much that the answer need not have. As a multiple of the highest idf.
MOST = 2.7
MOST_AT_LENGTH = 1.7
#: What a word that no article has counts where some of the words are background.
UNKNOWN_IF_IT_TELLS = 0.5
#: With this many significant words, everyday words do not count.
ENOUGH_WORDS = 3

_KANJI_AND_KANA = re.compile(r"([一-鿿])[ぁ-ん]")
_KANJI_OF_A_VERB = re.compile(r"[一-鿿](?=[ぁ-ん])")

_IN_KANJI = re.compile("[一-鿿々ぁ-ん]+")

_Places = tuple[tuple[frozenset[str], float], ...]


class Evidence:
    """The claims of a question, and the kind of thing it asks for (None: any), against passages."""

    def __init__(
        self,
        claims: Iterable[Claim],
        index: Index,
        kind: AnswerType | None = None,
        form: Form = ONE_QUESTION,
    ) -> None:
        self._index = index
        self.kind = kind
        self._form = form
        distinct = tuple(dict.fromkeys(claims))
        telling = tuple(claim for claim in distinct if not claim.everyday)
        self.claims = telling if len(telling) >= ENOUGH_WORDS else distinct

    @property
    def telling(self) -> "Evidence":
        """The same without everyday words, where there are others."""
        telling = [claim for claim in self.claims if not claim.everyday]
        return Evidence(telling or self.claims, self._index, self.kind, self._form)

    def shares(self, units: Sequence[str], around: str) -> list[float]:
        """The part of the question (0 to 1) that each sentence of a block covers. `around`: its heading and
        title. A sentence without the kind of thing that is asked for covers nothing."""
        block = "\n".join((*units, around))
        return [
            0.0 if self.kind and not self.kind.in_text(unit) else self._share(unit, block) for unit in units
        ]

    def _share(self, unit: str, around: str) -> float:
        places = ((_present(unit), 1.0), (_present(around), IN_THE_BLOCK))
        found = [_held(claim, places) for claim in self.claims]
        if self._lacks_a_name(found):
            return 0.0
        held = sum(self._weight(claim) * part for claim, part in zip(self.claims, found, strict=True))
        return held / self._due if self.claims else 1.0

    def _weight(self, claim: Claim) -> float:
        return claim.weight * (UNKNOWN_IF_IT_TELLS if self._form.tells and not claim.known else 1.0)

    @cached_property
    def _due(self) -> float:
        """The score of a sentence that has the whole question."""
        known = sum(claim.weight for claim in self.claims if claim.known)
        unknown = sum(self._weight(claim) for claim in self.claims if not claim.known)
        most = (MOST_AT_LENGTH if self._form.at_length else MOST) * self._index.highest_idf
        return min(known, most) + unknown

    def _lacks_a_name(self, found: Sequence[float]) -> bool:
        """Whether the question has a name that no article has, or the passage has none of its names."""
        names = [(claim, held) for claim, held in zip(self.claims, found, strict=True) if claim.name]
        if self._form.tells:  # a name may be background too
            names = [(claim, held) for claim, held in names if claim.known]
        unheard_of = any(not held and not claim.known for claim, held in names)
        return unheard_of or (bool(names) and not any(held for _, held in names))

    def by_another_name(self) -> dict[str, float]:
        """For words that no article has: the terms that may stand for them, with what each counts."""
        unknown = [claim for claim in self.claims if not any(map(self._index.knows, claim.written))]
        return {
            term: ANOTHER_WORD * claim.weight / len(way)
            for claim in unknown
            for way in claim.ways
            for term in way
        }


@lru_cache(maxsize=1024)  # a passage is compared with for each of its sentences
def _present(text: str) -> frozenset[str]:
    """The terms of a text, and the kanji that its verbs have in common."""
    return frozenset((*terms(text), *_KANJI_OF_A_VERB.findall(text)))


def _held(claim: Claim, places: _Places) -> float:
    """How well (0 to 1) the nearest of these places that has a claim matches it."""
    own, *others = claim.ways
    return max(_way_held(own, places), *(ANOTHER_WORD * _whole(other, places) for other in others), 0.0)


def _way_held(way: tuple[str, ...], places: _Places) -> float:
    """How far a word is there. A part of it says something in kanji (社員 of 社員証), and else nothing."""
    found = [max(worth * _in(term, there) for there, worth in places) for term in way]
    if min(found) == 0 and not _IN_KANJI.fullmatch("".join(way)):
        return 0.0
    return sum(found) / len(way)


def _whole(way: tuple[str, ...], places: _Places) -> float:
    """How well a whole word matches. A part of another word does not count."""
    return min(max(worth * _in(term, there) for there, worth in places) for term in way)


def _in(term: str, there: frozenset[str]) -> bool:
    if term in there:
        return True
    verb = _KANJI_AND_KANA.fullmatch(term)
    return verb is not None and verb[1] in there
