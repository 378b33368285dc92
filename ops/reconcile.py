"""Store the dead letters of the backup subscription that have no case yet, then acknowledge them."""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from ops.new_cases import keep
from ops.world import World
from shared.chat.letters import letter_from_push
from shared.messages.dead_letter import DeadLetter
from shared.runtime.errors import classify

#: Messages per pull. Pub/Sub gives at most 1,000 and gRPC takes 4 MiB. Findings have about 10 KiB each.
AT_ONCE = 200
#: Seconds before the messages of a batch are delivered again. Extended for as long as the work takes.
LEASE = 60
WAIT = 30.0
#: Pub/Sub may answer an empty pull although there are messages. This many in a row mean that there are none.
EMPTY_PULLS = 3


@dataclass
class Reconciled:
    """How many letters were read and newly stored, and why others were left in the backup."""

    read: int = 0
    stored: int = 0
    left: list[str] = field(default_factory=list)


def reconcile(world: World, on_batch: Callable[[Reconciled], None], lease: int = LEASE) -> Reconciled:
    """Drain the backup. Raises StepError or GoogleAPICallError; unacknowledged messages come again."""
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


def letter_from_pull(attributes: Mapping[str, str], data: bytes, message_id: str) -> DeadLetter:
    """Read a message of a pull subscription. Never fails."""
    return letter_from_push({**attributes, "x-goog-pubsub-message-id": message_id}, data)


@contextmanager
def _held(subscriber: Any, path: str, ack_ids: list[str], lease: int) -> Iterator[None]:
    """Extend the messages' lease until they are stored, however slow Firestore is."""
    over = threading.Event()

    def hold() -> None:
        while True:
            with suppress(GoogleAPICallError):  # then they are delivered again, and recognised
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
    # Deprecated, but without it an empty subscription makes the pull wait.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        request = {"subscription": path, "max_messages": AT_ONCE, "return_immediately": True}
        try:
            return list(subscriber.pull(request=request, retry=None, timeout=WAIT).received_messages)
        except GoogleAPICallError as error:
            raise classify(error, "pubsub") from error
