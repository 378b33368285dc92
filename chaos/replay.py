"""Every dead letter sent again to where it came from, as an operator would."""

import grpc
from google.cloud.pubsub_v1 import PublisherClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

from chaos.outside import Json
from local.connect import topic_path
from local.pipeline import STEPS
from local.places import HOST, Places

#: What was put on a message only when it became a dead letter.
OF_DEAD_LETTERS = ("dead-letter-", "CloudPubSub")


def replay(cases: list[Json], places: Places) -> None:
    """Publish them again. Raises google.api_core.exceptions.GoogleAPICallError."""
    topics = {step.name: step.gives for step in STEPS if step.gives}
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        publisher = PublisherClient(transport=PublisherGrpcTransport(channel=channel))
        sent = [
            publisher.publish(
                topic_path(topics[case["sender"]]), case["data"], **_attributes(case["attributes"])
            )
            for case in cases
        ]
        for future in sent:
            future.result(timeout=30)


def _attributes(attributes: Json) -> dict[str, str]:
    kept = {name: value for name, value in attributes.items() if not name.startswith(OF_DEAD_LETTERS)}
    return {**kept, "replay-count": "1"}
