"""Turns the model's answer into text for Chat: only retrieved sources, and only links in them.

A question back needs no source, so it may not have any link. It must be one short question.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from answer_fn.blocks import Block, parse
from answer_fn.prompts import SYSTEM, RagAnswer
from shared.chat.sanitise import links_in
from shared.language.courtesies import asks
from shared.language.untrusted import visible
from shared.messages.ending import Source
from shared.messages.envelope import Context

_WORD_CHARACTER = re.compile(r"\w")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d{1,4}")
_CITATION = re.compile(r"\[\d+\]")
#: Most characters of a question back, and of what the model says is missing. Longer texts are not used.
MOST_OF_A_REMARK = 400
#: An answer with this many words in a row from the instructions repeats them. It cannot be coincidence.
WORDS_IN_A_ROW = 8


@dataclass(frozen=True)
class Composed:
    """The answer with its sources, which are numbered in the order of citation.

    `partly`: the sources answer only a part of the question. `missing` is what they do not say, if the model
    named it.
    """

    blocks: tuple[Block, ...]
    sources: tuple[Source, ...]
    partly: bool = False
    missing: str = ""

    @property
    def text(self) -> str:
        """The whole answer in Markdown."""
        return _text(self.blocks)


@dataclass(frozen=True)
class Clarification:
    """A question back to the asker. `blocks` is empty if the model gave none that can be shown."""

    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The question in Markdown."""
        return _text(self.blocks)


def compose(answer: RagAnswer, contexts: Sequence[Context]) -> Composed | Clarification | None:
    """What to post. None if the model gave no answer, cited no retrieved source, or revealed its
    instructions."""
    if _tells_instructions(answer):
        return None
    if answer.status == "needs_clarification":
        return Clarification(_question(answer.ask_back))
    document = parse(visible(answer.answer))
    cited = _cited([*_numbers_in(document.citations()), *answer.sources], len(contexts))
    if answer.status == "not_in_knowledge_base" or not cited:
        return None
    numbers = _numbers(cited, contexts)
    allowed = links_in(f"{context.text} {context.link or ''}" for context in contexts)
    blocks = document.blocks(allowed, lambda group: _renumbered(group, numbers))
    if not _WORD_CHARACTER.search(_CITATION.sub("", _text(blocks))):
        return None
    partly = answer.status == "partly"
    return Composed(blocks, _sources(numbers, contexts), partly, _remark(answer.missing) if partly else "")


def _tells_instructions(answer: RagAnswer) -> bool:
    """Whether an answer repeats a part of the instructions. Case, marks and line breaks do not matter."""
    said = visible("\n".join([answer.answer, answer.missing, answer.ask_back]))
    return not _stretches(said).isdisjoint(_instructions())


@cache
def _instructions() -> frozenset[tuple[str, ...]]:
    return _stretches(SYSTEM)


def _stretches(text: str) -> frozenset[tuple[str, ...]]:
    """All sequences of WORDS_IN_A_ROW words in a text."""
    words = _WORD.findall(text.lower())
    starts = range(len(words) - WORDS_IN_A_ROW + 1)
    return frozenset(tuple(words[start : start + WORDS_IN_A_ROW]) for start in starts)


def _text(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _question(said: str) -> tuple[Block, ...]:
    """The model's question as blocks without links and citations. Empty if it is too long or no question."""
    if len(said) > MOST_OF_A_REMARK or not asks(said):
        return ()
    blocks = parse(visible(said)).blocks(set(), lambda _: "")
    return blocks if _WORD_CHARACTER.search(_text(blocks)) else ()


def _remark(said: str) -> str:
    """A short text of the model as one line of Markdown, without links and citations. Empty if too long."""
    if len(said) > MOST_OF_A_REMARK:
        return ""
    text = " ".join(_text(parse(visible(said)).blocks(set(), lambda _: "")).split())
    return text if _WORD_CHARACTER.search(text) else ""


def _numbers_in(citations: Iterable[str]) -> list[int]:
    return [int(number) for citation in citations for number in _NUMBER.findall(citation)]


def _cited(numbers: Iterable[int], count: int) -> list[int]:
    """The numbers that belong to retrieved sources, without duplicates."""
    return [number for number in dict.fromkeys(numbers) if 1 <= number <= count]


def _numbers(cited: list[int], contexts: Sequence[Context]) -> dict[int, int]:
    """The model's number → the number shown. Passages of one document are one source."""
    shown: dict[str, int] = {}
    return {number: shown.setdefault(_document(contexts[number - 1]), len(shown) + 1) for number in cited}


def _document(context: Context) -> str:
    return context.uri or context.id


def _renumbered(group: str, numbers: dict[int, int]) -> str:
    kept = sorted({numbers[number] for number in _numbers_in([group]) if number in numbers})
    return "".join(f" [{number}]" for number in kept)


def _sources(numbers: dict[int, int], contexts: Sequence[Context]) -> tuple[Source, ...]:
    first = {shown: contexts[number - 1] for number, shown in reversed(numbers.items())}
    return tuple(Source.of(context, shown) for shown, context in sorted(first.items()))
