"""From the model's answer to what is said in Chat: only sources that were retrieved, no foreign links."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from answer_fn.blocks import Block, parse
from answer_fn.prompts import RagAnswer
from answer_fn.sanitise import links_in
from shared.envelope import Context

_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\d{1,4}")
_CITATION = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Source:
    """A cited source as it is shown: its number in the text, its title, a link if there is one, and the
    passage that was found in it."""

    id: str
    number: int
    title: str
    link: str | None
    quote: str = ""


@dataclass(frozen=True)
class Composed:
    """The answer with its sources, numbered in the order they are cited."""

    blocks: tuple[Block, ...]
    sources: tuple[Source, ...]

    @property
    def text(self) -> str:
        """The whole answer in Markdown."""
        return "\n\n".join(block.text for block in self.blocks)


def compose(answer: RagAnswer, contexts: Sequence[Context]) -> Composed | None:
    """The answer to post, or None when the model gave none or cited nothing that was retrieved."""
    document = parse(answer.answer)
    cited = _cited([*_numbers_in(document.citations()), *answer.sources], len(contexts))
    if not answer.answered or not cited:
        return None
    numbers = _numbers(cited, contexts)
    allowed = links_in(f"{context.text} {context.link or ''}" for context in contexts)
    blocks = document.blocks(allowed, lambda group: _renumbered(group, numbers))
    composed = Composed(blocks, _sources(numbers, contexts))
    return composed if _WORD.search(_CITATION.sub("", composed.text)) else None


def _numbers_in(citations: Iterable[str]) -> list[int]:
    return [int(number) for citation in citations for number in _NUMBER.findall(citation)]


def _cited(numbers: Iterable[int], count: int) -> list[int]:
    """The numbers of retrieved sources, each once."""
    return [number for number in dict.fromkeys(numbers) if 1 <= number <= count]


def _numbers(cited: list[int], contexts: Sequence[Context]) -> dict[int, int]:
    """From the model's number to the shown one; passages of one document are one source."""
    shown: dict[str, int] = {}
    return {number: shown.setdefault(_document(contexts[number - 1]), len(shown) + 1) for number in cited}


def _document(context: Context) -> str:
    return context.uri or context.id


def _renumbered(group: str, numbers: dict[int, int]) -> str:
    kept = sorted({numbers[number] for number in _numbers_in([group]) if number in numbers})
    return "".join(f" [{number}]" for number in kept)


def _sources(numbers: dict[int, int], contexts: Sequence[Context]) -> tuple[Source, ...]:
    first = {shown: contexts[number - 1] for number, shown in reversed(numbers.items())}
    return tuple(
        Source(context.id, shown, context.title, context.link, context.text)
        for shown, context in sorted(first.items())
    )
