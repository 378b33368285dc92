"""What is searched for when there is no usable rewrite: the question with what it leaves unsaid, by rule."""

from collections.abc import Iterable, Iterator

from shared.envelope import Language
from shared.salience import Salience, with_unsaid
from shared.small_talk import is_small_talk
from shared.words import Word, words


class _Plain:
    """A lexicon without the corpus at hand: every word that is no stop word says the same."""

    def words(self, text: str) -> Iterator[Word]:
        return words(text)

    def rarity(self, term: str) -> float:
        return 1.0 if term else 0.0


def fallback(question: str, history: Iterable[tuple[str, str]], language: Language) -> str:
    """The question and, in brackets, the words that its conversation is most about; on one line.

    `history` is pairs of role (user or assistant) and text. Greetings and thanks stay as they are.
    """
    question = " ".join(question.split())
    if is_small_talk(question):
        return question
    topic = Salience(_Plain())
    for role, text in history:
        if role == "user":
            topic.hear(text)
        else:
            topic.tell(text)
    unsaid = [word for word, _ in topic.unsaid(question)]
    return with_unsaid(question, unsaid, japanese=language == "ja")
