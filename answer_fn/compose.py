"""From the model's answer to what is said in Chat: only sources that were retrieved, no foreign links."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answer_fn.prompts import RagAnswer
from shared.envelope import Context

_CITATION = re.compile(r"\s?\[(\d{1,4}(?:\s{0,3}[,、]\s{0,3}\d{1,4}){0,50})\]")
#: Bounded, and without brackets inside brackets: a model's output must not make a regular expression crawl.
_MARKDOWN_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]"
    r"\(\s{0,3}<?([^\s()<>]{0,1000}(?:\([^\s()<>]{0,300}\)[^\s()<>]{0,300}){0,3})>?[^()\n]{0,300}\)"
)
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]\n]{1,300}\]:.*$", re.MULTILINE)
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.)[^\s<>()\[\]\"'`、。」』）]+", re.IGNORECASE)
_MENTION = re.compile(r"<(\s*)(users/)", re.IGNORECASE)


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
    text = _CITATION.sub(lambda match: _renumbered(match[1], numbers), answer.answer)
    return Composed(_safe(text, contexts).strip(), _sources(numbers, contexts))


def _cited(answer: RagAnswer, count: int) -> list[int]:
    """The numbers of retrieved sources, those in the text first, each once."""
    in_text = [
        int(number) for match in _CITATION.findall(answer.answer) for number in re.findall(r"\d+", match)
    ]
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


def _safe(text: str, contexts: Sequence[Context]) -> str:
    """Without mentions of people, and without links that no source contains."""
    given = (f"{context.text} {context.link or ''}" for context in contexts)
    allowed = {_bare(url) for passage in given for url in _URL.findall(passage)}
    text = _without_foreign_links(_REFERENCE.sub("", text), allowed)
    text = _URL.sub(lambda match: match[0] if _bare(match[0]) in allowed else "", text)
    return _MENTION.sub(r"‹\1\2", text)


def _without_foreign_links(text: str, allowed: set[str]) -> str:
    """Links are unwrapped from the inside out, until there is none left to unwrap."""
    while True:
        unwrapped = _MARKDOWN_LINK.sub(
            lambda match: match[0] if _bare(match[2]) in allowed else match[1], text
        )
        if unwrapped == text:
            return text
        text = unwrapped


def _bare(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    return url.rstrip(".,;:!?*_")
