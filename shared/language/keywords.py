"""Makes a query by rule, without a model: the question, followed by keywords of the conversation."""

from collections.abc import Iterable, Iterator

from shared.language.detect import of_text
from shared.language.pointing import pointed_out
from shared.language.salience import Salience, with_unsaid
from shared.language.words import Word, words
from shared.messages.envelope import Envelope

#: Role (user, assistant or quoted) and text of an earlier turn.
Said = tuple[str, str]


class _Plain:
    """A lexicon without a corpus: all words except stop words have the same weight."""

    def words(self, text: str) -> Iterator[Word]:
        return words(text)

    def rarity(self, term: str) -> float:
        return 1.0 if term else 0.0


def by_rule(envelope: Envelope) -> str:
    """The question with its keywords, for a search without a model's rewrite."""
    return with_keywords_of(envelope, _asked(envelope))


def with_keywords_of(envelope: Envelope, sentence: str) -> str:
    """The sentence, followed in brackets by the keywords of the question that it does not contain."""
    question = envelope.question
    history = ((turn.role, turn.text) for turn in envelope.history)
    unsaid = keywords(_asked(envelope), history)
    said = {term for word in words(sentence) for term in word.terms}
    new = [word for word in unsaid if said.isdisjoint(word.terms)]
    language = of_text(question.text, question.language)
    return with_unsaid(" ".join(sentence.split()), new, language)


def _asked(envelope: Envelope) -> str:
    """The question. If it points at an item of a list in an answer, it has the item instead."""
    answers = (turn.text for turn in envelope.history if turn.role != "user")
    return pointed_out(envelope.question.text, answers)


def keywords(question: str, history: Iterable[Said]) -> list[Word]:
    """The most important words of a conversation that its next question does not contain, best first."""
    topic = Salience(_Plain())
    for role, text in history:
        if role == "user":
            topic.hear(text)
        elif role == "quoted":
            topic.quote(text)
        else:
            topic.tell(text)
    return [word for word, _ in topic.unsaid(question)]
