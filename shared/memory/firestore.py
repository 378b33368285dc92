"""What all our Firestore documents have in common: ids from resource names, and safe changes."""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from google.api_core.exceptions import AlreadyExists, FailedPrecondition, NotFound

from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from shared.runtime.retry import FIRESTORE, Policy, call

__all__ = ["Fields", "change", "document_id", "expiry", "read"]

#: How often a change is tried anew when somebody else has changed the document meanwhile.
MOST_CHANGES = 8

Fields = dict[str, Any]


def expiry(now: datetime, keep: timedelta) -> datetime:
    """The `expired_at` of a document saved `now`: Firestore's TTL policy sits on this field, and readers
    check it themselves, because the deletion comes late (often by hours)."""
    return now + keep


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
    """Compare-and-set: `edit` gets the fields (None: no document) and returns the new ones, or None to
    leave the document as it is. Returns the document's fields afterwards.

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


def _write(
    client: Any, reference: Any, snapshot: Any, wanted: Fields, deadline: Deadline, policy: Policy
) -> None:
    def write(timeout: float) -> None:
        if not snapshot.exists:
            reference.create(wanted, retry=None, timeout=timeout)
            return
        option = client.write_option(last_update_time=snapshot.update_time)
        reference.update(wanted, option=option, retry=None, timeout=timeout)

    call(write, policy, deadline, answers=(AlreadyExists, FailedPrecondition, NotFound))
