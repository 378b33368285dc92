"""What is searched for when there is no usable rewrite: the question with what it leaves unsaid, by rule."""

from collections.abc import Iterable, Iterator
from typing import Literal

from shared.envelope import Language
from shared.salience import Salience, with_unsaid
from shared.words import Word, words


class _Plain:
    """Without the corpus at hand, every word that is no stop word says the same."""

    def words(self, text: str) -> Iterator[Word]:
        return words(text)

    def rarity(self, term: str) -> float:
        return 1.0 if term else 0.0


def fallback(
    question: str, history: Iterable[tuple[Literal["user", "assistant"], str]], language: Language
) -> str:
    """The question and, in brackets, the words that the conversation is most about; on one line."""
    topic = Salience(_Plain())
    for role, text in history:
        if role == "user":
            topic.hear(text)
        else:
            topic.tell(text)
    unsaid = [word for word, _ in topic.unsaid(question)]
    return with_unsaid(" ".join(question.split()), unsaid, japanese=language == "ja")
