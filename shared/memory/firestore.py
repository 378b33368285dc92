"""Reads and changes Firestore documents safely, with compare-and-set."""

import random
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from google.api_core.exceptions import AlreadyExists, FailedPrecondition, NotFound
from google.cloud.firestore import DELETE_FIELD

from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from shared.runtime.retry import FIRESTORE, Policy, call

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
    leave it unchanged; {}: delete it), or an empty list to leave all unchanged. If it changes any document,
    no document may have changed since it was read. Otherwise `edit` runs again. After MOST_CHANGES times
    Transient (`firestore_contention`) is raised. `seen` are snapshots that were read before, with the same
    `fields`. This uses no transaction, because transactions on one busy document are very slow.
    """
    for number in range(MOST_CHANGES):
        if number:  # the same writers may come again, so spread the next attempts
            time.sleep(min(random.uniform(0, 0.04 * 2**number), deadline.remaining))  # noqa: S311
        if seen is None or number:
            seen = read_all(client, references, deadline, fields=fields, policy=policy)
        wanted = edit([snapshot.to_dict() if snapshot.exists else None for snapshot in seen])
        if all(each is None for each in wanted):
            return
        try:
            _commit(client, list(zip(seen, wanted, strict=True)), deadline, policy)
        except (AlreadyExists, FailedPrecondition, NotFound):
            continue
        return
    raise Transient("firestore_contention", f"{MOST_CHANGES} writers were faster")


def change(
    client: Any,
    reference: Any,
    edit: Callable[[Fields | None], Fields | None],
    deadline: Deadline,
    policy: Policy = FIRESTORE,
) -> Fields | None:
    """Compare-and-set on one document, as `change_all`. Returns the fields that were set, or else found."""
    fields: Fields | None = None

    def edit_one(documents: list[Fields | None]) -> list[Fields | None]:
        nonlocal fields
        wanted = edit(documents[0])
        fields = documents[0] if wanted is None else wanted
        return [wanted]

    change_all(client, [reference], edit_one, deadline, policy=policy)
    return fields


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
        elif wanted == {}:
            batch.delete(reference, option=client.write_option(last_update_time=snapshot.update_time))
        else:
            option = client.write_option(last_update_time=snapshot.update_time)
            batch.update(reference, wanted or _NOTHING, option=option)
    call(
        lambda timeout: batch.commit(retry=None, timeout=timeout),
        policy,
        deadline,
        answers=(AlreadyExists, FailedPrecondition, NotFound),
    )
