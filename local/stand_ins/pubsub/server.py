"""Pub/Sub on loopback, for the SDK's clients and for push endpoints."""

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

    `mint(audience=…, email=…)` signs the identity tokens of pushes. The SQLite file `state` (None: in memory)
    holds topics, subscriptions and unacknowledged messages.
    It serves the calls that the bot, its operators and the tests make. All others answer UNIMPLEMENTED, among
    them seek, snapshots, streaming pull, detach, and everything that gets or deletes a topic.
    Faults: `pubsub-duplicate` delivers a message twice at once; `pubsub-late` delays its first delivery.
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
        """Publish one message, as Chat does. Raises RpcError, for example if there is no such topic."""
        message = protos.PubsubMessage(data=data)
        await Publisher(self._broker).publish(protos.PublishRequest(topic=topic, messages=[message]))

    @property
    def undelivered(self) -> int:
        """Unacknowledged messages of push subscriptions (the metric num_undelivered_messages)."""
        backlogs = self._broker.backlogs.values()
        return sum(len(each) for each in backlogs if each.subscription.push_config.push_endpoint)

    async def start(self) -> None:
        """Start to push, beginning with the unacknowledged messages in the state file."""
        for backlog in self._broker.backlogs.values():
            self._pusher.begin(backlog)

    async def stop(self) -> None:
        """Stop pushing, cut off running pushes and close the state file."""
        await self._pusher.close()
        self._puller.close()
        self._store.close()
