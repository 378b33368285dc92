"""From the backup subscription into the store: what `tell` has not kept is kept, then acknowledged."""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ops.world import World
from shared.cases import Cases
from shared.dead_letters import DeadLetter
from shared.deadline import Deadline
from shared.errors import StepError
from shared.firestore import Fields

#: Pub/Sub gives at most 1,000 messages at once, and gRPC takes 4 MiB: findings are some 10 KiB each.
AT_ONCE = 200
#: Seconds that a batch may take: its messages come again only afterwards.
LEASE = 120
#: How many letters are stored at the same time.
THREADS = 16
WAIT = 30.0
#: Pub/Sub may answer an empty pull though there are messages: so many in a row mean that there are none.
EMPTY_PULLS = 3


@dataclass
class Reconciled:
    """What was done: letters read, cases that were new, letters that were left for another time."""

    read: int = 0
    stored: int = 0
    left: list[str] = field(default_factory=list)


def reconcile(world: World, on_batch: Callable[[Reconciled], None]) -> Reconciled:
    """Drain the backup. Raises GoogleAPICallError; what is not acknowledged by then comes again."""
    settings = world.settings
    path = world.subscriber.subscription_path(
        settings.google_cloud_project, settings.named(settings.dead_letter_backup)
    )
    done, empty = Reconciled(), 0
    with ThreadPoolExecutor(THREADS) as threads:
        while empty < EMPTY_PULLS:
            received = _pull(world.subscriber, path)
            empty = 0 if received else empty + 1
            if received:
                _take(received, path, world, threads, done)
                on_batch(done)
    return done


def _take(
    received: list[Any], path: str, world: World, threads: ThreadPoolExecutor, done: Reconciled
) -> None:
    ack_ids = [each.ack_id for each in received]
    world.subscriber.modify_ack_deadline(
        subscription=path, ack_ids=ack_ids, ack_deadline_seconds=LEASE, retry=None, timeout=WAIT
    )
    letters = [
        DeadLetter.from_pull(each.message.attributes, each.message.data, each.message.message_id)
        for each in received
    ]
    known = world.store.several([letter.case_id for letter in letters], ["message_ids"])
    kept = list(threads.map(lambda letter: _keep(letter, known.get(letter.case_id), world, done), letters))
    safe = [ack_id for ack_id, is_kept in zip(ack_ids, kept, strict=True) if is_kept]
    if safe:
        world.subscriber.acknowledge(subscription=path, ack_ids=safe, retry=None, timeout=WAIT)
    done.read += len(letters)


def _keep(letter: DeadLetter, known: Fields | None, world: World, done: Reconciled) -> bool:
    if known is not None and letter.message_id in (known.get("message_ids") or []):
        return True
    try:
        failure = _failure(letter, world)
        stored = Cases(world.firestore).store(letter, failure, Deadline(WAIT))
    except StepError as error:
        done.left.append(f"{letter.case_id}: {error}")
        return False
    done.stored += stored is not None
    return True


def _failure(letter: DeadLetter, world: World) -> Fields | None:
    return world.failures.find(letter.question_id, letter.step, Deadline(WAIT)) if letter.step else None


def _pull(subscriber: Any, path: str) -> list[Any]:
    # Deprecated, but a wait for more would only tell later that there is none.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        request = {"subscription": path, "max_messages": AT_ONCE, "return_immediately": True}
        return list(subscriber.pull(request=request, retry=None, timeout=WAIT).received_messages)
