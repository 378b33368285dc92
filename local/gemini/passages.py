"""A Markdown text taken apart into what can be quoted from it: the sentences and list items, as blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["paragraph", "steps", "points"]

_HEADING = re.compile(r"#{1,6}\s+(.+)")
_ITEM = re.compile(r"\s*(?P<marker>[-*+]|\d+[.)])\s+(?P<text>.+)")
# A full stop ends a sentence when a capital, a quotation mark or emphasis follows; 。 always does.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“*`(])|(?<=[。！？])(?![」』）)*])\s*")
# Such a sentence names the title of another article, and so would match a question about that one best.
_SENDS_ELSEWHERE = re.compile(
    r"\b(?:see|read|described in) (?:the article|[\"“])|」を(?:ご覧|参照)", re.IGNORECASE
)
_NEVER_QUOTED = re.compile(r"\s*(?:\||```|---|<!--|>|!\[)")


@dataclass(frozen=True)
class Block:
    """A paragraph's sentences or a list's items, word for word, and the heading they stand under.

    An item's marker (`-`, `1.`) is not part of it; `steps` are the items of a numbered list.
    """

    kind: Kind
    units: tuple[str, ...]
    heading: str


def blocks_of(text: str) -> list[Block]:
    """The blocks of a text, in order. Headings, tables, code and pictures are left out,
    and so are sentences that only send the reader to another article."""
    heading = ""
    blocks = list[Block]()
    for kind, lines in _runs(text):
        if kind == "heading":
            heading = lines[0]
        elif kind == "paragraph":
            sentences = _sentences(" ".join(lines))
            blocks.append(
                Block("paragraph", tuple(s for s in sentences if not _SENDS_ELSEWHERE.search(s)), heading)
            )
        else:
            blocks.append(Block("steps" if kind == "steps" else "points", tuple(lines), heading))
    return blocks


def _runs(text: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that belong together: one heading, the lines of one paragraph, the items of one list."""
    kind, lines, after_blank = "", list[str](), False
    for line in text.splitlines():
        if not line.strip():
            after_blank = True
            continue
        line_kind, content = _read(line)
        continues = not after_blank or line.startswith((" ", "\t"))
        if line_kind == "paragraph" and kind in ("steps", "points") and continues:
            lines[-1] += f" {content}"
        elif line_kind == kind and (kind in ("steps", "points") or (kind == "paragraph" and not after_blank)):
            lines.append(content)
        else:
            if kind and lines:
                yield kind, lines
            kind, lines = line_kind, [content] if content else []
        after_blank = False
    if kind and lines:
        yield kind, lines


def _read(line: str) -> tuple[str, str]:
    if match := _HEADING.match(line):
        return "heading", match.group(1).strip()
    if match := _ITEM.match(line):
        return "steps" if match["marker"][0].isdigit() else "points", match["text"].strip()
    return ("left out", "") if _NEVER_QUOTED.match(line) else ("paragraph", line.strip())


def _sentences(paragraph: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(paragraph) if sentence.strip()]
