"""Splits a Markdown text into blocks of sentences and list items that can be quoted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["paragraph", "steps", "points", "table", "code"]

_HEADING = re.compile(r"#{1,6}\s+(.+)")
_ITEM = re.compile(r"\s*(?P<marker>[-*+]|\d+[.)])\s+(?P<text>.+)")
# A full stop ends a sentence when a capital, a quotation mark or emphasis follows; 。 always does.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“*`(])|(?<=[。！？])(?![」』）)*])\s*")
# Such a sentence names another article, so it would be the best match for a question about that article.
_SENDS_ELSEWHERE = re.compile(
    r"\b(?:see|read|described in) (?:the article|[\"“])|」を(?:ご覧|参照)", re.IGNORECASE
)
_NEVER_QUOTED = re.compile(r"\s*(?:---|<!--|>|!\[)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE_OF_A_TABLE = re.compile(r"\s*\|[\s:|-]+\|\s*$")


@dataclass(frozen=True)
class Block:
    """A paragraph's sentences, or the items of a list, word for word, and the heading they stand under.

    An item's marker (`-`, `1.`) is not part of it; `steps` are the items of a numbered list. The units of a
    table are its rows, and `head` its first two lines; code is one unit, with its fences. An item with code
    in it has that behind its words, in lines of its own.
    """

    kind: Kind
    units: tuple[str, ...]
    heading: str
    head: str = ""


def blocks_of(text: str) -> list[Block]:
    """The blocks of a text, in order. Headings and pictures are left out, and so are sentences that only
    send the reader to another article."""
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
        elif kind == "table":
            if len(lines) > 2 and _RULE_OF_A_TABLE.match(lines[1]):
                blocks.append(Block("table", tuple(lines[2:]), heading, "\n".join(lines[:2])))
        elif kind == "code":
            blocks.append(Block("code", ("\n".join(lines),), heading))
        else:
            blocks.append(Block("steps" if kind == "steps" else "points", tuple(lines), heading))
    return blocks


def _runs(text: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that belong together: one heading, a paragraph, the items of a list, a table, or code."""
    kind, lines, after_blank = "", list[str](), False
    rest = iter(text.splitlines())
    for line in rest:
        if not line.strip():
            after_blank = True
            continue
        line_kind, content = _read(line)
        if line_kind == "code":
            code = _code(line, rest)
            if kind in ("steps", "points") and lines and line.startswith((" ", "\t")):
                lines[-1] += "".join(f"\n   {each}" for each in code)
                continue
            if kind and lines:
                yield kind, lines
            yield "code", code
            kind, lines, after_blank = "", [], False
            continue
        continues = not after_blank or line.startswith((" ", "\t"))
        if line_kind == "paragraph" and kind in ("steps", "points") and continues:
            lines[-1] += f" {content}"
        elif line_kind == kind and (kind != "paragraph" or not after_blank) and kind != "heading":
            lines.append(content)
        else:
            if kind and lines:
                yield kind, lines
            kind, lines = line_kind, [content] if content else []
        after_blank = False
    if kind and lines:
        yield kind, lines


def _code(fence: str, rest: Iterator[str]) -> list[str]:
    """The lines of a code block, its fences included, without the indent of the first."""
    indent = len(fence) - len(fence.lstrip())
    mark = fence.strip()[:3]
    lines = [fence.strip()]
    for line in rest:
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            return [*lines, line.strip()]
        lines.append(line[indent:] if not line[:indent].strip() else line.lstrip())
    return [*lines, mark]


def _read(line: str) -> tuple[str, str]:
    if match := _HEADING.match(line):
        return "heading", match.group(1).strip()
    if match := _ITEM.match(line):
        return "steps" if match["marker"][0].isdigit() else "points", match["text"].strip()
    if _FENCE.match(line):
        return "code", ""
    if _ROW.match(line):
        return "table", line.strip()
    return ("left out", "") if _NEVER_QUOTED.match(line) else ("paragraph", line.strip())


def _sentences(paragraph: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(paragraph) if sentence.strip()]
