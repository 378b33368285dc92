"""Writes the content of a paragraph for Chat, from the tokens of the Markdown parser."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from shared.chat import sanitise
from shared.chat.sanitise import Cite

#: A link with a longer label is replaced by its label. A longer code span becomes several, so it can be cut.
LONGEST_LABEL = 300
LONGEST_CODE = 500
_MARKS = {"strong": "**", "em": "*", "s": "~~"}
#: In CommonMark, `**` between a bracket and a letter does not close emphasis. This is frequent in Japanese:
#: **「これ」**は.
_UNPARSED_BOLD = re.compile(r"\*\*(?P<before>[^\w*]*)(?P<inside>\w(?:[^*]{0,300}\w)?)(?P<behind>[^\w*]*)\*\*")
#: A piece that must not be cut: a run of letters and digits, but a single character in Japanese.
_ATOM = re.compile(r"\\.\s*|&amp;|[!-%'-\[\]-~\u00a1-\u02ff\u0370-\u1fff]+\s*|.\s*", re.DOTALL)
_BLOCK_MARK = re.compile(r"#{1,6}(?=\s|$)|[-+](?=\s|$)|>|[=-]+\s*$")
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")


@dataclass(frozen=True)
class Run:
    """A stretch of a paragraph: `text`, `code`, `open` and `close` (a mark), `link` and `unlink`, `break`."""

    kind: str
    content: str = ""


@dataclass
class Writer:
    """Writes runs as atoms: pieces of Markdown that must not be cut. Joined, they are the paragraph."""

    allowed: set[str]
    cite: Cite | None
    atoms: list[str] = field(default_factory=list)
    #: Opening marks that are not written yet. Chat would show the asterisks of empty emphasis.
    _pending: list[str] = field(default_factory=list)
    _at_line_start: bool = True

    def write(self, runs: Sequence[Run]) -> list[str]:
        """The atoms of a paragraph. A line break is an atom that ends in a newline."""
        position = 0
        while position < len(runs):
            run = runs[position]
            if run.kind == "link":
                end = next(i for i in range(position, len(runs)) if runs[i].kind == "unlink")
                self._link(run.content, runs[position + 1 : end])
                position = end
            else:
                self._run(run, _first_character(runs[position + 1 :]))
            position += 1
        return self.atoms

    def _run(self, run: Run, after: str) -> None:
        if run.kind == "text":
            self._text(sanitise.words(run.content, self.allowed, self.cite, after))
        elif run.kind == "code":
            self._code(sanitise.code(run.content, self.allowed))
        elif run.kind == "open":
            self._pending.append(run.content)
        elif run.kind == "close":
            self._close(run.content)
        else:
            self.atoms.append(run.content)
            self._at_line_start = True

    def _text(self, written: str) -> None:
        stripped = written.lstrip()
        if len(stripped) < len(written) and not self._at_line_start:
            self.atoms.append(" ")
        if not stripped:
            return
        at_line_start = self._at_line_start and not self._pending
        self._flush()
        self.atoms += _ATOM.findall(_without_block_marks(stripped) if at_line_start else stripped)

    def _code(self, content: str) -> None:
        if not content.strip():
            return
        self._flush()
        self.atoms += [
            _span(content[start : start + LONGEST_CODE]) for start in range(0, len(content), LONGEST_CODE)
        ]

    def _close(self, mark: str) -> None:
        if self._pending:
            self._pending.pop()
            return
        space = self._trailing_space()
        self._append_to_last(mark)
        if space:
            self.atoms.append(" ")

    def _link(self, href: str, runs: Sequence[Run]) -> None:
        label = "".join(Writer(self.allowed, None).write(runs)).replace("\n", " ").strip()
        if not label:
            return
        self._flush()
        if len(label) > LONGEST_LABEL:
            self.atoms += _ATOM.findall(label)
            return
        if self.atoms and self.atoms[-1].endswith("!"):  # "!" would turn the link into an image
            self.atoms[-1] = self.atoms[-1][:-1] + r"\!"
        self.atoms.append(f"[{label}]({href})")

    def _flush(self) -> None:
        """Write the pending marks, because text follows them."""
        self.atoms += self._pending
        self._pending.clear()
        self._at_line_start = False

    def _trailing_space(self) -> bool:
        if not self.atoms or self.atoms[-1].rstrip() == self.atoms[-1]:
            return False
        self.atoms[-1] = self.atoms[-1].rstrip()
        return True

    def _append_to_last(self, mark: str) -> None:
        if self.atoms:
            self.atoms[-1] += mark


def runs_of(tokens: Iterable[Token], allowed: set[str]) -> list[Run]:
    """The runs of a paragraph. Other links become their labels, and images become their descriptions."""
    runs: list[Run] = []
    links: list[bool] = []
    for token in tokens:
        kind, _, nesting = token.type.rpartition("_")
        if kind in _MARKS:
            runs.append(Run(nesting, _MARKS[kind]))
        elif token.type == "link_open":
            links.append(_begin_link(token, allowed, runs))
        elif token.type == "link_close":
            if links.pop():
                runs.append(Run("unlink"))
        elif token.type == "image":
            _image(token, allowed, runs)
        elif token.type == "code_inline":
            runs.append(Run("code", token.content))
        elif token.type in {"softbreak", "hardbreak"}:
            runs.append(Run("break", "\n" if token.type == "softbreak" else "  \n"))
        else:
            runs.append(Run("text", token.content))
    return _merged(part for run in map(_without_tags, _merged(runs)) for part in _bold(run))


def _begin_link(token: Token, allowed: set[str], runs: list[Run]) -> bool:
    href = sanitise.bare(str(token.attrGet("href") or ""))
    if href not in allowed:
        return False
    runs.append(Run("link", href))
    return True


def _image(token: Token, allowed: set[str], runs: list[Run]) -> None:
    source = sanitise.bare(str(token.attrGet("src") or ""))
    linked = source in allowed and not any(run.kind == "link" for run in _open_links(runs))
    description = Run("text", token.content)
    runs += [Run("link", source), description, Run("unlink")] if linked else [description]


def _open_links(runs: Sequence[Run]) -> Sequence[Run]:
    last = [run for run in runs if run.kind in {"link", "unlink"}][-1:]
    return last if last and last[0].kind == "link" else ()


def _merged(runs: Iterable[Run]) -> list[Run]:
    """Join adjacent texts, so that an address cannot be split over two of them and go unnoticed."""
    merged: list[Run] = []
    for run in runs:
        if run.kind == "text" and merged and merged[-1].kind == "text":
            merged[-1] = Run("text", merged[-1].content + run.content)
        else:
            merged.append(run)
    return merged


def _without_tags(run: Run) -> Run:
    return Run("text", sanitise.without_tags(run.content)) if run.kind == "text" else run


def _bold(run: Run) -> list[Run]:
    """Make text bold that the parser did not recognise; brackets stay outside the bold text."""
    if run.kind != "text":
        return [run]
    runs: list[Run] = []
    end = 0
    for match in _UNPARSED_BOLD.finditer(run.content):
        runs.append(Run("text", run.content[end : match.start()] + match["before"]))
        runs += [Run("open", "**"), Run("text", match["inside"]), Run("close", "**")]
        runs.append(Run("text", match["behind"]))
        end = match.end()
    return [*runs, Run("text", run.content[end:])]


def _first_character(runs: Sequence[Run]) -> str:
    """A sample of the next character, so that an address that ends here is separated from it."""
    return {"text": "x", "break": "\n"}.get(runs[0].kind, "*") if runs else ""


def _without_block_marks(text: str) -> str:
    """Escape a mark at the start of a line that would make it a heading, a list or a quote."""
    if match := _NUMBER.match(text):
        return f"{match[1]}\\{text[match.start(2) :]}"
    return f"\\{text}" if _BLOCK_MARK.match(text) else text


def _span(content: str) -> str:
    longest = max(map(len, re.findall("`+", content)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {content} " if content[0] in "` " or content[-1] in "` " else content
    return f"{fence}{padded}{fence}"
