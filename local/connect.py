"""Topics and push subscriptions, created as Terraform does in production."""

import grpc
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from local.pipeline import DEAD_LETTERS, DELIVERY_ATTEMPTS, STEPS, TOPICS, Step
from local.places import HOST, PROJECT, Places

#: The identity that pushes carry; production verifies it before a function sees the request.
PUSH_IDENTITY = f"pubsub-push@{PROJECT}.iam.gserviceaccount.com"


def connect(places: Places) -> None:
    """Create the topics and the push subscriptions, as Terraform does in production."""
    connect_topics(places)
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))
        for step in STEPS:
            if step.takes:
                _subscribe(subscriber, step, step.takes, places)


def connect_topics(places: Places) -> None:
    """Create the topics that do not exist yet."""
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        publisher = PublisherClient(transport=PublisherGrpcTransport(channel=channel))
        existing = {topic.name for topic in publisher.list_topics(project=f"projects/{PROJECT}")}
        for topic in TOPICS:
            if topic_path(topic) not in existing:
                publisher.create_topic(name=topic_path(topic))


def topic_path(topic: str) -> str:
    """The resource name of a topic of the local project."""
    return f"projects/{PROJECT}/topics/{topic}"


def _subscribe(subscriber: SubscriberClient, step: Step, takes: str, places: Places) -> None:
    """Made anew each time: the functions' ports change, and unacknowledged messages must follow them."""
    name = f"projects/{PROJECT}/subscriptions/{step.subscription}"
    push = {
        "push_endpoint": places.function_url(step.name),
        "oidc_token": {"service_account_email": PUSH_IDENTITY, "audience": places.function_url(step.name)},
        "no_wrapper": {"write_metadata": True},
    }
    if name in {found.name for found in subscriber.list_subscriptions(project=f"projects/{PROJECT}")}:
        changed = {
            "subscription": {"name": name, "push_config": push},
            "update_mask": {"paths": ["push_config"]},
        }
        subscriber.update_subscription(request=changed)
        return
    subscriber.create_subscription(
        request={
            "name": name,
            "topic": topic_path(takes),
            "push_config": push,
            "ack_deadline_seconds": step.ack_deadline,
            "retry_policy": {"minimum_backoff": {"seconds": 1}, "maximum_backoff": {"seconds": 30}},
            "dead_letter_policy": {
                "dead_letter_topic": topic_path(DEAD_LETTERS),
                "max_delivery_attempts": DELIVERY_ATTEMPTS,
            },
        }
    )
