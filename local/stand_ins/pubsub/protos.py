"""The protobuf classes of Pub/Sub's messages, without the SDK's wrappers."""

from typing import Any

from google.protobuf import empty_pb2
from google.pubsub_v1 import types

Proto = Any  # the SDK's generated classes have no types

Empty = empty_pb2.Empty
PubsubMessage = types.PubsubMessage.pb()
ReceivedMessage = types.ReceivedMessage.pb()

Topic = types.Topic.pb()
ListTopicsRequest = types.ListTopicsRequest.pb()
ListTopicsResponse = types.ListTopicsResponse.pb()
PublishRequest = types.PublishRequest.pb()
PublishResponse = types.PublishResponse.pb()

Subscription = types.Subscription.pb()
ListSubscriptionsRequest = types.ListSubscriptionsRequest.pb()
ListSubscriptionsResponse = types.ListSubscriptionsResponse.pb()
UpdateSubscriptionRequest = types.UpdateSubscriptionRequest.pb()
DeleteSubscriptionRequest = types.DeleteSubscriptionRequest.pb()
PullRequest = types.PullRequest.pb()
PullResponse = types.PullResponse.pb()
AcknowledgeRequest = types.AcknowledgeRequest.pb()
ModifyAckDeadlineRequest = types.ModifyAckDeadlineRequest.pb()


def seconds(duration: Proto) -> float:
    """A protobuf Duration in seconds."""
    return float(duration.ToTimedelta().total_seconds())
