"""The unacknowledged messages of one subscription, and when each is due again."""

import asyncio
import heapq
import time

from local.stand_ins.pubsub.protos import Proto, seconds
from local.stand_ins.pubsub.store import Delivery

#: Backoff of a push subscription without a retry policy, seconds (cloud.google.com/pubsub/docs/push).
PUSH_BACKOFF = (0.1, 60.0)


def pause(subscription: Proto, failures: int) -> float:
    """Seconds from the n-th failure of a message to its next delivery: the minimum, doubled with each
    failure.

    Real push backoff slows down the whole subscription, by the share of failures. Here it is per message.
    """
    shortest, longest = 0.0, 0.0
    if subscription.HasField("retry_policy"):
        policy = subscription.retry_policy
        shortest, longest = seconds(policy.minimum_backoff), seconds(policy.maximum_backoff)
    elif subscription.push_config.push_endpoint:
        shortest, longest = PUSH_BACKOFF
    if subscription.push_config.push_endpoint:
        shortest = max(shortest, PUSH_BACKOFF[0])
    doublings = min(failures - 1, 16)
    return max(shortest, min(longest, shortest * 2.0**doublings))


class Backlog:
    """The backlog of one subscription, in memory. Its configuration, `subscription`, may be replaced.

    A message may wait more than once (a duplicate delivery). An acknowledgement ends all its deliveries.
    """

    def __init__(self, subscription: Proto) -> None:
        self.subscription = subscription
        self._unacknowledged: dict[int, Delivery] = {}
        self._waiting: list[tuple[float, int]] = []
        self._changed = asyncio.Event()

    @property
    def ack_deadline(self) -> float:
        """Seconds that a subscriber has for a message before the delivery counts as failed."""
        return float(self.subscription.ack_deadline_seconds)

    def __len__(self) -> int:
        return len(self._unacknowledged)

    def __contains__(self, delivery: Delivery) -> bool:
        return delivery.id in self._unacknowledged

    def add(self, delivery: Delivery, copies: int = 1) -> None:
        """Add a new message, to be delivered `copies` times when it is due."""
        self._unacknowledged[delivery.id] = delivery
        for _ in range(copies):
            self.wait_again(delivery)

    def wait_again(self, delivery: Delivery) -> None:
        """Let a message that was taken wait for its next delivery."""
        heapq.heappush(self._waiting, (delivery.due, delivery.id))
        self._changed.set()

    def remove(self, delivery: Delivery) -> None:
        """Remove a message that was acknowledged or became a dead letter."""
        del self._unacknowledged[delivery.id]

    def take(self, limit: int) -> list[Delivery]:
        """Take up to `limit` messages that are due now. They no longer wait."""
        taken: list[Delivery] = []
        now = time.time()
        while self._waiting and self._waiting[0][0] <= now and len(taken) < limit:
            _, number = heapq.heappop(self._waiting)
            if delivery := self._unacknowledged.get(number):
                taken.append(delivery)
        return taken

    async def take_when_due(self, limit: int, patience: float) -> list[Delivery]:
        """Like `take`, but waits for a message. The list is empty after `patience` seconds."""
        end = time.time() + patience
        while not (taken := self.take(limit)) and time.time() < end:
            await self._wait_until(end)
        return taken

    async def _wait_until(self, end: float) -> None:
        until = min(end, self._waiting[0][0]) if self._waiting else end
        self._changed.clear()
        try:
            async with asyncio.timeout(until - time.time()):
                await self._changed.wait()
        except TimeoutError:
            return
