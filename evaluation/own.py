"""Our own conversations over `knowledge/`: `conversations/*.toml`, read as tasks.

A turn is an inline table. `q` is the question, and `kind` its kind. `file` and `quote` name the passage that
answers it, by words from it; the quote also stands for the assistant's answer. A turn without them has
`status`. `rewrite` is a person's rewrite that stands alone. Questions without it stand alone already.
`also` is a list of further `[file, quote]` pairs that answer the question. Files `chat-*` and `heldout-*` are
counted separately. Use `heldout-*` only for checks, not for tuning.
"""

import tomllib
from pathlib import Path
from typing import Any, get_args

from evaluation.data import DataSet, Passage, Status, Task, Unreadable, Utterance
from local.places import BUCKET
from local.stand_ins.rag.chunks import Chunk, articles_of_folder, chunks_of

HERE = Path(__file__).resolve().parent / "conversations"
KNOWLEDGE = HERE.parent.parent / "knowledge"
NAME = "own"
#: Sets that are counted separately, by the beginning of their file names.
APART = {"chat": "chat", "heldout": "held-out"}
KINDS = (
    "first", "stand-alone", "follow-up", "ellipsis", "shift", "unanswerable", "underspecified", "chit-chat",
    "misspelt", "mixed", "near-topic", "other-words",
)  # fmt: skip
_SAID = {
    "unanswerable": ("The knowledge base does not answer this.", "ナレッジベースには回答がありません。"),
    "clarify": ("Which one do you mean?", "どれのことでしょうか？"),
    None: ("You are welcome.", "どういたしまして。"),
}  # fmt: skip


def read_own(conversations: Path = HERE, knowledge: Path = KNOWLEDGE) -> DataSet:
    """Every turn as a task. Raises Unreadable for a quote that is not in exactly one passage of its file."""
    articles = articles_of_folder(knowledge)
    chunks = [chunk for article in articles for chunk in chunks_of(article.uri, article.markdown)]
    tasks = list[Task]()
    for path in sorted(conversations.glob("*.toml")):
        for conversation in tomllib.loads(path.read_text(encoding="utf-8"))["conversation"]:
            tasks += _tasks(conversation, chunks, apart=APART.get(path.name.partition("-")[0]))
    passages = (Passage(_id(number), c.title, c.text, c.uri) for number, c in enumerate(chunks))
    return DataSet(NAME, tuple(tasks), tuple(passages))


def _tasks(conversation: dict[str, Any], chunks: list[Chunk], *, apart: str | None) -> list[Task]:
    history = list[Utterance]()
    tasks = list[Task]()
    for number, turn in enumerate(conversation["turns"], start=1):
        where = f"{conversation['id']}#{number}"
        quoted = [(turn["file"], turn["quote"]), *turn.get("also", [])] if "file" in turn else []
        status: Status | None = "answered" if quoted else turn.get("status")
        if turn["kind"] not in KINDS or status not in (*get_args(Status), None):
            raise Unreadable(f"{where}: unknown kind or status")
        task = Task(
            id=where,
            kind=turn["kind"],
            history=tuple(history),
            question=turn["q"],
            gold=frozenset(_holding(file, quote, chunks, where) for file, quote in quoted),
            status=status,
            gold_rewrite=turn.get("rewrite", turn["q"]),
            apart=apart,
        )
        tasks.append(task)
        said = turn["quote"] if quoted else _SAID[status][task.language == "ja"]
        history += [("user", task.question), ("assistant", said)]
    return tasks


def _holding(file: str, quote: str, chunks: list[Chunk], where: str) -> str:
    held = [n for n, c in enumerate(chunks) if c.uri == f"{BUCKET}/{file}" and quote in c.text]
    if len(held) != 1:
        raise Unreadable(f"{where}: the quote is in {len(held)} passages of {file}, not in one: {quote}")
    return _id(held[0])


def _id(number: int) -> str:
    return f"p{number}"
