"""What all our Firestore documents have in common: ids from resource names, and safe changes."""

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

#: How often a change is tried anew when somebody else has changed the document meanwhile.
MOST_CHANGES = 8

#: Firestore's integers end at 2**63.
MOST_COUNTED = 1_000_000

Fields = dict[str, Any]
#: Removes a field that no document of ours has: a write that changes nothing leaves the document's update
#: time as it is (reference of `WriteResult.update_time`).
_NOTHING = {"nothing": DELETE_FIELD}


def expiry(now: datetime, keep: timedelta) -> datetime:
    """The `expired_at` of a document saved `now`: Firestore's TTL policy sits on this field, and readers
    check it themselves, because the deletion comes late (often by hours)."""
    return now + keep


def count(fields: Fields, name: str) -> int:
    """A number that counts something; 0 where there is none, or one that we never come to."""
    number = fields.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        return 0
    return number if 0 <= number < MOST_COUNTED else 0


def read(reference: Any, deadline: Deadline, policy: Policy = FIRESTORE) -> Any:
    """The snapshot of a document (`.exists` tells whether there is one)."""
    return call(lambda timeout: reference.get(retry=None, timeout=timeout), policy, deadline)


def change(
    client: Any,
    reference: Any,
    edit: Callable[[Fields | None], Fields | None],
    deadline: Deadline,
    policy: Policy = FIRESTORE,
) -> Fields | None:
    """Compare-and-set: `edit` gets the fields (None: no document) and returns the new ones, None to leave the
    document as it is, or none at all ({}) to delete it. Returns the document's fields afterwards.

    No transaction: transactions on one busy document crawl. `edit` runs again when another writer was
    faster, at most MOST_CHANGES times; then Transient (`firestore_contention`) is raised.
    """
    for number in range(MOST_CHANGES):
        if number:  # whoever was faster may well come again: spread the next tries
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
    """The snapshots of several documents as they are at one moment, in the order of the references.

    `fields`: these fields alone (None: all). One call.
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
    """Compare-and-set over several documents: one read and one commit, of which all or nothing happens.

    `edit` gets the fields of each document (None: no document), and returns for each the fields to set (None:
    leave it as it is), or an empty list to leave all. When it changes any document, all of them must still be
    as they were read; else it runs again, at most MOST_CHANGES times; then Transient (`firestore_contention`)
    is raised. `seen` are snapshots that were read before, with the same `fields`.
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
        elif not snapshot.exists:  # what is not there must still not be there
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
