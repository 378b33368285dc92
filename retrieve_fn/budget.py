"""Limits the passages that are passed on, by a budget in tokens of the answering model."""

from collections.abc import Iterable, Iterator

from shared.messages.envelope import Context

#: A safe estimate, because counting with the model's own tokeniser would be one more call. Google says that a
#: token is about four characters of English. Text with names, numbers and Markdown has fewer characters a
#: token. A Japanese character is at most one token. https://ai.google.dev/gemini-api/docs/tokens
ASCII_PER_TOKEN = 3


def tokens(text: str) -> int:
    """An estimate of a text's tokens that is rarely too low."""
    ascii_characters = sum(character.isascii() for character in text)
    return -(-ascii_characters // ASCII_PER_TOKEN) + len(text) - ascii_characters


def within(contexts: Iterable[Context], budget: int) -> tuple[Context, ...]:
    """The passages that fit into `budget` tokens, best first. A passage that does not fit is skipped.

    The best passage is always included. It is cut if it is longer than the budget.
    """
    return tuple(_within(contexts, budget))


def _within(contexts: Iterable[Context], budget: int) -> Iterator[Context]:
    left = budget
    for context in contexts:
        cost = tokens(context.title) + tokens(context.text)
        if cost <= left:
            left -= cost
            yield context
        elif left == budget:
            left = 0
            yield context.model_copy(update={"text": _cut(context.text, budget)})


def _cut(text: str, budget: int) -> str:
    """The longest beginning of a text that fits into `budget` tokens."""
    fits, too_long = 0, len(text) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if tokens(text[:middle]) <= budget:
            fits = middle
        else:
            too_long = middle
    return text[:fits]
