"""The HTTP request for a pushed message, wrapped or unwrapped.

Sources: cloud.google.com/pubsub/docs/push and cloud.google.com/pubsub/docs/payload-unwrapping.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

import httpx

from local.stand_ins.pubsub.protos import Proto
from local.stand_ins.pubsub.store import Delivery
from local.stand_ins.pubsub.validation import DEAD_LETTER_ATTRIBUTES, is_header_name, is_header_value

#: (audience, e-mail of the service account) → token
TokenFor = Callable[[str, str], str]


def push_request(subscription: Proto, delivery: Delivery, token_for: TokenFor) -> httpx.Request:
    """The POST for one delivery of a message."""
    config = subscription.push_config
    headers, body = (_unwrapped if config.HasField("no_wrapper") else _wrapped)(subscription, delivery)
    headers["user-agent"] = "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google)"
    if config.HasField("oidc_token"):
        identity = config.oidc_token
        token = token_for(identity.audience or config.push_endpoint, identity.service_account_email)
        headers["authorization"] = f"Bearer {token}"
    return httpx.Request("POST", config.push_endpoint, headers=headers, content=body)


def _unwrapped(subscription: Proto, delivery: Delivery) -> tuple[dict[str, str], bytes]:
    message = delivery.message
    if not subscription.push_config.no_wrapper.write_metadata:
        return {}, message.data
    # Published messages were checked. A dead letter may hold attributes that were not meant for headers:
    # those that HTTP cannot carry are left out, as on the way to a real function.
    attributes = {
        name: value
        for name, value in message.attributes.items()
        if (is_header_name(name) or name in DEAD_LETTER_ATTRIBUTES) and is_header_value(value)
    }
    metadata = {
        "x-goog-pubsub-message-id": message.message_id,
        "x-goog-pubsub-publish-time": message.publish_time.ToJsonString(),
        "x-goog-pubsub-subscription-name": subscription.name,
    }
    return attributes | metadata, message.data


def _wrapped(subscription: Proto, delivery: Delivery) -> tuple[dict[str, str], bytes]:
    body: dict[str, Any] = {"message": _message(delivery.message), "subscription": subscription.name}
    if subscription.HasField("dead_letter_policy"):
        body["deliveryAttempt"] = delivery.attempts + 1
    return {"content-type": "application/json"}, json.dumps(body).encode()


def _message(message: Proto) -> dict[str, Any]:
    published = message.publish_time.ToJsonString()
    fields: dict[str, Any] = {
        "data": base64.b64encode(message.data).decode("ascii"),
        "messageId": message.message_id,
        "message_id": message.message_id,
        "publishTime": published,
        "publish_time": published,
    }
    if message.attributes:
        fields["attributes"] = dict(message.attributes)
    if message.ordering_key:
        fields["orderingKey"] = message.ordering_key
    return fields
