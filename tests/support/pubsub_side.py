"""A Pub/Sub server under test, ours or Google's emulator, and the SDK clients that talk to it."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.api_core.exceptions import GoogleAPICallError
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient
from google.pubsub_v1 import PublisherClient as RawPublisherClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

_NUMBERS = itertools.count(1)


class Side:
    """One server; each topic and subscription it makes has a name of its own."""

    def __init__(self, address: str) -> None:
        channel = grpc.insecure_channel(address)
        self._channel = channel
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PUBSUB_EMULATOR_HOST", address)
            self.publisher = PublisherClient()
            self.subscriber = SubscriberClient()
        #: Without the SDK's own batching and checks.
        self.raw_publisher = RawPublisherClient(transport=PublisherGrpcTransport(channel=channel))

    def close(self) -> None:
        """End the clients' connections and threads."""
        self.publisher.stop()
        self.subscriber.close()
        self._channel.close()

    def topic(self) -> str:
        """A new topic's name."""
        name = f"projects/demo/topics/topic-{next(_NUMBERS)}"
        self.publisher.create_topic(name=name, retry=None, timeout=10)
        return name

    def subscription(self, topic: str, **config: Any) -> str:
        """A new subscription's name."""
        name = f"projects/demo/subscriptions/subscription-{next(_NUMBERS)}"
        request = {"name": name, "topic": topic, **config}
        self.subscriber.create_subscription(request=request, retry=None, timeout=10)
        return name

    def publish(self, topic: str, data: bytes, **attributes: str) -> str:
        """The id of the new message."""
        message = {"data": data, "attributes": attributes}
        return self.publish_all(topic, [message])[0]

    def publish_all(self, topic: str, messages: Iterable[dict[str, Any]]) -> list[str]:
        """The ids of new messages, published in one call."""
        request = {"topic": topic, "messages": list(messages)}
        answer = self.raw_publisher.publish(request=request, retry=None, timeout=10)
        return list(answer.message_ids)

    def pull(self, subscription: str, limit: int = 100, *, wait: bool = True) -> list[Any]:
        """What one pull gives, perhaps nothing; without `wait`, what is there now."""
        request = {"subscription": subscription, "max_messages": limit, "return_immediately": not wait}
        return list(self.subscriber.pull(request=request, retry=None, timeout=20).received_messages)

    def pull_until(self, subscription: str, count: int = 1, seconds: float = 20.0) -> list[Any]:
        """At least `count` messages, from as many pulls as it takes. Fails after `seconds`."""
        end = time.monotonic() + seconds
        received: list[Any] = []
        while len(received) < count:
            assert time.monotonic() < end, f"{len(received)} of {count} messages after {seconds} s"
            received += self.pull(subscription, 1000)
        return received

    def acknowledge(self, subscription: str, *received: Any) -> None:
        """Acknowledge what was pulled."""
        ack_ids = [each.ack_id for each in received]
        self.subscriber.acknowledge(subscription=subscription, ack_ids=ack_ids, retry=None, timeout=10)

    def give_back(self, subscription: str, *received: Any, seconds: int = 0) -> None:
        """Set the ack deadline of what was pulled; 0 gives it back at once."""
        request = {
            "subscription": subscription,
            "ack_ids": [each.ack_id for each in received],
            "ack_deadline_seconds": seconds,
        }
        self.subscriber.modify_ack_deadline(request=request, retry=None, timeout=10)


@contextmanager
def talking_to(address: str) -> Iterator[Side]:
    """SDK clients for the server at `address`, closed at the end."""
    side = Side(address)
    try:
        yield side
    finally:
        side.close()


def refusal(work: Callable[[], object]) -> str:
    """The name of the gRPC status that a call ends with; OK when it does what it was asked for."""
    try:
        work()
    except GoogleAPICallError as error:
        status: Any = error.grpc_status_code
        return str(status.name)
    return "OK"
