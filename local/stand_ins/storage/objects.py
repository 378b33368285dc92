"""The buckets and their objects, in one SQLite file."""

import base64
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import google_crc32c

from local.stand_ins.database import opened

_SCHEMA = """
CREATE TABLE IF NOT EXISTS buckets (name TEXT NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    content_type TEXT NOT NULL,
    updated INTEGER NOT NULL,  -- microseconds since 1970
    PRIMARY KEY (bucket, name)
);
"""


@dataclass(frozen=True)
class StoredObject:
    """One object. `updated` is in microseconds since 1970."""

    bucket: str
    name: str
    content: bytes
    content_type: str
    updated: int

    @property
    def uri(self) -> str:
        """`gs://bucket/name`."""
        return f"gs://{self.bucket}/{self.name}"

    @property
    def generation(self) -> str:
        """A different number for each version of an object."""
        return str(self.updated)

    @property
    def md5(self) -> str:
        """The MD5 of the content, in base64 as the API gives it."""
        return base64.b64encode(hashlib.md5(self.content, usedforsecurity=False).digest()).decode()

    @property
    def crc32c(self) -> str:
        """The CRC32C of the content, in base64 as the API gives it."""
        return base64.b64encode(google_crc32c.value(self.content).to_bytes(4, "big")).decode()


class Objects:
    """Objects by bucket and name. Open it before use; one process at a time."""

    def __init__(self, state: Path | None) -> None:
        self._state = state

    def open(self) -> None:
        """Open the file, or create it. Raises OSError if it is in use or not ours."""
        self._database = opened(self._state, _SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def make_bucket(self, name: str) -> bool:
        """Create a bucket. False if there is one of that name."""
        made = self._database.execute("INSERT OR IGNORE INTO buckets VALUES (?)", (name,))
        return made.rowcount > 0

    def has_bucket(self, name: str) -> bool:
        """Whether there is a bucket of that name."""
        found = self._database.execute("SELECT 1 FROM buckets WHERE name = ?", (name,)).fetchone()
        return found is not None

    def put(self, bucket: str, name: str, content: bytes, content_type: str) -> StoredObject:
        """Store an object. It replaces one of the same name."""
        stored = StoredObject(bucket, name, content, content_type, time.time_ns() // 1000)
        row = (bucket, name, content, content_type, stored.updated)
        self._database.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)", row)
        return stored

    def get(self, bucket: str, name: str) -> StoredObject | None:
        """The object, or None."""
        query = "SELECT * FROM objects WHERE bucket = ? AND name = ?"
        row = self._database.execute(query, (bucket, name)).fetchone()
        return None if row is None else StoredObject(*row)

    def delete(self, bucket: str, name: str) -> bool:
        """Delete an object. False if there is none."""
        query = "DELETE FROM objects WHERE bucket = ? AND name = ?"
        return self._database.execute(query, (bucket, name)).rowcount > 0

    def named(self, bucket: str, prefix: str) -> Iterator[StoredObject]:
        """The objects whose names begin with `prefix`, ordered by name."""
        query = "SELECT * FROM objects WHERE bucket = ? AND substr(name, 1, ?) = ? ORDER BY name"
        for row in self._database.execute(query, (bucket, len(prefix), prefix)).fetchall():
            yield StoredObject(*row)

    def at(self, uri: str) -> list[StoredObject]:
        """The objects that an import reads for a `gs://` URI: that object, or all in that directory."""
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        one = self.get(bucket, name)
        folder = name if not name or name.endswith("/") else f"{name}/"
        return [one] if one else list(self.named(bucket, folder))
