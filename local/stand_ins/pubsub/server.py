"""Pub/Sub on loopback: what the SDK's clients and the push endpoints see of the real one."""

from pathlib import Path

import grpc

from local.stand_ins.faults import Faults
from local.stand_ins.pubsub import protos
from local.stand_ins.pubsub.broker import Broker
from local.stand_ins.pubsub.publisher import Publisher
from local.stand_ins.pubsub.puller import Puller
from local.stand_ins.pubsub.push import Mint, Pusher
from local.stand_ins.pubsub.store import Store
from local.stand_ins.pubsub.subscriber import Subscriber


class PubSub:
    """The stand-in for Google Cloud Pub/Sub.

    `mint(audience=…, email=…)` signs the identity tokens of pushes. `state` is the SQLite file that topics,
    subscriptions and unacknowledged messages live in; without one they live in memory.
    Faults: `pubsub-duplicate` delivers a message twice at once, `pubsub-late` holds its first delivery.
    """

    def __init__(self, state: Path | None, faults: Faults, mint: Mint) -> None:
        self._store = Store(state)
        self._broker = Broker(self._store, faults)
        self._pusher = Pusher(self._broker, mint, faults.answered)
        self._puller = Puller(self._broker)

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handlers of the services Publisher and Subscriber."""
        subscriber = Subscriber(self._broker, self._pusher, self._puller)
        return [Publisher(self._broker).handler(), subscriber.handler()]

    async def publish(self, topic: str, data: bytes) -> None:
        """Publish one message as Chat does. Raises RpcError, such as for a topic that is not there."""
        message = protos.PubsubMessage(data=data)
        await Publisher(self._broker).publish(protos.PublishRequest(topic=topic, messages=[message]))

    @property
    def undelivered(self) -> int:
        """Messages of push subscriptions that were not acknowledged (the metric num_undelivered_messages)."""
        backlogs = self._broker.backlogs.values()
        return sum(len(each) for each in backlogs if each.subscription.push_config.push_endpoint)

    async def start(self) -> None:
        """Begin to push, first of all what the state file says was not acknowledged."""
        for backlog in self._broker.backlogs.values():
            self._pusher.begin(backlog)

    async def stop(self) -> None:
        """Stop pushing, cut off what is under way, close the state file."""
        await self._pusher.close()
        self._puller.close()
        self._store.close()
