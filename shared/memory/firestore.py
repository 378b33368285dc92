"""Reads and changes Firestore documents safely, with compare-and-set."""

import random
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from google.api_core.exceptions import AlreadyExists, FailedPrecondition, NotFound
from google.cloud.firestore import DELETE_FIELD

from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from shared.runtime.retry import FIRESTORE, Policy, call

__all__ = ["Fields", "change", "change_all", "count", "document_id", "expiry", "read", "read_all"]

#: How often a change is tried if another writer changes the document at the same time.
MOST_CHANGES = 8

#: Firestore's integers end at 2**63.
MOST_COUNTED = 1_000_000

Fields = dict[str, Any]
#: Removes a field that none of our documents has. A write that changes nothing leaves the document's update
#: time unchanged (reference of `WriteResult.update_time`).
_NOTHING = {"nothing": DELETE_FIELD}


def expiry(now: datetime, keep: timedelta) -> datetime:
    """The `expired_at` of a document that is saved `now`.

    Firestore's TTL policy uses this field. Readers check it, too, because the deletion is often hours late.
    """
    return now + keep


def count(fields: Fields, name: str) -> int:
    """A count in a field. 0 if it is missing, not a number, or impossibly large."""
    number = fields.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        return 0
    return number if 0 <= number < MOST_COUNTED else 0


def read(reference: Any, deadline: Deadline, policy: Policy = FIRESTORE) -> Any:
    """The snapshot of a document. `.exists` is false if there is no document."""
    return call(lambda timeout: reference.get(retry=None, timeout=timeout), policy, deadline)


def change(
    client: Any,
    reference: Any,
    edit: Callable[[Fields | None], Fields | None],
    deadline: Deadline,
    policy: Policy = FIRESTORE,
) -> Fields | None:
    """Compare-and-set on one document. Returns the document's fields afterwards.

    `edit` gets the fields (None: no document) and returns the new ones. It returns None to leave the document
    unchanged, or {} to delete it. This uses no transaction, because transactions on one busy document are
    very slow. `edit` runs again if another writer was faster. After MOST_CHANGES times Transient
    (`firestore_contention`) is raised.
    """
    for number in range(MOST_CHANGES):
        if number:  # the same writers may come again, so spread the next attempts
            time.sleep(min(random.uniform(0, 0.04 * 2**number), deadline.remaining))  # noqa: S311
        snapshot = read(reference, deadline, policy)
        current: Fields | None = snapshot.to_dict() if snapshot.exists else None
        wanted = edit(current)
        if wanted is None:
            return current
        try:
            _write(client, reference, snapshot, wanted, deadline, policy)
        except (AlreadyExists, FailedPrecondition, NotFound):
            continue
        return wanted
    raise Transient("firestore_contention", f"{MOST_CHANGES} writers were faster")


def read_all(
    client: Any,
    references: Sequence[Any],
    deadline: Deadline,
    *,
    fields: Sequence[str] | None = None,
    policy: Policy = FIRESTORE,
) -> list[Any]:
    """The snapshots of several documents at one moment, in the order of the references. It is one call.

    `fields`: read only these fields (None: all).
    """
    found = call(
        lambda timeout: list(client.get_all(references, field_paths=fields, retry=None, timeout=timeout)),
        policy,
        deadline,
    )
    by_path = {snapshot.reference.path: snapshot for snapshot in found}
    return [by_path[reference.path] for reference in references]


def change_all(
    client: Any,
    references: Sequence[Any],
    edit: Callable[[list[Fields | None]], list[Fields | None]],
    deadline: Deadline,
    *,
    fields: Sequence[str] | None = None,
    seen: Sequence[Any] | None = None,
    policy: Policy = FIRESTORE,
) -> None:
    """Compare-and-set on several documents: one read, and one commit that changes all of them or none.

    `edit` gets the fields of each document (None: no document). It returns the fields to set for each (None:
    leave it unchanged), or an empty list to leave all unchanged. If it changes any document, no document may
    have changed since it was read. Otherwise `edit` runs again. After MOST_CHANGES times Transient
    (`firestore_contention`) is raised. `seen` are snapshots that were read before, with the same `fields`.
    """
    for number in range(MOST_CHANGES):
        if number:
            time.sleep(min(random.uniform(0, 0.04 * 2**number), deadline.remaining))  # noqa: S311
        if seen is None or number:
            seen = read_all(client, references, deadline, fields=fields, policy=policy)
        wanted = edit([snapshot.to_dict() if snapshot.exists else None for snapshot in seen])
        if not any(wanted):
            return
        try:
            _commit(client, list(zip(seen, wanted, strict=True)), deadline, policy)
        except (AlreadyExists, FailedPrecondition, NotFound):
            continue
        return
    raise Transient("firestore_contention", f"{MOST_CHANGES} writers were faster")


def _commit(
    client: Any, changes: list[tuple[Any, Fields | None]], deadline: Deadline, policy: Policy
) -> None:
    batch = client.batch()
    for snapshot, wanted in changes:
        reference = snapshot.reference
        if not snapshot.exists and wanted:
            batch.create(reference, wanted)
        elif not snapshot.exists:  # a missing document must still be missing
            batch.delete(reference, option=client.write_option(exists=False))
        else:
            option = client.write_option(last_update_time=snapshot.update_time)
            batch.update(reference, wanted or _NOTHING, option=option)
    call(
        lambda timeout: batch.commit(retry=None, timeout=timeout),
        policy,
        deadline,
        answers=(AlreadyExists, FailedPrecondition, NotFound),
    )


def _write(
    client: Any, reference: Any, snapshot: Any, wanted: Fields, deadline: Deadline, policy: Policy
) -> None:
    def write(timeout: float) -> None:
        if not snapshot.exists:
            reference.create(wanted, retry=None, timeout=timeout)
            return
        option = client.write_option(last_update_time=snapshot.update_time)
        if wanted:
            reference.update(wanted, option=option, retry=None, timeout=timeout)
        else:
            reference.delete(option=option, retry=None, timeout=timeout)

    call(write, policy, deadline, answers=(AlreadyExists, FailedPrecondition, NotFound))
