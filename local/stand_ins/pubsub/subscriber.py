"""The calls of google.pubsub.v1.Subscriber that manage subscriptions."""

import grpc

from local.stand_ins.grpc_server import already_exists, page, unary, unimplemented
from local.stand_ins.pubsub import protos
from local.stand_ins.pubsub.broker import Broker
from local.stand_ins.pubsub.protos import Proto
from local.stand_ins.pubsub.puller import Puller
from local.stand_ins.pubsub.push import Pusher
from local.stand_ins.pubsub.validation import check_name, check_project, check_subscription


class Subscriber:
    """Subscriptions and pulling. Every other call answers UNIMPLEMENTED."""

    def __init__(self, broker: Broker, pusher: Pusher, puller: Puller) -> None:
        self._broker = broker
        self._pusher = pusher
        self._puller = puller

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler of the service."""
        calls = (
            ("CreateSubscription", self.create, protos.Subscription),
            ("ListSubscriptions", self.list, protos.ListSubscriptionsRequest),
            ("UpdateSubscription", self.update, protos.UpdateSubscriptionRequest),
            ("DeleteSubscription", self.delete, protos.DeleteSubscriptionRequest),
            ("Pull", self._puller.pull, protos.PullRequest),
            ("Acknowledge", self._puller.acknowledge, protos.AcknowledgeRequest),
            ("ModifyAckDeadline", self._puller.modify_ack_deadline, protos.ModifyAckDeadlineRequest),
        )
        methods = {name: unary(work, request) for name, work, request in calls}
        return grpc.method_handlers_generic_handler("google.pubsub.v1.Subscriber", methods)

    async def create(self, subscription: Proto) -> Proto:
        """Create a subscription.

        Raises INVALID_ARGUMENT, NOT_FOUND (topic, dead-letter topic), ALREADY_EXISTS, UNIMPLEMENTED.
        """
        if subscription.name in self._broker.backlogs:
            raise already_exists(f"Resource already exists: {subscription.name}")
        check_name(subscription.topic, "topics")
        self._complete(subscription)
        self._broker.topic(subscription.topic)
        self._pusher.begin(self._broker.save_subscription(subscription))
        return subscription

    def _complete(self, subscription: Proto) -> None:
        """Fill in the defaults, then check."""
        subscription.ack_deadline_seconds = subscription.ack_deadline_seconds or 10
        if subscription.HasField("dead_letter_policy"):
            policy = subscription.dead_letter_policy
            policy.max_delivery_attempts = policy.max_delivery_attempts or 5
        if subscription.HasField("retry_policy"):
            _complete_retry_policy(subscription.retry_policy)
        check_subscription(subscription)
        if subscription.HasField("dead_letter_policy"):
            self._broker.topic(subscription.dead_letter_policy.dead_letter_topic)

    async def list(self, request: Proto) -> Proto:
        """List the subscriptions of one project."""
        check_project(request.project)
        ours = (name for name in self._broker.backlogs if name.startswith(f"{request.project}/"))
        names, token = page(ours, request)
        subscriptions = [self._broker.backlog(name).subscription for name in names]
        return protos.ListSubscriptionsResponse(subscriptions=subscriptions, next_page_token=token)

    async def update(self, request: Proto) -> Proto:
        """Replace the push configuration; other fields cannot be updated here. Raises as `create` does."""
        if list(request.update_mask.paths) != ["push_config"]:
            raise unimplemented("updates of other fields than push_config")
        changed = protos.Subscription()
        changed.CopyFrom(self._broker.backlog(request.subscription.name).subscription)
        changed.push_config.CopyFrom(request.subscription.push_config)
        check_subscription(changed)
        await self._pusher.end(changed.name)
        self._pusher.begin(self._broker.save_subscription(changed))
        return changed

    async def delete(self, request: Proto) -> Proto:
        """Delete a subscription with its messages. Raises NOT_FOUND."""
        self._broker.backlog(request.subscription)
        self._broker.delete_subscription(request.subscription)
        await self._pusher.end(request.subscription)
        return protos.Empty()


def _complete_retry_policy(policy: Proto) -> None:
    if not policy.HasField("minimum_backoff"):
        policy.minimum_backoff.FromSeconds(10)
    if not policy.HasField("maximum_backoff"):
        policy.maximum_backoff.FromSeconds(600)
