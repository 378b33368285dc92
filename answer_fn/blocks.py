"""Turns a Markdown text into blocks that Google Chat can show.

Chat's Markdown is CommonMark. Google does not say how Chat shows headings, tables, nested lists, images and
HTML (developers.google.com/workspace/chat/format-messages). So a heading becomes bold text, a row of a table
becomes an item of a list, and an inner list becomes lines within its item. Anything else in a list is moved
behind its item. The text then looks right even if Chat does not support these elements.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from answer_fn.inline import Run, Writer, runs_of
from shared.chat import sanitise
from shared.chat.sanitise import Cite

#: The bullet of an item in an inner list, by depth.
_BULLETS = ("◦", "▪")
_BREAK = "  \n"
#: With more opening brackets than this, parsing can take very long. Then only citations keep theirs.
MOST_BRACKETS = 400


@dataclass(frozen=True)
class Block:
    """A paragraph, list, quote or code block. It may be cut between any two `pieces`, best after a newline.

    Each part then gets the `head` and the `tail`, and each line gets the `prefix`. `leads` means that the
    block belongs to the next one: a heading, or "do this:".
    """

    pieces: tuple[str, ...]
    head: str = ""
    tail: str = ""
    prefix: str = ""
    leads: bool = False

    @property
    def text(self) -> str:
        """The block in Markdown."""
        body = f"{self.head}{''.join(self.pieces).rstrip()}{self.tail}"
        return self.prefix + body.replace("\n", f"\n{self.prefix}")


@dataclass(frozen=True)
class _Node:
    """A token of the parser, with the nodes inside it."""

    token: Token
    children: tuple["_Node", ...]

    @property
    def kind(self) -> str:
        return self.token.type.removesuffix("_open")

    @property
    def inline(self) -> list[Token]:
        """The inline tokens of a paragraph, heading or cell."""
        return [token for child in self.children for token in child.token.children or ()]


@dataclass(frozen=True)
class Document:
    """A parsed Markdown text."""

    nodes: tuple[_Node, ...]

    def citations(self) -> Iterator[str]:
        """The numbers of each citation in the text, in order. `[0]` in code is not a citation."""
        for tokens in _inlines(self.nodes):
            for run in runs_of(tokens, set()):
                if run.kind == "text":
                    yield from sanitise.citations_in(run.content)

    def blocks(self, allowed: set[str], cite: Cite | None = None) -> tuple[Block, ...]:
        """The text for Chat. It keeps only the links in `allowed`."""
        return tuple(block for block in _Blocks(allowed, cite).of(self.nodes) if block.text.strip())


def parse(markdown: str) -> Document:
    """Parse a text as CommonMark with tables."""
    if markdown.count("[") > MOST_BRACKETS:
        markdown = sanitise.only_citations(markdown)
    return Document(_tree(iter(_parser().parse(markdown))))


def plain(text: str, prefix: str = "") -> Block:
    """A block of plain text in one line, with Markdown escaped."""
    return Block(tuple(Writer(set(), None).write([Run("text", text)])), prefix=prefix)


class _Blocks:
    def __init__(self, allowed: set[str], cite: Cite | None) -> None:
        self._allowed = allowed
        self._cite = cite

    def of(self, nodes: Sequence[_Node]) -> Iterator[Block]:
        for node in nodes:
            match node.kind:
                case "paragraph":
                    yield self._paragraph(node)
                case "heading":
                    yield self._heading(node)
                case "bullet_list" | "ordered_list":
                    yield from self._list(node)
                case "blockquote":
                    yield from (
                        replace(block, prefix=f"> {block.prefix}") for block in self.of(node.children)
                    )
                case "fence" | "code_block":
                    yield self._code(node.token.content)
                case "table":
                    yield Block(tuple(self._rows(node)))

    def _atoms(self, tokens: Iterable[Token]) -> list[str]:
        return Writer(self._allowed, self._cite).write(runs_of(tokens, self._allowed))

    def _line(self, tokens: Iterable[Token], *, bold: bool = False) -> str:
        line = "".join(self._atoms(tokens)).replace("\n", " ").strip()
        return f"**{line}**" if line and bold else line

    def _paragraph(self, node: _Node) -> Block:
        atoms = self._atoms(node.inline)
        return Block(tuple(atoms), leads="".join(atoms[-2:]).rstrip().endswith((":", "：")))

    def _heading(self, node: _Node) -> Block:
        words = [token for token in node.inline if not token.type.startswith("strong_")]
        return Block((self._line(words, bold=True),), leads=True)

    def _code(self, content: str) -> Block:
        longest = max(map(len, re.findall("`+", content)), default=0)
        fence = "`" * max(3, longest + 1)
        safe = sanitise.code(content.rstrip("\n"), self._allowed)
        return Block(tuple(safe.splitlines(keepends=True)), f"{fence}\n", f"\n{fence}")

    def _rows(self, table: _Node) -> Iterator[str]:
        names: list[str] = []
        for row in (row for part in table.children for row in part.children):
            if row.children and row.children[0].kind == "th":
                names = [self._line(cell.inline) for cell in row.children]
                continue
            cells = [self._line(cell.inline, bold=not i) for i, cell in enumerate(row.children)]
            named = [
                f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True) if cell
            ]
            yield f"- {'; '.join(named)}\n"

    def _list(self, node: _Node) -> Iterator[Block]:
        """The items as one block, or as several if an item holds something other than text, such as code."""
        pieces: list[str] = []
        for marker, item in _items(node, 0):
            pieces.append(f"{marker} ")
            interrupted = False
            for inner in self._item(item, " " * (len(marker) + 1), 1):
                if isinstance(inner, str):
                    pieces.append(inner)
                    continue
                yield Block(tuple(pieces), leads=True)
                yield inner
                pieces.clear()
                interrupted = True
            pieces.append("\n")
            if interrupted:  # the list has ended here, so the next item must begin a new one
                yield Block(tuple(pieces))
                pieces.clear()
        yield Block(tuple(pieces))

    def _item(self, item: _Node, indent: str, depth: int) -> Iterator[str | Block]:
        """The text of an item, its inner lists as lines, and its other blocks."""
        between = ""
        for child in item.children:
            if child.kind == "paragraph":
                yield between
                yield from (atom.replace("\n", f"\n{indent}") for atom in self._atoms(child.inline))
            elif child.kind in {"bullet_list", "ordered_list"}:
                for marker, inner in _items(child, depth):
                    yield f"{_BREAK if between else ''}{indent}{marker} "
                    yield from self._item(inner, indent, depth + 1)
                    between = _BREAK
            else:
                yield from self.of([child])
                between = ""
                continue
            between = f"{_BREAK}{indent}"


def _items(node: _Node, depth: int) -> Iterator[tuple[str, _Node]]:
    """The items of a list, each with its number or bullet."""
    first = int(node.token.attrGet("start") or 1)
    for number, item in enumerate(node.children, start=first):
        if node.kind == "ordered_list":
            yield (f"({number})" if depth else f"{number}."), item
        else:
            yield (_BULLETS[min(depth, len(_BULLETS)) - 1] if depth else "-"), item


def _inlines(nodes: Sequence[_Node]) -> Iterator[list[Token]]:
    for node in nodes:
        if node.inline:
            yield node.inline
        yield from _inlines(node.children)


def _tree(tokens: Iterator[Token]) -> tuple[_Node, ...]:
    nodes = []
    for token in tokens:
        if token.nesting < 0:
            break
        nodes.append(_Node(token, _tree(tokens) if token.nesting > 0 else ()))
    return tuple(nodes)


class _Parser(MarkdownIt):
    """Keeps URLs as they are written: they are compared with the addresses in the sources."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url


@cache
def _parser() -> _Parser:
    parser = _Parser("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    return parser
