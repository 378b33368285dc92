"""Leases of pulled messages: whoever has the ack id holds the message until the deadline."""

import asyncio
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from local.stand_ins.grpc_server import invalid
from local.stand_ins.pubsub.store import Delivery

_ACK_ID = re.compile(r"\d+:[0-9a-f]{32}")


@dataclass
class _Lease:
    delivery: Delivery
    timer: asyncio.TimerHandle


class Leases:
    """The leases of all subscriptions. Calls `expired` for each lease that reaches its deadline."""

    def __init__(self, expired: Callable[[Delivery], None]) -> None:
        self._expired = expired
        self._leases: dict[str, _Lease] = {}

    def grant(self, delivery: Delivery, duration: float) -> str:
        """Lease a message for `duration` seconds, and return the ack id."""
        ack_id = f"{delivery.id}:{uuid.uuid4().hex}"
        self._leases[ack_id] = _Lease(delivery, self._timer(ack_id, duration))
        return ack_id

    def end(self, subscription: str, ack_ids: Iterable[str]) -> list[Delivery]:
        """End these leases and return their messages. Skips leases that have already ended.

        Raises INVALID_ARGUMENT, and ends none, if one was never an ack id of this subscription.
        """
        found = self._find(subscription, ack_ids)
        for ack_id, lease in found.items():
            lease.timer.cancel()
            del self._leases[ack_id]
        return [lease.delivery for lease in found.values()]

    def extend(self, subscription: str, ack_ids: Iterable[str], duration: float) -> None:
        """Let these leases run for `duration` seconds from now. Skips and raises as `end` does."""
        for ack_id, lease in self._find(subscription, ack_ids).items():
            lease.timer.cancel()
            lease.timer = self._timer(ack_id, duration)

    def close(self) -> None:
        """End all leases without calling `expired`."""
        for lease in self._leases.values():
            lease.timer.cancel()
        self._leases.clear()

    def _find(self, subscription: str, ack_ids: Iterable[str]) -> dict[str, _Lease]:
        found = {}
        for ack_id in ack_ids:
            lease = self._leases.get(ack_id)
            elsewhere = lease is not None and lease.delivery.subscription != subscription
            if elsewhere or not _ACK_ID.fullmatch(ack_id):
                raise invalid(f"Invalid ack id {ack_id[:80]!r}")
            if lease is not None:
                found[ack_id] = lease
        return found

    def _timer(self, ack_id: str, duration: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(duration, self._expire, ack_id)

    def _expire(self, ack_id: str) -> None:
        self._expired(self._leases.pop(ack_id).delivery)
