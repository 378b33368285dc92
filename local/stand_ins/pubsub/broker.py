"""The life of a message: published, acknowledged, failed and retried, or forwarded as a dead letter."""

import logging
import time
from collections.abc import Iterable, Sequence

from local.stand_ins.faults import Faults
from local.stand_ins.grpc_server import not_found
from local.stand_ins.pubsub.backlog import Backlog, pause
from local.stand_ins.pubsub.protos import Proto, PubsubMessage
from local.stand_ins.pubsub.store import Delivery, Store
from local.stand_ins.pubsub.validation import DEAD_LETTER_ATTRIBUTES

_LOG = logging.getLogger(__name__)


class Broker:
    """Topics and backlogs: in memory for delivery, and in the store to survive the process."""

    def __init__(self, store: Store, faults: Faults) -> None:
        self._store = store
        self._faults = faults
        #: The topics by name.
        self.topics: dict[str, Proto] = {topic.name: topic for topic in store.topics()}
        #: The backlogs by the name of their subscription.
        self.backlogs = {each.name: Backlog(each) for each in store.subscriptions()}
        for delivery in store.backlog():
            self.backlogs[delivery.subscription].add(delivery)

    def topic(self, name: str) -> Proto:
        """The topic of that name. Raises NOT_FOUND."""
        if name not in self.topics:
            raise not_found(f"Resource not found: {name}")
        return self.topics[name]

    def backlog(self, subscription: str) -> Backlog:
        """The backlog of that subscription. Raises NOT_FOUND."""
        if subscription not in self.backlogs:
            raise not_found(f"Resource not found: {subscription}")
        return self.backlogs[subscription]

    def backlogs_of(self, topic: str) -> list[Backlog]:
        """The backlogs of the topic's subscriptions."""
        return [backlog for backlog in self.backlogs.values() if backlog.subscription.topic == topic]

    def add_topic(self, topic: Proto) -> None:
        """Store a new topic."""
        self._store.save_topic(topic)
        self.topics[topic.name] = topic

    def save_subscription(self, subscription: Proto) -> Backlog:
        """Store a new subscription, or the new configuration of an existing one."""
        self._store.save_subscription(subscription)
        backlog = self.backlogs.setdefault(subscription.name, Backlog(subscription))
        backlog.subscription = subscription
        return backlog

    def delete_subscription(self, name: str) -> None:
        """Delete a subscription with its messages."""
        self._store.delete_subscription(name)
        del self.backlogs[name]

    def publish(self, topic: str, messages: Sequence[Proto]) -> list[str]:
        """Give the messages ids and times, store them in the backlogs of the topic, and return the ids."""
        self._stamp(messages)
        self._add(self._deliveries(topic, messages))
        return [message.message_id for message in messages]

    def _stamp(self, messages: Iterable[Proto]) -> None:
        now = time.time_ns() // 1_000_000
        for message in messages:
            message.message_id = str(self._store.new_id())
            message.publish_time.FromMilliseconds(now)

    def _deliveries(self, topic: str, messages: Iterable[Proto]) -> list[Delivery]:
        names = [backlog.subscription.name for backlog in self.backlogs_of(topic)]
        return [
            Delivery(name, int(message.message_id), message, attempts=0, due=self._first_due())
            for message in messages
            for name in names
        ]

    def _first_due(self) -> float:
        late = self._faults.drawn("pubsub-late")
        return time.time() + (late.seconds if late else 0)

    def _add(self, deliveries: list[Delivery], instead_of: Delivery | None = None) -> None:
        self._store.add(deliveries, instead_of)
        for delivery in deliveries:
            copies = 2 if self._faults.drawn("pubsub-duplicate") else 1
            self.backlogs[delivery.subscription].add(delivery, copies)

    def acknowledge(self, deliveries: Iterable[Delivery]) -> None:
        """Acknowledge these messages. Repeating it has no effect."""
        open_ones = {each for each in deliveries if self._is_open(each)}
        self._store.remove(open_ones)
        for delivery in open_ones:
            self.backlogs[delivery.subscription].remove(delivery)

    def fail(self, delivery: Delivery) -> None:
        """A delivery was refused or got no answer in time: retry it, or forward it to the dead letters."""
        if not self._is_open(delivery):
            return
        backlog = self.backlogs[delivery.subscription]
        delivery.attempts += 1
        policy = backlog.subscription.dead_letter_policy
        if policy.dead_letter_topic and delivery.attempts >= policy.max_delivery_attempts:
            self._forward(delivery, policy.dead_letter_topic)
            backlog.remove(delivery)
            return
        delivery.due = time.time() + pause(backlog.subscription, delivery.attempts)
        self._store.update(delivery)
        backlog.wait_again(delivery)

    def _is_open(self, delivery: Delivery) -> bool:
        backlog = self.backlogs.get(delivery.subscription)
        return backlog is not None and delivery in backlog

    def _forward(self, delivery: Delivery, topic: str) -> None:
        copy = dead_letter(delivery)
        self._stamp([copy])
        self._add(self._deliveries(topic, [copy]), instead_of=delivery)
        _LOG.warning("%s: message %d is now a dead letter", delivery.subscription, delivery.id)


def dead_letter(delivery: Delivery) -> Proto:
    """The copy for the dead-letter topic (cloud.google.com/pubsub/docs/handling-failures)."""
    _, project, _, name = delivery.subscription.split("/")
    published = delivery.message.publish_time.ToJsonString()
    copy = PubsubMessage()
    copy.CopyFrom(delivery.message)
    values = (str(delivery.attempts), name, project, published)
    copy.attributes.update(zip(DEAD_LETTER_ATTRIBUTES, values, strict=True))
    return copy
