"""Decides from the articles whether a question leaves the topic of its conversation."""

import re
from collections.abc import Container, Iterable

from local.stand_ins.gemini.prompt import Turn
from local.stand_ins.rag.index import Hit, Index
from local.stand_ins.rag.terms import terms, words
from shared.language.salience import Salience, is_name
from shared.language.words import Word

#: A word is specific when its idf has this share of the highest that any word of the articles can have.
SPECIFIC = 0.55
ENOUGH_SPECIFIC_WORDS = 4
#: The articles under discussion cover a question when they match it this well, next to the best of all.
COVERED = 0.4
#: A question of so many words that one chunk matches this well has said all that is needed to find it.
ENOUGH_WORDS = 3
WELL_COVERED = 0.7
#: The articles under discussion speak of a word when this share of what is found for it is in them.
FEW = 0.25

#: What there is or what is needed (手当がありますか, 時間がかかりますか) is asked of the topic.
_SUBJECT = re.compile(r"([ァ-ヺー一-鿿A-Za-z]{2,})[がを](?!あ[りる]|い[りる]|かか|必要)")
_REFERS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|him|her|same|above|previous|former|latter)\b"
    r"|^(?:and|or|but|what about|how about|on|for|with)\b"
    r"|それ|その|これ|この|あれ|あの|そこ|そちら|同じ|前述|上記|先ほど|さっき",
    re.IGNORECASE,
)
#: 使えないときは？ leaves open what happens, which the conversation must say.
_TRAILS_OFF = re.compile(r"(?:とき|時|場合|[^の]で)は\s*[?？]?$")
#: Xとは何ですか introduces X. English has no such sign: "What is an example?" asks about what came before.
_INTRODUCES = re.compile(r"とは(?:何|なに|\s*[?？])")


class Topic:
    """The topic of a conversation so far."""

    def __init__(self, index: Index, history: Iterable[Turn] = ()) -> None:
        self._index = index
        self._salience = Salience(index)
        for turn in history:
            if turn.role == "user":
                self._salience.hear(turn.text, new_topic=self.stands_alone(turn.text))
            elif turn.role == "quoted":
                self._salience.quote(turn.text)
            else:
                self._salience.tell(turn.text)

    def stands_alone(self, question: str) -> bool:
        """Whether a question stands alone, because it names its topic itself.

        With few specific words that depends on the articles: "on a Mac" is about the VPN when the articles
        under discussion speak of Macs, and "a paper jam" is a new topic when only others speak of jams.
        """
        asked = list(words(question))
        if not any(word.names for word in asked) or self._refers_back(question):
            return False
        if sum(map(self._is_specific, asked)) >= ENOUGH_SPECIFIC_WORDS or _INTRODUCES.search(question):
            return True
        # Only of articles is it asked how well those under discussion cover the question.
        hits = self._index.search(question, len(self._index.chunks) if self._index.in_articles else 3)
        if not hits:
            return any(is_name(word.surface, question) for word in asked)
        different = len({word.terms for word in asked})
        if different >= ENOUGH_WORDS and 1 - hits[0].distance >= WELL_COVERED:
            return True
        return self._is_of_another_topic(question, asked, hits)

    def _is_of_another_topic(self, question: str, asked: list[Word], hits: list[Hit]) -> bool:
        """Whether it is about other articles than those under discussion; `hits` are what it finds."""
        here = self._articles()
        if hits[0].chunk.uri in here:
            return False
        if self._names_another(asked, [hit.chunk.title for hit in hits[:3]], here.values()):
            return True
        if self._has_a_subject_of_its_own(question, here) or self._is_nearest_to_another(hits, here):
            return True
        # One word that is no article's name, such as the time in "at what time?", may be about anything.
        return len({word.terms for word in asked}) > 1 and self._is_hardly_covered(hits, here)

    @staticmethod
    def _is_nearest_to_another(hits: list[Hit], here: Container[str]) -> bool:
        nearest = {hit.chunk.uri for hit in hits[:3]}
        return len(hits) >= 3 and len(nearest) == 1 and not any(uri in here for uri in nearest)

    def _is_hardly_covered(self, hits: list[Hit], here: dict[str, str]) -> bool:
        if not self._index.in_articles:
            return False  # passages that stand alone cannot tell what is discussed around them
        best_here = max((1 - hit.distance for hit in hits if hit.chunk.uri in here), default=0.0)
        return best_here < COVERED * (1 - hits[0].distance)

    def salient(self, question: str) -> list[tuple[Word, float]]:
        """The words that the question leaves unsaid, best first, each with its share (0 to 1) of the best."""
        return self._salience.unsaid(question)

    def _articles(self) -> dict[str, str]:
        """The titles of the articles under discussion, by their URI."""
        unsaid = " ".join(word.surface for word, _ in self.salient(""))
        return {hit.chunk.uri: hit.chunk.title for hit in self._index.search(unsaid, 2)}

    def _has_a_subject_of_its_own(self, question: str, here: Container[str]) -> bool:
        """メールが届かない: a Japanese clause with a subject or object from other articles."""
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
        """A pronoun refers to the conversation, unless the question itself says what it means."""
        match = _REFERS_BACK.search(question)
        if match is None:
            return _TRAILS_OFF.search(question) is not None
        before = list(words(question[: match.start()]))
        return len(before) < 2 and not any(is_name(word.surface, question) for word in before)
