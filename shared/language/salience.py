"""What a conversation is about: history salience, a rule without a model.

A word of the history counts by how rare it is, how recently it was said, and by whom:

    score(term) = rarity(term) * (sum over the user's turns 0.7^age + 0.5 * sum over the answers 0.7^age)

Recurring rare words are the topic, the last answer holds what is now called "it", and fading handles a change
of topic. A word that both sides used, and a name, counts more. Figures: `docs/quality.md`.
"""

from collections.abc import Iterable
from typing import Protocol

from shared.language.catalogue import grammar
from shared.language.words import Word
from shared.messages.envelope import Language

FADING = 0.7
FADING_AT_A_NEW_TOPIC = 0.2
WEIGHT_OF_AN_ANSWER = 0.5
#: What a term counts that the user said and an answer took up, or the other way round.
ON_BOTH_SIDES = 1.5
#: What a name counts: a word in capitals, or with a capital inside a text.
A_NAME = 1.6
#: A question and the words it leaves unsaid are so many together: the more it says itself, the fewer it
#: needs.
ENOUGH_WORDS = 5
#: A question without words of its own ("Can you explain?") is about the topic: the best words alone name it.
WORDS_OF_THE_TOPIC = 2


class Lexicon(Protocol):
    """How texts fall into words, and how much a term of theirs says."""

    def words(self, text: str) -> Iterable[Word]:
        """The words of a text that say something about its subject, in order."""

    def rarity(self, term: str) -> float:
        """How much a term says: 0 for one that is no use to search for, more the rarer it is."""


class Salience:
    """The words of a conversation so far, weighted."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._weights: dict[str, float] = {}
        self._words: dict[tuple[str, ...], Word] = {}
        self._asked = set[str]()
        self._answered = set[str]()
        self._names = set[str]()

    def hear(self, question: str, *, new_topic: bool = False) -> None:
        """Take a turn of the user's; what was said before it fades, most of all when it opens a new topic.

        "Can you explain?" has no words to search for: it neither adds to the topic nor leaves it.
        """
        asked = list(self._lexicon.words(question))
        if not asked:
            return
        for term in self._weights:
            self._weights[term] *= FADING_AT_A_NEW_TOPIC if new_topic else FADING
        self._asked |= self._add(question, asked, 1.0)

    def tell(self, answer: str) -> None:
        """Take an answer."""
        self._answered |= self._add(answer, list(self._lexicon.words(answer)), WEIGHT_OF_AN_ANSWER)

    def unsaid(self, question: str) -> list[tuple[Word, float]]:
        """The words that a question leaves unsaid, best first, each with its share (0 to 1) of the best.

        They fill the question up to five words, and are at least one, as far as there are any; the two best
        for a question without words.
        """
        asked = {word.terms for word in self._lexicon.words(question)}
        said = {term for terms in asked for term in terms}
        scored = sorted(((self._score(word), word) for word in self._words.values()), key=_best_first)
        found = list[tuple[Word, float]]()
        for score, word in scored:
            if score > 0 and said.isdisjoint(word.terms):
                found.append((word, score / scored[0][0]))
                said.update(word.terms)
        return found[: max(1, ENOUGH_WORDS - len(asked)) if asked else WORDS_OF_THE_TOPIC]

    def _add(self, text: str, said: list[Word], weight: float) -> set[str]:
        terms = {term for word in said for term in word.terms}
        for term in terms:
            self._weights[term] = self._weights.get(term, 0.0) + weight
        for word in said:
            # A single kanji is what is left of a verb, such as 出 of 出せば.
            if word.names and len(word.surface) > 1 and not word.surface.isdecimal():
                self._words.setdefault(word.terms, word)
            if is_name(word.surface, text):
                self._names.update(word.terms)
        return terms

    def _score(self, word: Word) -> float:
        return sum(map(self._score_of_term, word.terms)) / len(word.terms)

    def _score_of_term(self, term: str) -> float:
        score = self._lexicon.rarity(term) * self._weights.get(term, 0.0)
        if term in self._asked and term in self._answered:
            score *= ON_BOTH_SIDES
        return score * A_NAME if term in self._names else score


def with_unsaid(question: str, unsaid: Iterable[Word], language: Language) -> str:
    """The question with what it leaves unsaid in brackets behind it, on one line.

    `Can you explain more? (VPN, configure)` or 「もっと詳しく（VPN 設定方法）」, as the language writes it;
    without words, the question.
    """
    said = [word.surface for word in unsaid]
    if not said:
        return question
    written = grammar(language)
    return written.query.format(question=question, words=written.between.join(said))


def _best_first(scored: tuple[float, Word]) -> tuple[float, str]:
    score, word = scored
    return -score, word.surface


def is_name(surface: str, text: str) -> bool:
    """Whether a word of a text is written as a name: in capitals, or with a capital inside the text."""
    if len(surface) > 1 and surface.isupper():
        return True
    return surface[:1].isupper() and not text.lstrip().startswith(surface)
