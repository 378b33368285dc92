"""Creates the topics and push subscriptions that Terraform creates in production."""

import grpc
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from local.places import HOST, PROJECT, PUSH_IDENTITY, Places
from shared.pipeline import Row, pipeline

#: The shortest and longest wait after a failure. The wait doubles after each failure.
BACKOFF = {"minimum_backoff": {"seconds": 1}, "maximum_backoff": {"seconds": 30}}


def connect(places: Places, *, official: bool = False) -> None:
    """Create the topics and the push subscriptions.

    `official`: on Google's emulator, without the retry policy. With one, the emulator holds back messages
    that fail at the same time until their ack deadline, and loses some of them (measured with 0.8.20).
    """
    connect_topics(places)
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))
        names = {found.name for found in subscriber.list_subscriptions(project=f"projects/{PROJECT}")}
        for step in pipeline().functions:
            _subscribe(subscriber, step, places, names, None if official else BACKOFF)
        backup = _subscription_path(pipeline().dead_letters_backup)
        if backup not in names:
            subscriber.create_subscription(
                name=backup, topic=topic_path(pipeline().dead_letters), ack_deadline_seconds=60
            )


def connect_topics(places: Places) -> None:
    """Create the topics that do not exist yet."""
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        publisher = PublisherClient(transport=PublisherGrpcTransport(channel=channel))
        existing = {topic.name for topic in publisher.list_topics(project=f"projects/{PROJECT}")}
        for topic in pipeline().topics:
            if topic_path(topic) not in existing:
                publisher.create_topic(name=topic_path(topic))


def topic_path(topic: str) -> str:
    """The resource name of a topic of the local project."""
    return f"projects/{PROJECT}/topics/{topic}"


def _subscription_path(name: str) -> str:
    return f"projects/{PROJECT}/subscriptions/{name}"


def _subscribe(
    subscriber: SubscriberClient,
    step: Row,
    places: Places,
    existing: set[str],
    retry_policy: dict[str, dict[str, int]] | None,
) -> None:
    """Create or update a subscription. The ports change, and unacknowledged messages must follow them."""
    name = _subscription_path(step.subscription)
    url = places.function_url(step.name)
    push = {
        "push_endpoint": url,
        "oidc_token": {"service_account_email": PUSH_IDENTITY, "audience": url},
        # Chat's own messages are not CloudEvents, so they arrive wrapped.
        **({} if step == pipeline().first else {"no_wrapper": {"write_metadata": True}}),
    }
    if name in existing:
        changed = {"name": name, "push_config": push}
        subscriber.update_subscription(
            request={"subscription": changed, "update_mask": {"paths": ["push_config"]}}
        )
        return
    request = {
        "name": name,
        "topic": topic_path(step.takes),
        "push_config": push,
        "ack_deadline_seconds": step.seconds.ack,
        "retry_policy": retry_policy,
    }
    if step != pipeline().teller:  # a dead letter can go nowhere else: it is retried until it is stored
        request["dead_letter_policy"] = {
            "dead_letter_topic": topic_path(pipeline().dead_letters),
            "max_delivery_attempts": pipeline().delivery_attempts,
        }
    subscriber.create_subscription(request=request)
