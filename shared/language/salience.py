"""Finds the words that a conversation is about, by a rule without a model (history salience).

The score of a term in the history depends on how rare it is, how recently it was said, and by whom:

    score(term) = rarity(term) * (sum over the user's turns 0.7^age + 0.5 * sum over the answers 0.7^age)

Rare words that come up again are the topic. The last answer contains what is now called "it". Because older
words fade, a change of topic is no problem. A name, or a word that both sides used, counts more. Figures:
`docs/quality.md`.
"""

from collections.abc import Iterable
from typing import Protocol

from shared.language.catalogue import grammar
from shared.language.words import Word
from shared.messages.envelope import Language

FADING = 0.7
FADING_AT_A_NEW_TOPIC = 0.2
WEIGHT_OF_AN_ANSWER = 0.5
#: The factor for a term that both the user and an answer used.
ON_BOTH_SIDES = 1.5
#: The factor for a name: a word in capitals, or a capitalised word that is not the first.
A_NAME = 1.6
#: A question is filled up to this many words. The more words it has itself, the fewer are added.
ENOUGH_WORDS = 5
#: How many words are added to a question without words of its own ("Can you explain?"). They name the topic.
#: If the question quotes a message, it is about all of that, and gets as many as any other.
WORDS_OF_THE_TOPIC = 2


class Lexicon(Protocol):
    """Splits texts into words, and says how rare a term is."""

    def words(self, text: str) -> Iterable[Word]:
        """The words of a text that say something about its subject, in order."""

    def rarity(self, term: str) -> float:
        """How rare a term is. 0 means that it does not help a search."""


class Salience:
    """The words of a conversation so far, weighted."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._weights: dict[str, float] = {}
        self._words: dict[tuple[str, ...], Word] = {}
        self._asked = set[str]()
        self._answered = set[str]()
        self._names = set[str]()
        self._without_words = WORDS_OF_THE_TOPIC

    def hear(self, question: str, *, new_topic: bool = False) -> None:
        """Add a turn of the user. Earlier words fade, and fade more if the turn opens a new topic.

        A turn without words to search for, such as "Can you explain?", changes no weight.
        """
        self._without_words = WORDS_OF_THE_TOPIC
        asked = list(self._lexicon.words(question))
        if not asked:
            return
        for term in self._weights:
            self._weights[term] *= FADING_AT_A_NEW_TOPIC if new_topic else FADING
        self._asked |= self._add(question, asked, 1.0)

    def tell(self, answer: str) -> None:
        """Add an answer."""
        self._answered |= self._add(answer, list(self._lexicon.words(answer)), WEIGHT_OF_AN_ANSWER)

    def quote(self, message: str) -> None:
        """Add the message that the next question quotes. It counts like a question."""
        self._add(message, list(self._lexicon.words(message)), 1.0)
        self._without_words = ENOUGH_WORDS

    def unsaid(self, question: str) -> list[tuple[Word, float]]:
        """The best words that a question does not contain, each with its score as a share (0 to 1) of the
        best.

        They fill the question up to five words, but at least one is added if there is any. A question without
        words gets the two best, or the five best if it quotes a message.
        """
        asked = {word.terms for word in self._lexicon.words(question)}
        said = {term for terms in asked for term in terms}
        scored = sorted(((self._score(word), word) for word in self._words.values()), key=_best_first)
        found = list[tuple[Word, float]]()
        for score, word in scored:
            if score > 0 and said.isdisjoint(word.terms):
                found.append((word, score / scored[0][0]))
                said.update(word.terms)
        return found[: max(1, ENOUGH_WORDS - len(asked)) if asked else self._without_words]

    def _add(self, text: str, said: list[Word], weight: float) -> set[str]:
        terms = {term for word in said for term in word.terms}
        for term in terms:
            self._weights[term] = self._weights.get(term, 0.0) + weight
        for word in said:
            # A single kanji is usually part of a verb, such as 出 in 出せば.
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
    """The question, followed by the words `unsaid` in brackets, on one line.

    For example `Can you explain more? (VPN, configure)` or 「もっと詳しく（VPN 設定方法）」. The format
    depends on the language. Without `unsaid` it is only the question.
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
    """Whether a word is written like a name: in capitals, or capitalised and not first in the text."""
    if len(surface) > 1 and surface.isupper():
        return True
    return surface[:1].isupper() and not text.lstrip().startswith(surface)
