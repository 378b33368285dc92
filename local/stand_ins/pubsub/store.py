"""The stored state: topics, subscriptions, and the messages that are not acknowledged yet."""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from local.stand_ins.pubsub.protos import Proto, PubsubMessage, Subscription, Topic

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS topics (name TEXT PRIMARY KEY, proto BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subscriptions (name TEXT PRIMARY KEY, proto BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS backlog (
    subscription TEXT NOT NULL,
    id INTEGER NOT NULL,
    proto BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    due REAL NOT NULL,
    PRIMARY KEY (subscription, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS last_id (id INTEGER NOT NULL);
"""


@dataclass(slots=True, eq=False)
class Delivery:
    """A message in the backlog of one subscription; `due` is Unix time in seconds."""

    subscription: str
    id: int
    message: Proto
    attempts: int
    due: float


class Store:
    """One SQLite file. When a method returns, its change is committed and survives `kill -9`.

    A power cut may lose it (`synchronous = OFF`): on a laptop, an fsync per message is not worth its time.
    """

    def __init__(self, state: Path | None) -> None:
        # Opened where the stand-in is created, but used only in the thread of its event loop.
        self._db = sqlite3.connect(state or ":memory:", check_same_thread=False)
        self._db.executescript(_SCHEMA)
        self._last_id = self._first_id()

    def _first_id(self) -> int:
        row = self._db.execute("SELECT id FROM last_id").fetchone()
        if row is not None:
            return int(row[0])
        # From the clock, so that ids do not repeat after the state file was deleted.
        now = time.time_ns() // 1000
        with self._db:
            self._db.execute("INSERT INTO last_id VALUES (?)", (now,))
        return now

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        self._db.close()

    def new_id(self) -> int:
        """A message id that is unique, also across restarts. The next `add` saves it."""
        self._last_id += 1
        return self._last_id

    def topics(self) -> list[Proto]:
        """The topics, by name."""
        rows = self._db.execute("SELECT proto FROM topics ORDER BY name")
        return [Topic.FromString(proto) for (proto,) in rows]

    def subscriptions(self) -> list[Proto]:
        """The subscriptions, by name."""
        rows = self._db.execute("SELECT proto FROM subscriptions ORDER BY name")
        return [Subscription.FromString(proto) for (proto,) in rows]

    def backlog(self) -> Iterator[Delivery]:
        """Every unacknowledged message of every subscription, in publish order."""
        rows = self._db.execute("SELECT subscription, id, proto, attempts, due FROM backlog ORDER BY id")
        for subscription, number, proto, attempts, due in rows:
            yield Delivery(subscription, number, PubsubMessage.FromString(proto), attempts, due)

    def save_topic(self, topic: Proto) -> None:
        """Add it."""
        with self._db:
            self._db.execute("REPLACE INTO topics VALUES (?, ?)", (topic.name, topic.SerializeToString()))

    def save_subscription(self, subscription: Proto) -> None:
        """Add or replace it."""
        with self._db:
            self._db.execute(
                "REPLACE INTO subscriptions VALUES (?, ?)",
                (subscription.name, subscription.SerializeToString()),
            )

    def delete_subscription(self, name: str) -> None:
        """Delete it, with its backlog."""
        with self._db:
            self._db.execute("DELETE FROM subscriptions WHERE name = ?", (name,))
            self._db.execute("DELETE FROM backlog WHERE subscription = ?", (name,))

    def add(self, deliveries: Iterable[Delivery], instead_of: Delivery | None = None) -> None:
        """Add messages to backlogs and, in the same transaction, remove the one that they replace."""
        with self._db:
            self._db.executemany(
                "INSERT INTO backlog VALUES (?, ?, ?, ?, ?)",
                (_row(delivery) for delivery in deliveries),
            )
            self._db.execute("UPDATE last_id SET id = ?", (self._last_id,))
            if instead_of is not None:
                self._remove([instead_of])

    def remove(self, deliveries: Iterable[Delivery]) -> None:
        """Remove acknowledged messages."""
        with self._db:
            self._remove(deliveries)

    def _remove(self, deliveries: Iterable[Delivery]) -> None:
        self._db.executemany(
            "DELETE FROM backlog WHERE subscription = ? AND id = ?",
            ((d.subscription, d.id) for d in deliveries),
        )

    def update(self, delivery: Delivery) -> None:
        """Store its attempts and when it is due."""
        with self._db:
            self._db.execute(
                "UPDATE backlog SET attempts = ?, due = ? WHERE subscription = ? AND id = ?",
                (delivery.attempts, delivery.due, delivery.subscription, delivery.id),
            )


def _row(delivery: Delivery) -> tuple[str, int, bytes, int, float]:
    proto: bytes = delivery.message.SerializeToString()
    return delivery.subscription, delivery.id, proto, delivery.attempts, delivery.due
