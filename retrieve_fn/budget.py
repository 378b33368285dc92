"""How much of what was found is passed on: a budget in tokens of the model that answers."""

from collections.abc import Iterable, Iterator

from shared.messages.envelope import Context

#: An estimate on the safe side, without the model's own tokeniser (which is a call): Google gives about four
#: characters a token for English, and prose with names, numbers and Markdown has fewer. A Japanese character
#: is a token at most. https://ai.google.dev/gemini-api/docs/tokens
ASCII_PER_TOKEN = 3


def tokens(text: str) -> int:
    """At least as many tokens as a text is likely to have."""
    ascii_characters = sum(character.isascii() for character in text)
    return -(-ascii_characters // ASCII_PER_TOKEN) + len(text) - ascii_characters


def within(contexts: Iterable[Context], budget: int) -> tuple[Context, ...]:
    """The passages that fit into so many tokens, the best first; one that does not fit makes room for the
    next. The best one is always there, cut where it alone is too long."""
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
    """The beginning of a text that has at most so many tokens."""
    fits, too_long = 0, len(text) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if tokens(text[:middle]) <= budget:
            fits = middle
        else:
            too_long = middle
    return text[:fits]
