"""The calls of google.pubsub.v1.Subscriber that deliver messages and acknowledge or refuse them."""

from local.stand_ins.grpc_server import failed_precondition, invalid
from local.stand_ins.pubsub import protos
from local.stand_ins.pubsub.broker import Broker
from local.stand_ins.pubsub.leases import Leases
from local.stand_ins.pubsub.protos import Proto
from local.stand_ins.pubsub.store import Delivery

#: The most messages in one pull (cloud.google.com/pubsub/quotas).
MAX_PULLED = 1000
#: Seconds that an empty pull waits. The real service does not document its wait.
PATIENCE = 2.0


class Puller:
    """Pull, Acknowledge and ModifyAckDeadline."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._leases = Leases(broker.fail)

    def close(self) -> None:
        """End all leases."""
        self._leases.close()

    async def pull(self, request: Proto) -> Proto:
        """Lease up to `max_messages`. Waits a while, and may return none.

        Raises NOT_FOUND, INVALID_ARGUMENT, or FAILED_PRECONDITION for a push subscription.
        """
        if request.max_messages < 1:
            raise invalid("max_messages must be positive")
        backlog = self._broker.backlog(request.subscription)
        if backlog.subscription.push_config.push_endpoint:
            raise failed_precondition("A subscription with a push endpoint cannot be pulled")
        patience = 0.0 if request.return_immediately else PATIENCE
        taken = await backlog.take_when_due(min(request.max_messages, MAX_PULLED), patience)
        received = [self._received(delivery, backlog.subscription) for delivery in taken]
        return protos.PullResponse(received_messages=received)

    def _received(self, delivery: Delivery, subscription: Proto) -> Proto:
        counted = subscription.HasField("dead_letter_policy")
        return protos.ReceivedMessage(
            ack_id=self._leases.grant(delivery, float(subscription.ack_deadline_seconds)),
            message=delivery.message,
            delivery_attempt=delivery.attempts + 1 if counted else 0,
        )

    async def acknowledge(self, request: Proto) -> Proto:
        """Acknowledge messages. Skips ack ids whose lease has ended. Raises NOT_FOUND, INVALID_ARGUMENT."""
        self._check(request)
        self._broker.acknowledge(self._leases.end(request.subscription, request.ack_ids))
        return protos.Empty()

    async def modify_ack_deadline(self, request: Proto) -> Proto:
        """Change the deadline; 0 seconds returns the messages at once. Raises NOT_FOUND, INVALID_ARGUMENT."""
        duration = request.ack_deadline_seconds
        if not 0 <= duration <= 600:
            raise invalid("ack_deadline_seconds must be between 0 and 600")
        self._check(request)
        if duration > 0:
            self._leases.extend(request.subscription, request.ack_ids, duration)
            return protos.Empty()
        for delivery in self._leases.end(request.subscription, request.ack_ids):
            self._broker.fail(delivery)
        return protos.Empty()

    def _check(self, request: Proto) -> None:
        self._broker.backlog(request.subscription)
        if not request.ack_ids:
            raise invalid("No ack ids were given")
