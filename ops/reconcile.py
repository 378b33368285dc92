"""From the backup subscription into the store: what `tell` has not kept is kept, then acknowledged."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from ops.keep import keep
from ops.world import World
from shared.chat.letters import letter_from_pull
from shared.runtime.errors import classify

#: Pub/Sub gives at most 1,000 messages at once, and gRPC takes 4 MiB: findings are some 10 KiB each.
AT_ONCE = 200
#: Seconds for which a batch's messages do not come again; extended for as long as it takes.
LEASE = 60
WAIT = 30.0
#: Pub/Sub may answer an empty pull though there are messages: so many in a row mean that there are none.
EMPTY_PULLS = 3


@dataclass
class Reconciled:
    """What was done: letters read, those that were not kept yet, letters that were left for another time."""

    read: int = 0
    stored: int = 0
    left: list[str] = field(default_factory=list)


def reconcile(world: World, on_batch: Callable[[Reconciled], None], lease: int = LEASE) -> Reconciled:
    """Drain the backup. Raises StepError, GoogleAPICallError; what is not acknowledged then comes again."""
    settings = world.settings
    path = world.subscriber.subscription_path(
        settings.google_cloud_project, settings.named(settings.dead_letter_backup)
    )
    done, empty = Reconciled(), 0
    while empty < EMPTY_PULLS:
        received = _pull(world.subscriber, path)
        empty = 0 if received else empty + 1
        if received:
            with _held(world.subscriber, path, [each.ack_id for each in received], lease):
                _take(received, path, world, done)
            on_batch(done)
    return done


@contextmanager
def _held(subscriber: Any, path: str, ack_ids: list[str], lease: int) -> Iterator[None]:
    """Keep messages from coming again until they are stored, however slow Firestore is."""
    over = threading.Event()

    def hold() -> None:
        while True:
            with suppress(GoogleAPICallError):  # then they come again, and are known
                subscriber.modify_ack_deadline(
                    subscription=path, ack_ids=ack_ids, ack_deadline_seconds=lease, retry=None, timeout=WAIT
                )
            if over.wait(lease / 3):
                return

    holding = threading.Thread(target=hold, daemon=True)
    holding.start()
    try:
        yield
    finally:
        over.set()
        holding.join(WAIT)


def _take(received: list[Any], path: str, world: World, done: Reconciled) -> None:
    letters = [
        letter_from_pull(each.message.attributes, each.message.data, each.message.message_id)
        for each in received
    ]
    stored, trouble = keep(letters, world)
    safe = [each.ack_id for each in received if each.message.message_id not in trouble]
    if safe:
        world.subscriber.acknowledge(subscription=path, ack_ids=safe, retry=None, timeout=WAIT)
    done.read += len(letters)
    done.stored += stored
    done.left += trouble.values()


def _pull(subscriber: Any, path: str) -> list[Any]:
    # Deprecated, but a wait for more would only tell later that there is none.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        request = {"subscription": path, "max_messages": AT_ONCE, "return_immediately": True}
        try:
            return list(subscriber.pull(request=request, retry=None, timeout=WAIT).received_messages)
        except GoogleAPICallError as error:
            raise classify(error, "pubsub") from error
