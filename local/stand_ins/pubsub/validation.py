"""The rules of Pub/Sub for topics, subscriptions and messages, and of HTTP for attributes as headers.

Limits: cloud.google.com/pubsub/quotas, "Resource limits", and the field comments of google.pubsub.v1.
"""

import re
from collections.abc import Mapping, Sequence

import httpx

from local.stand_ins.grpc_server import invalid, unimplemented
from local.stand_ins.pubsub.protos import Proto, seconds

MAX_MESSAGES = 1000
MAX_PUBLISH_BYTES = 10_000_000
MAX_ATTRIBUTES = 100
MAX_KEY_BYTES = 256
MAX_VALUE_BYTES = 1024
MAX_ORDERING_KEY_BYTES = 1024

MAX_HEADERS = 30
MAX_HEADER_BYTES = 256
#: The attributes of a dead letter. An operator may publish one again.
DEAD_LETTER_ATTRIBUTES = tuple(
    f"CloudPubSubDeadLetterSource{what}"
    for what in ("DeliveryCount", "Subscription", "SubscriptionProject", "TopicPublishTime")
)

_ID = re.compile(r"(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}")
_HEADER_NAME = re.compile(r"[a-z][a-z0-9-]*")
# HTTP would strip a blank at either end.
_HEADER_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")
_HEADERS_OF_THE_PUSH = ("authorization", "connection", "content-length", "host", "transfer-encoding")

_TOPIC_FIELDS = {"name", "labels"}
_SUBSCRIPTION_FIELDS = {
    "name",
    "topic",
    "labels",
    "push_config",
    "ack_deadline_seconds",
    "dead_letter_policy",
    "retry_policy",
}
_PUSH_FIELDS = {"push_endpoint", "oidc_token", "pubsub_wrapper", "no_wrapper"}


def check_name(name: str, collection: str) -> None:
    """Raises INVALID_ARGUMENT unless `name` is `projects/P/{collection}/ID` with a legal ID."""
    parts = name.split("/")
    whole = len(parts) == 4 and parts[0] == "projects" and parts[1] and parts[2] == collection
    if not whole or not _ID.fullmatch(parts[3]):
        raise invalid(f"Invalid resource name {name!r}: expected projects/PROJECT/{collection}/ID")


def check_project(name: str) -> None:
    """Raises INVALID_ARGUMENT unless `name` is `projects/P`."""
    if not re.fullmatch(r"projects/[^/]+", name):
        raise invalid(f"Invalid project name {name!r}: expected projects/PROJECT")


def check_topic(topic: Proto) -> None:
    """Raises INVALID_ARGUMENT for a bad name, UNIMPLEMENTED for a field that we would ignore."""
    check_name(topic.name, "topics")
    _check_fields(topic, _TOPIC_FIELDS)


def check_subscription(subscription: Proto) -> None:
    """Raises INVALID_ARGUMENT for a broken rule, UNIMPLEMENTED for a field that we would ignore."""
    check_name(subscription.name, "subscriptions")
    if subscription.enable_message_ordering:
        raise unimplemented("enable_message_ordering: order is not promised together with dead letters")
    _check_fields(subscription, _SUBSCRIPTION_FIELDS)
    _check_fields(subscription.push_config, _PUSH_FIELDS)
    if not 10 <= subscription.ack_deadline_seconds <= 600:
        raise invalid("ack_deadline_seconds must be between 10 and 600")
    if endpoint := subscription.push_config.push_endpoint:
        _check_endpoint(endpoint)
    if subscription.HasField("dead_letter_policy"):
        _check_dead_letter_policy(subscription.dead_letter_policy)
    if subscription.HasField("retry_policy"):
        _check_retry_policy(subscription.retry_policy)


def _check_endpoint(endpoint: str) -> None:
    try:
        url = httpx.URL(endpoint)
    except httpx.InvalidURL as error:
        raise invalid(f"Unsupported push_endpoint {endpoint!r}: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise invalid(f"Unsupported push_endpoint {endpoint!r}")


def _check_dead_letter_policy(policy: Proto) -> None:
    check_name(policy.dead_letter_topic, "topics")
    if not 5 <= policy.max_delivery_attempts <= 100:
        raise invalid("max_delivery_attempts must be between 5 and 100")


def _check_retry_policy(policy: Proto) -> None:
    shortest, longest = seconds(policy.minimum_backoff), seconds(policy.maximum_backoff)
    if not 0 <= shortest <= longest <= 600:
        raise invalid("retry_policy needs 0 s <= minimum_backoff <= maximum_backoff <= 600 s")


def _check_fields(message: Proto, implemented: set[str]) -> None:
    for field, _ in message.ListFields():
        if field.name not in implemented:
            raise unimplemented(f"{message.DESCRIPTOR.name}.{field.name}")


def check_messages(messages: Sequence[Proto]) -> None:
    """Raises INVALID_ARGUMENT unless the messages of one publish call are within the limits."""
    if not 1 <= len(messages) <= MAX_MESSAGES:
        raise invalid(f"A publish request must have 1 to {MAX_MESSAGES} messages, not {len(messages)}")
    if sum(message.ByteSize() for message in messages) > MAX_PUBLISH_BYTES:
        raise invalid(f"The messages of a publish request must not pass {MAX_PUBLISH_BYTES} bytes")
    for message in messages:
        if not message.data and not message.attributes:
            raise invalid("Some messages are empty: data or an attribute is needed")
        if len(message.ordering_key.encode()) > MAX_ORDERING_KEY_BYTES:
            raise invalid(f"The ordering key is longer than {MAX_ORDERING_KEY_BYTES} bytes")
        _check_attributes(message.attributes)


def _check_attributes(attributes: Mapping[str, str]) -> None:
    if len(attributes) > MAX_ATTRIBUTES:
        raise invalid(f"A message may have {MAX_ATTRIBUTES} attributes, not {len(attributes)}")
    for key, value in attributes.items():
        if not 1 <= len(key.encode()) <= MAX_KEY_BYTES:
            raise invalid(f"Attribute key {key[:40]!r} must have 1 to {MAX_KEY_BYTES} bytes")
        if key.startswith("goog"):
            raise invalid(f"Attribute key {key!r} begins with the reserved prefix goog")
        if len(value.encode()) > MAX_VALUE_BYTES:
            raise invalid(f"The value of attribute {key!r} is longer than {MAX_VALUE_BYTES} bytes")


def check_headers(attributes: Mapping[str, str]) -> None:
    """Raises INVALID_ARGUMENT, naming an attribute that would not arrive as an HTTP header.

    Real servers drop such headers silently (gunicorn: any name with an underscore).
    """
    if len(attributes) > MAX_HEADERS:
        raise invalid(f"{len(attributes)} attributes will not arrive as headers: at most {MAX_HEADERS}")
    if "content-type" not in attributes:
        raise invalid("An unwrapped push needs the attribute content-type")
    for key, value in attributes.items():
        if key not in DEAD_LETTER_ATTRIBUTES and not is_header_name(key):
            raise invalid(f"Attribute {key!r} will not arrive as a header: its name must be [a-z][a-z0-9-]*")
        if not is_header_value(value):
            raise invalid(
                f"Attribute {key!r} will not arrive as a header: its value must be printable ASCII, "
                f"at most {MAX_HEADER_BYTES} bytes"
            )


def is_header_name(name: str) -> bool:
    """Whether an attribute of this name can be a header beside those of the push itself."""
    own = name in _HEADERS_OF_THE_PUSH or name.startswith("x-goog-")
    return bool(_HEADER_NAME.fullmatch(name)) and not own


def is_header_value(value: str) -> bool:
    """Whether the value arrives unchanged."""
    return len(value) <= MAX_HEADER_BYTES and bool(_HEADER_VALUE.fullmatch(value))
