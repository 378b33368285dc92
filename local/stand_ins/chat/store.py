"""Messages in SQLite. Every write gives its message the next number, so a page can ask what has changed."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    name TEXT PRIMARY KEY,
    space TEXT NOT NULL,
    thread TEXT NOT NULL,
    client_id TEXT,
    body TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    unanswered INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (space, client_id)
);
CREATE INDEX IF NOT EXISTS by_thread ON messages (thread);
CREATE INDEX IF NOT EXISTS by_change ON messages (changed);
CREATE TABLE IF NOT EXISTS without_bot (space TEXT PRIMARY KEY);
"""
COLUMNS = "body, deleted, unanswered, created, changed"


@dataclass(frozen=True)
class Stored:
    """A message (REST JSON, enums by name). `created` and `changed` are numbers of writes."""

    message: Json
    deleted: bool
    unanswered: bool
    created: int
    changed: int


class Changes:
    """Wakes everyone who waits for a change, and ends their waiting when Chat stops."""

    def __init__(self) -> None:
        self._next = asyncio.Event()
        self.ended = False

    def notify(self) -> None:
        """Wake everyone who waits."""
        self._next.set()
        self._next = asyncio.Event()

    def end(self) -> None:
        """End all waiting."""
        self.ended = True
        self.notify()

    def next(self) -> asyncio.Event:
        """Set at the next change. Take it *before* reading the store, or a change in between is missed."""
        return self._next


class MessageStore:
    """All messages, also deleted ones, whose ids stay taken. `path` None keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # Tests create the store in one thread and serve it from another, never both at once.
        self._db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
        self._db.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; {SCHEMA}")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, message: Json, *, client_id: str | None = None) -> None:
        """Store a new message. Raises sqlite3.IntegrityError if one of its ids is taken."""
        change = self.last_change() + 1
        row = (message["name"], message["space"]["name"], message["thread"]["name"], client_id)
        self._db.execute(
            "INSERT INTO messages (name, space, thread, client_id, body, created, changed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*row, json.dumps(message), change, change),
        )

    def replace(self, message: Json) -> None:
        """Overwrite the message of that name."""
        self._change(message["name"], "body = ?", json.dumps(message))

    def delete(self, name: str) -> None:
        """Mark a message as deleted."""
        self._change(name, "deleted = ?", 1)

    def mark_unanswered(self, name: str) -> None:
        """Mark a person's message as one that the bot never accepted."""
        self._change(name, "unanswered = ?", 1)

    def find(self, space: str, message_id: str) -> Stored | None:
        """The message with this id in `space` (Chat's id or the client's), even if it is deleted."""
        name = f"{space}/messages/{message_id}"
        return self._one("space = ? AND (name = ? OR client_id = ?)", space, name, message_id)

    def has_thread(self, thread: str) -> bool:
        """Whether `thread` has, or had, any message."""
        return self._one("thread = ? LIMIT 1", thread) is not None

    def without_bot(self) -> list[str]:
        """The spaces that the bot is not in."""
        return [name for (name,) in self._db.execute("SELECT space FROM without_bot ORDER BY space")]

    def put_bot(self, space: str, *, inside: bool) -> None:
        """Record whether the bot is in a space."""
        if inside:
            self._db.execute("DELETE FROM without_bot WHERE space = ?", (space,))
        else:
            self._db.execute("INSERT OR IGNORE INTO without_bot VALUES (?)", (space,))

    def present(self) -> Iterator[Stored]:
        """The messages that are not deleted, oldest first."""
        return self._many("deleted = 0 ORDER BY created")

    def changed_after(self, change: int) -> Iterator[Stored]:
        """The messages written after that change, in the order of their last writes."""
        return self._many("changed > ? ORDER BY changed", change)

    def last_change(self) -> int:
        """The number of the latest write, or 0."""
        latest: int = self._db.execute("SELECT coalesce(max(changed), 0) FROM messages").fetchone()[0]
        return latest

    def _change(self, name: str, assignment: str, value: str | int) -> None:
        self._db.execute(
            f"UPDATE messages SET {assignment}, changed = ? WHERE name = ?",  # noqa: S608 - our own text
            (value, self.last_change() + 1, name),
        )

    def _one(self, condition: str, *values: str) -> Stored | None:
        return next(self._many(condition, *values), None)

    def _many(self, condition: str, *values: str | int) -> Iterator[Stored]:
        query = f"SELECT {COLUMNS} FROM messages WHERE {condition}"  # noqa: S608 - our own text
        for body, deleted, unanswered, created, changed in self._db.execute(query, values).fetchall():
            yield Stored(json.loads(body), bool(deleted), bool(unanswered), created, changed)
