"""Splits Markdown articles into chunks: a section, or as many of its paragraphs and lists as fit."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from local.places import BUCKET

#: Characters. Blocks are joined up to this size. A larger block is a chunk of its own.
CHUNK_SIZE = 900

_BLANK_LINES = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"(#{1,6})\s+(.+)")


@dataclass(frozen=True)
class Chunk:
    """A part of an article: the article's title and URI, and the Markdown with its heading."""

    title: str
    uri: str
    text: str


@dataclass(frozen=True)
class Article:
    """A Markdown text and its URI. `changed` is in microseconds since 1970."""

    uri: str
    markdown: str
    changed: int


def articles_of_folder(folder: Path) -> list[Article]:
    """Every `*.md` below `folder`, ordered by path.

    Raises FileNotFoundError if there is no such folder, and ValueError for a file that is not UTF-8.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder of articles at {folder}")
    return [_read(path, folder) for path in sorted(folder.rglob("*.md"))]


def _read(path: Path, folder: Path) -> Article:
    try:
        markdown = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8. Save it as UTF-8, or take it out of the folder.") from error
    changed = path.stat().st_mtime_ns // 1000
    return Article(f"{BUCKET}/{path.relative_to(folder).as_posix()}", markdown, changed)


def chunks_of(uri: str, markdown: str) -> Iterator[Chunk]:
    """The chunks of one article, in order."""
    blocks = [block.strip("\n") for block in _BLANK_LINES.split(markdown) if block.strip()]
    headings = [match.group(2) for block in blocks if (match := _HEADING.match(block))]
    title = headings[0].strip() if headings else PurePosixPath(uri).stem
    for heading, body in _sections(blocks):
        for part in _packed(body):
            yield Chunk(title, uri, "\n\n".join([heading, *part] if heading else part))


def _sections(blocks: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each heading with the blocks below it. Headings without blocks are left out."""
    heading, body = "", list[str]()
    for block in blocks:
        if _HEADING.match(block):
            first_line, _, rest = block.partition("\n")
            if body:
                yield heading, body
            heading, body = first_line, [rest] if rest else []
        else:
            body.append(block)
    if body:
        yield heading, body


def _packed(blocks: list[str]) -> Iterator[list[str]]:
    """Consecutive blocks of up to `CHUNK_SIZE` characters. A line that introduces a list stays with it."""
    part, size = list[str](), 0
    for block in blocks:
        leads_here = bool(part) and part[-1].endswith((":", "："))
        if part and size + len(block) > CHUNK_SIZE and not leads_here:
            yield part
            part, size = [], 0
        part.append(block)
        size += len(block)
    if part:
        yield part
