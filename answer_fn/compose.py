"""From the model's answer to what is said in Chat: only sources that were retrieved, no foreign links."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from answer_fn.prompts import RagAnswer
from answer_fn.sanitise import links_in, sanitised
from shared.envelope import Context

_CODE = re.compile(r"(```[^`]{0,8000}```|`[^`\n]{1,500}`)")
_WORD = re.compile(r"\w")
_CITATION = re.compile(r"\s?\[(\d{1,4}(?:\s{0,3}[,、]\s{0,3}\d{1,4}){0,50})\]")


@dataclass(frozen=True)
class Source:
    """A cited source as it is shown: its number in the text, its title, and a link if there is one."""

    id: str
    number: int
    title: str
    link: str | None


@dataclass(frozen=True)
class Composed:
    """The answer in Markdown with its sources, numbered in the order they are cited."""

    text: str
    sources: tuple[Source, ...]


def compose(answer: RagAnswer, contexts: Sequence[Context]) -> Composed | None:
    """The answer to post, or None when the model gave none or cited nothing that was retrieved."""
    cited = _cited(answer, len(contexts))
    if not answer.answered or not answer.answer.strip() or not cited:
        return None
    numbers = _numbers(cited, contexts)
    text = _outside_code(answer.answer, lambda prose: _cite(prose, numbers))
    given = (f"{context.text} {context.link or ''}" for context in contexts)
    safe = sanitised(text, links_in(given)).strip()
    if not _WORD.search(_CITATION.sub("", safe)):
        return None
    return Composed(safe, _sources(numbers, contexts))


def _cited(answer: RagAnswer, count: int) -> list[int]:
    """The numbers of retrieved sources, those in the text first, each once."""
    prose = "".join(_CODE.split(answer.answer)[::2])
    in_text = [int(number) for match in _CITATION.findall(prose) for number in re.findall(r"\d+", match)]
    return [number for number in dict.fromkeys([*in_text, *answer.sources]) if 1 <= number <= count]


def _numbers(cited: list[int], contexts: Sequence[Context]) -> dict[int, int]:
    """From the model's number to the shown one; passages of one document are one source."""
    shown: dict[str, int] = {}
    return {number: shown.setdefault(_document(contexts[number - 1]), len(shown) + 1) for number in cited}


def _document(context: Context) -> str:
    return context.uri or context.id


def _renumbered(group: str, numbers: dict[int, int]) -> str:
    kept = sorted({numbers[int(n)] for n in re.findall(r"\d{1,4}", group) if int(n) in numbers})
    return "".join(f" [{number}]" for number in kept)


def _sources(numbers: dict[int, int], contexts: Sequence[Context]) -> tuple[Source, ...]:
    first = {shown: contexts[number - 1] for number, shown in reversed(numbers.items())}
    return tuple(
        Source(context.id, shown, context.title, context.link) for shown, context in sorted(first.items())
    )


def _cite(prose: str, numbers: dict[int, int]) -> str:
    return _CITATION.sub(lambda match: _renumbered(match[1], numbers), prose)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """`[0]` in code is no citation."""
    parts = _CODE.split(text)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))
