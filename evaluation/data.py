"""Conversations with known answers: the question, its history, and the passages that answer it."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from local.stand_ins.rag.terms import is_japanese
from shared.messages.envelope import Language

T = TypeVar("T")

#: `answered` and `unanswerable` say what is honest, `clarify` that a question back is due; None: neither.
Status = Literal["answered", "unanswerable", "clarify"]
Utterance = tuple[Literal["user", "assistant"], str]

#: Title and section come before the first question of people's rewrites.
HEADING = 2
#: Names of groups that are counted separately begin with this.
APART = "set: "

_STATUS: dict[str, Status] = {
    "ANSWERABLE": "answered",
    "PARTIAL": "answered",
    "UNANSWERABLE": "unanswerable",
    "UNDERSPECIFIED": "clarify",
}


@dataclass(frozen=True)
class Passage:
    """A piece of text that can be found; `article` is what it is a part of."""

    id: str
    title: str
    text: str
    article: str


@dataclass(frozen=True)
class Task:
    """One turn of a conversation. `published` is a model's rewrite that came with the data, `gold` the ids of
    the passages that answer the question, `gold_rewrite` how a person would have asked it alone. A set
    `apart` has groups of its own and counts in no other."""

    id: str
    kind: str
    history: tuple[Utterance, ...]
    question: str
    gold: frozenset[str]
    status: Status | None = None
    published: str | None = None
    gold_rewrite: str | None = None
    apart: str | None = None

    @property
    def language(self) -> Language:
        """The language of the question."""
        return "ja" if is_japanese(self.question) else "en"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in which the task counts."""
        turn = "later turns" if self.history else "first turns"
        groups = ("all", turn, f"language: {self.language}", f"kind: {self.kind}")
        return tuple(f"{APART}{self.apart}, {group}" for group in groups) if self.apart else groups


@dataclass(frozen=True)
class DataSet:
    """Tasks over one collection of passages; `name` is the folder's."""

    name: str
    tasks: tuple[Task, ...]
    passages: tuple[Passage, ...]


class Unreadable(Exception):
    """The folder is not in the expected format. The text says what to do."""


def read(folder: Path) -> DataSet:
    """A folder with `tasks.jsonl.gz` or `queries.jsonl.gz`, and `passages.jsonl.gz`; or with one other file,
    of people's rewrites, and no passages. Raises Unreadable.

    In tasks a rewrite is a model's and `answerability` says what can be answered; in queries a rewrite is a
    person's, every question can be answered, and whether an answer is good is not asked.
    """
    tasks, queries = folder / "tasks.jsonl.gz", folder / "queries.jsonl.gz"
    if not tasks.is_file() and not queries.is_file():
        return DataSet(folder.resolve().name, _of_people(folder), ())
    passages = tuple(_read(folder / "passages.jsonl.gz", _passage))
    found = tuple(_read(tasks, _task) if tasks.is_file() else _read(queries, _query))
    if not found or not passages:
        raise Unreadable(f"There are no questions or no passages in {folder}")
    return DataSet(folder.resolve().name, found, passages)


def _of_people(folder: Path) -> tuple[Task, ...]:
    """The questions of the one file of rewrites in a folder. Raises Unreadable."""
    files = sorted(folder.glob("*.jsonl.gz"))
    if len(files) != 1 or files[0].name == "passages.jsonl.gz":
        raise Unreadable(
            f"There is neither tasks.jsonl.gz nor queries.jsonl.gz in {folder}, nor is there just one "
            "*.jsonl.gz of people's rewrites"
        )
    if found := tuple(_read(files[0], _rewritten)):
        return found
    raise Unreadable(f"There are no questions in {files[0]}")


def _read(path: Path, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """The object in each line, without unknown fields. Raises Unreadable with the number of the line."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield parse(json.loads(line))
    except FileNotFoundError:
        raise Unreadable(f"{path} is missing") from None
    except KeyError as error:
        raise Unreadable(f"{path}, line {number}: the field {error} is missing") from None
    except (OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError) as error:
        where = f"{path}, line {number}" if number else str(path)
        raise Unreadable(f"{where} is not in the expected format: {error}") from None


def _passage(line: dict[str, Any]) -> Passage:
    title = line.get("title") or ""
    return Passage(_text(line, "id"), title, _text(line, "text"), title or line["id"])


def _text(line: dict[str, Any], field: str) -> str:
    """Raises KeyError, or TypeError for anything but a text."""
    value = line[field]
    if not isinstance(value, str):
        raise TypeError(f"the field {field!r} is no text")
    value.encode()  # half a surrogate pair is none
    return value


def _question(line: dict[str, Any], field: str = "question") -> str:
    """Raises KeyError, TypeError, or ValueError for an empty question."""
    question = _text(line, field)
    if not question.strip():
        raise ValueError(f"the {field.lower()} is empty")
    return question


def _texts(line: dict[str, Any], field: str, what: str = "texts") -> list[str]:
    """Raises KeyError, TypeError for anything but a list of texts, or ValueError for half a character."""
    value = line[field]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"the field {field!r} is no list of {what}")
    "".join(value).encode()
    return value


def _history(line: dict[str, Any]) -> tuple[Utterance, ...]:
    return tuple(
        ("user" if speaker == "user" else "assistant", str(text)) for speaker, text in line["history"]
    )


def _task(line: dict[str, Any]) -> Task:
    history = _history(line)
    return Task(
        id=_text(line, "id"),
        kind=str(line.get("multi_turn") or "N/A").lower() if history else "first",
        history=history,
        question=_question(line),
        gold=frozenset(_texts(line, "gold", "ids")),
        status=_STATUS.get(line.get("answerability") or ""),
        published=line.get("rewrite") or line["question"],
    )


def _query(line: dict[str, Any]) -> Task:
    return Task(
        id=_text(line, "id"),
        kind=line["kind"],
        history=_history(line),
        question=_question(line),
        gold=frozenset(_texts(line, "gold", "ids")),
        gold_rewrite=line.get("rewrite") or line["question"],
    )


def _rewritten(line: dict[str, Any]) -> Task:
    """A question of CANARD (github.com/aagohary/canard): its history is the title and the section of an
    article, which people saw from the start, and then what was asked and answered by turns."""
    said = _texts(line, "History")
    return Task(
        id=str(line.get("QuAC_dialog_id")),
        kind="later" if len(said) > HEADING else "first",
        history=tuple(("assistant" if place % 2 else "user", text) for place, text in enumerate(said)),
        question=_question(line, "Question"),
        gold=frozenset(),
        gold_rewrite=_question(line, "Rewrite"),
    )
