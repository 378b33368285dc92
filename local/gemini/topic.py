"""What a conversation is about: history salience, a rule without a model.

A word of the history counts by how rare it is in the articles, how recently it was said, and by whom:

    score(term) = idf(term) * (sum over the user's turns 0.7^age + 0.4 * sum over the answers 0.7^age)

Recurring rare words are the topic, the last answer holds what is now called "it", and fading handles a change
of topic. A question that stands alone opens a new topic, so what came before it fades at once.
"""

import re
from collections.abc import Container, Iterable

from local.gemini.prompt import Turn
from local.rag.index import Hit, Index
from local.rag.terms import Word, terms, words

FADING = 0.7
FADING_AT_A_NEW_TOPIC = 0.2
WEIGHT_OF_AN_ANSWER = 0.4
#: At most so many words are salient: more outweigh the question. Each needs this share of the best score, a
#: lower one if the user said it, who knows the usual name, a higher one if only an answer mentions it.
MOST_WORDS = 2
LEAST_SHARE_OF_THE_USER = 0.25
LEAST_SHARE_OF_AN_ANSWER = 0.6
#: VPN, MFA: what a company abbreviates is what its articles are about, however often they say it.
CAPITALS = 1.6
#: A word is specific when its idf has this share of the highest that any word of the articles can have.
SPECIFIC = 0.55
ENOUGH_SPECIFIC_WORDS = 4
#: The articles under discussion cover a question when they match it this well, next to the best of all.
COVERED = 0.4

#: The articles under discussion speak of a word when this share of what is found for it is in them.
FEW = 0.25

_SUBJECT = re.compile(r"([ァ-ヺー一-鿿A-Za-z]{2,})[がを]")
_REFERS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|him|her|same|above|previous|former|latter)\b"
    r"|^(?:and|or|but|what about|how about|on|for|with)\b"
    r"|それ|その|これ|この|あれ|あの|そこ|そちら|同じ|前述|上記|先ほど|さっき",
    re.IGNORECASE,
)


class Topic:
    """The words of a conversation so far, weighted."""

    def __init__(self, index: Index, history: Iterable[Turn] = ()) -> None:
        self._index = index
        self._weights: dict[str, float] = {}
        self._words: dict[tuple[str, ...], Word] = {}
        self._from_the_user: set[tuple[str, ...]] = set()
        for turn in history:
            if turn.role == "user":
                self._hear(turn.text)
            else:
                self._add(turn.text, WEIGHT_OF_AN_ANSWER)

    def stands_alone(self, question: str) -> bool:
        """Whether a question needs nothing of the conversation: it says itself what it is about.

        With few specific words that depends on the articles: "on a Mac" is about the VPN when the articles
        under discussion speak of Macs, and "a paper jam" is a new topic when only others speak of jams.
        """
        asked = list(words(question))
        if not any(word.names for word in asked) or self._refers_back(question):
            return False
        if sum(map(self._is_specific, asked)) >= ENOUGH_SPECIFIC_WORDS:
            return True
        hits = self._index.search(question, len(self._index.chunks))
        if not hits:
            return len(asked) > 1
        here = self._articles()
        return self._is_about_others(question, asked, hits, here) or self._is_hardly_covered(hits, here)

    def _is_about_others(
        self, question: str, asked: list[Word], hits: list[Hit], here: dict[str, str]
    ) -> bool:
        """Whether a word of the question, or all that is nearest to it, is about other articles."""
        nearest = hits[:3]
        articles = {hit.chunk.uri for hit in nearest}
        return (
            self._names_another(asked, [hit.chunk.title for hit in nearest], here.values())
            or self._has_a_subject_of_its_own(question, here)
            or (len(nearest) == 3 and len(articles) == 1 and articles.isdisjoint(here))
        )

    @staticmethod
    def _is_hardly_covered(hits: list[Hit], here: dict[str, str]) -> bool:
        best_here = max((1 - hit.distance for hit in hits if hit.chunk.uri in here), default=0.0)
        return best_here < COVERED * (1 - hits[0].distance)

    def salient(self, question: str) -> list[tuple[Word, float]]:
        """The words that the question leaves unsaid, best first, each with its share (0 to 1) of the best."""
        said = {term for word in words(question) for term in word.terms}
        scored = [(self._score(word), word) for word in self._words.values() if word.names]
        best = max((score for score, _ in scored), default=0.0) or 1.0
        # What the user said comes first: a longer word of an answer must not take its place.
        scored.sort(key=lambda pair: (pair[1].terms not in self._from_the_user, -pair[0], pair[1].surface))
        users, others = list[tuple[Word, float]](), list[tuple[Word, float]]()
        for score, word in scored:
            from_the_user = word.terms in self._from_the_user
            least = LEAST_SHARE_OF_THE_USER if from_the_user else LEAST_SHARE_OF_AN_ANSWER
            if score >= least * best and said.isdisjoint(word.terms):
                (users if from_the_user else others).append((word, score / best))
                said.update(word.terms)
        return users[:MOST_WORDS] or others[:MOST_WORDS]

    def _hear(self, question: str) -> None:
        asked = list(words(question))
        if not asked:
            return  # "Can you explain?" neither adds to the topic nor leaves it
        fading = FADING_AT_A_NEW_TOPIC if self.stands_alone(question) else FADING
        for term in self._weights:
            self._weights[term] *= fading
        self._add(question, 1.0)
        self._from_the_user.update(word.terms for word in asked)

    def _add(self, text: str, weight: float) -> None:
        said = list(words(text))
        for term in {term for word in said for term in word.terms}:
            self._weights[term] = self._weights.get(term, 0.0) + weight
        for word in said:
            # A single kanji is what is left of a verb, such as 出 of 出せば.
            if len(word.surface) > 1 and not word.surface.isdecimal():
                self._words.setdefault(word.terms, word)

    def _score(self, word: Word) -> float:
        known = [term for term in word.terms if self._index.knows(term)]
        score = sum(self._index.idf(term) * self._weights.get(term, 0.0) for term in known) / len(word.terms)
        return score * CAPITALS if word.surface.isupper() else score

    def _articles(self) -> dict[str, str]:
        """The titles of the articles under discussion, by their URI."""
        unsaid = " ".join(word.surface for word, _ in self.salient(""))
        return {hit.chunk.uri: hit.chunk.title for hit in self._index.search(unsaid, 3)}

    def _has_a_subject_of_its_own(self, question: str, here: Container[str]) -> bool:
        """メールが届かない: a Japanese clause whose subject or object is spoken of in other articles."""
        subject = _SUBJECT.search(question)
        if subject is None:
            return False
        hits = self._index.search(subject[1], 10)
        about_it = sum(hit.chunk.uri in here for hit in hits)
        return bool(hits) and about_it < FEW * len(hits)

    @staticmethod
    def _names_another(asked: Iterable[Word], nearest: Iterable[str], here: Iterable[str]) -> bool:
        """Whether a word of the question is in one of the nearest titles, and in none under discussion."""
        new = set(terms("\n".join(nearest))).difference(terms("\n".join(here)))
        return any(word.names and new.issuperset(word.terms) for word in asked)

    def _is_specific(self, word: Word) -> bool:
        rarest = max(self._index.idf(term) for term in word.terms)
        return word.names and rarest >= SPECIFIC * self._index.highest_idf

    def _refers_back(self, question: str) -> bool:
        """A pronoun refers back to the conversation unless the question itself has said what it means."""
        match = _REFERS_BACK.search(question)
        return match is not None and len(list(words(question[: match.start()]))) < 2
