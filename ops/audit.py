"""What operators did, when, to which messages, with which outcome and note.

`audit/<operation>`: operation, action, by, at, note, selection, finished_at, counts ({outcome: number})
`audit/<operation>/messages/<case id>`: question_id, reference, outcome, detail, at

One commit writes the entry of a message and the change of its case, so that a dying process cannot lose only
one of them. An operation without `finished_at` was interrupted, or is still running.
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.cloud.firestore import Query

from shared.memory.firestore import Fields
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_SINGLE, call

COLLECTION, MESSAGES = "audit", "messages"
WAIT = 30.0


@dataclass(frozen=True)
class Operation:
    """One use of a command that changes something. `note` is the reason the operator gave."""

    name: str
    action: str
    by: str
    note: str = ""


def new_operation(action: str, by: str, note: str = "", name: str | None = None) -> Operation:
    """An operation with the given name, or with a new one such as `replay-20261130-0301-9f2c`."""
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M}-{secrets.token_hex(2)}"
    return Operation(f"{name or action}-{stamp}", action, by, note)


class Audit:
    """The audit of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def begin(self, operation: Operation, selection: str) -> None:
        """Record the start of an operation, before it does anything. Raises Permanent or Transient."""
        fields = {
            **vars(operation),
            "selection": selection,
            "at": datetime.now(UTC),
            "finished_at": None,
            "counts": {},
        }
        self._write(operation, fields)

    def finish(self, operation: Operation, counts: Mapping[str, int]) -> None:
        """Record the end of an operation. Raises Permanent or Transient."""
        self._write(operation, {"finished_at": datetime.now(UTC), "counts": dict(counts)})

    def message(self, operation: Operation, case_id: str) -> Any:
        """The reference of a message's entry."""
        return self.operation(operation.name).collection(MESSAGES).document(case_id)

    def operation(self, name: str) -> Any:
        """The reference of an operation's entry."""
        return self._client.collection(COLLECTION).document(name)

    def latest(self, most: int) -> Iterator[Fields]:
        """The operations, newest first."""
        query = self._client.collection(COLLECTION).order_by("at", direction=Query.DESCENDING).limit(most)
        for snapshot in query.stream(retry=None, timeout=WAIT):
            yield snapshot.to_dict() or {}

    def of(self, name: str) -> tuple[Fields | None, list[Fields]]:
        """An operation and the entries of its messages; None when there is no such operation."""
        if not name or "/" in name:
            return None, []
        reference = self.operation(name)
        snapshot = reference.get(retry=None, timeout=WAIT)
        entries = reference.collection(MESSAGES).stream(retry=None, timeout=WAIT)
        return snapshot.to_dict(), [entry.to_dict() or {} for entry in entries]

    def _write(self, operation: Operation, fields: Fields) -> None:
        reference = self.operation(operation.name)
        call(
            lambda timeout: reference.set(fields, merge=True, retry=None, timeout=timeout),
            FIRESTORE_SINGLE,
            Deadline(WAIT),
        )


def entry(case_id: str, fields: Fields, outcome: str, detail: str) -> Fields:
    """The audit's entry for one message."""
    return {
        "case": case_id,
        "question_id": fields.get("question_id"),
        "reference": fields.get("reference"),
        "outcome": outcome,
        "detail": detail,
        "at": datetime.now(UTC),
    }


def counted(entries: list[Fields]) -> Counter[str]:
    """How many messages of an operation had which outcome."""
    return Counter(str(each.get("outcome")) for each in entries)
