"""Optimistic transactions: no call waits; a commit is aborted if a document that was read has changed."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc

from local.stand_ins.firestore.protos import Message
from local.stand_ins.grpc_server import RpcError, invalid

#: A transaction may last this long, in seconds (Firestore's "Quotas and limits").
LIFETIME_SECONDS = 270.0


def version(document: Message | None) -> int:
    """A number that changes with the document: its update time in microseconds, or 0 if there is none."""
    return 0 if document is None else int(document.update_time.ToMicroseconds())


@dataclass
class _Transaction:
    started: float = field(default_factory=time.monotonic)
    versions: dict[str, int] = field(default_factory=dict)


class Transactions:
    """The open transactions."""

    def __init__(self) -> None:
        self._open: dict[bytes, _Transaction] = {}

    def begin(self) -> bytes:
        """Begin a transaction, and forget those that have been open for too long."""
        oldest = time.monotonic() - LIFETIME_SECONDS
        self._open = {key: one for key, one in self._open.items() if one.started >= oldest}
        key = uuid.uuid4().bytes
        self._open[key] = _Transaction()
        return key

    def record_read(self, key: bytes, name: str, document: Message | None) -> None:
        """Remember the version that the transaction read. Raises INVALID_ARGUMENT if it is not open."""
        self._versions(key).setdefault(name, version(document))

    def check(self, key: bytes, get: Callable[[str], Message | None]) -> None:
        """Raise ABORTED if a document that was read has changed; `get` reads its current version.

        The transaction stays open, because the SDK rolls it back. Raises INVALID_ARGUMENT if it is not open.
        """
        for name, seen in self._versions(key).items():
            if version(get(name)) != seen:
                message = f"Too much contention on {name}. Please try again."
                raise RpcError(grpc.StatusCode.ABORTED, message)

    def end(self, key: bytes) -> None:
        """End a transaction. Raises INVALID_ARGUMENT if it is not open."""
        self._versions(key)
        del self._open[key]

    def _versions(self, key: bytes) -> dict[str, int]:
        if key not in self._open:
            raise invalid("The referenced transaction has expired or is no longer valid.")
        return self._open[key].versions
