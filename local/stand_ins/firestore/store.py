"""The documents, in one SQLite file."""

import time
from collections.abc import Mapping
from pathlib import Path

from local.stand_ins.database import opened
from local.stand_ins.firestore.names import split
from local.stand_ins.firestore.protos import Document, Message

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    name TEXT NOT NULL PRIMARY KEY,
    parent TEXT NOT NULL,
    collection TEXT NOT NULL,
    update_time INTEGER NOT NULL,  -- microseconds since 1970
    document BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_by_collection ON documents (collection, parent);
"""


class Store:
    """Documents by name. Open it before use; one process at a time."""

    def __init__(self, state: Path | None) -> None:
        self._state = state
        self._latest = 0

    def open(self) -> None:
        """Open the file, or create it. Raises OSError if it is in use or not ours."""
        self._database = opened(self._state, _SCHEMA)
        latest = self._database.execute("SELECT max(update_time) FROM documents").fetchone()[0]
        self._latest = latest or 0

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def next_commit(self) -> int:
        """The time of a new commit in microseconds, later than all before it."""
        self._latest = self.now() + 1
        return self._latest

    def now(self) -> int:
        """The time of a read in microseconds, not earlier than the latest commit."""
        return max(self._latest, time.time_ns() // 1000)

    def get(self, name: str) -> Message | None:
        """The document, or None."""
        row = self._database.execute("SELECT document FROM documents WHERE name = ?", (name,)).fetchone()
        return None if row is None else Document.FromString(row[0])

    def put(self, changes: Mapping[str, Message | None]) -> None:
        """Store these documents, and delete those that are None: all or nothing, before this returns."""
        self._database.execute("BEGIN")
        try:
            for name, document in changes.items():
                self._put(name, document)
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _put(self, name: str, document: Message | None) -> None:
        if document is None:
            self._database.execute("DELETE FROM documents WHERE name = ?", (name,))
            return
        parent, collection, _ = split(name)
        time_ = document.update_time.ToMicroseconds()
        row = (name, parent, collection, time_, document.SerializeToString())
        self._database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", row)

    def collection(self, parent: str, collection: str) -> list[bytes]:
        """The documents of one collection, serialized, in no particular order."""
        where = "SELECT document FROM documents WHERE collection = ? AND parent = ?"
        return [row[0] for row in self._database.execute(where, (collection, parent))]

    def collection_ids(self, name: str) -> list[str]:
        """The ids of the collections directly below a document or the root, in order."""
        below = f"{name}/", f"{name}0"  # 0 is the character after /
        rows = self._database.execute("SELECT name FROM documents WHERE name > ? AND name < ?", below)
        return sorted({row[0][len(name) + 1 :].split("/", 1)[0] for row in rows})
