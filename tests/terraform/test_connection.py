"""Chat's events over Pub/Sub as Terraform connects them: pushed wrapped, in the name of push-ingest."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient

from ingest_fn.door import Door
from ingest_fn.services import open_services
from ingest_fn.settings import Settings
from local.places import PROJECT
from local.runner.connect import topic_path
from shared.messages.envelope import Envelope
from shared.pipeline import pipeline
from tests.conftest import SmallCloud
from tests.ingest_fn.test_ingest import event
from tests.support.receiving import Push, receiving

URL = "https://asia-northeast1-my-project-123.cloudfunctions.net/threadwise-ingest"
PUSH_INGEST = "push-ingest@my-project-123.iam.gserviceaccount.com"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/chat-events-push"


@dataclass
class Connection:
    """The topic that Chat publishes to, and the statuses that ingest has answered with."""

    publisher: PublisherClient
    statuses: list[int]

    def publish(self, data: bytes) -> None:
        """As Chat does: without attributes."""
        self.publisher.publish(topic_path(pipeline().chat_events), data).result(10)


@pytest.fixture
def connection(small_cloud: SmallCloud, request: pytest.FixtureRequest) -> Iterator[Connection]:
    settings = Settings(
        chat_endpoint=small_cloud.places.url,
        chat_audience=URL,
        chat_certs_url=f"{small_cloud.places.url}/certs",
        chat_email="",
        push_email=PUSH_INGEST,
        push_audience=URL,
        questions_per_minute=100_000,
    )
    services = open_services(settings)
    door = Door(lambda: services, settings.step_seconds, "dead-letters")
    statuses: list[int] = []

    async def answer(push: Push) -> int:
        _, status = await asyncio.to_thread(door.receive, push.headers, push.body)
        statuses.append(status)
        return status

    publisher, subscriber = PublisherClient(), SubscriberClient()
    with receiving(answer) as endpoint:
        subscriber.create_subscription(
            request={
                "name": SUBSCRIPTION,
                "topic": topic_path(pipeline().chat_events),
                "push_config": {
                    "push_endpoint": endpoint.url,
                    "oidc_token": {
                        "service_account_email": getattr(request, "param", PUSH_INGEST),
                        "audience": URL,
                    },
                },
                "ack_deadline_seconds": 45,
            }
        )
        yield Connection(publisher, statuses)
        subscriber.delete_subscription(subscription=SUBSCRIPTION)


@pytest.mark.slow
def test_an_event_of_chat_becomes_a_question(connection: Connection, inbox: Any) -> None:
    questions = inbox("questions")
    given = event()

    connection.publish(json.dumps(given).encode())

    [published] = questions.messages()
    assert Envelope.from_bytes(published.data).question.id == given["message"]["name"]


@pytest.mark.slow
def test_an_event_that_is_none_is_kept_and_acknowledged(connection: Connection, inbox: Any) -> None:
    letters = inbox("dead-letters")

    connection.publish(b"no event")

    [letter] = letters.messages()
    assert letter.attributes["dead-letter-reason"] == "event_malformed"


@pytest.mark.slow
@pytest.mark.parametrize("connection", ["chat@system.gserviceaccount.com"], indirect=True)
def test_a_push_in_another_name_is_refused(connection: Connection, inbox: Any) -> None:
    questions = inbox("questions")

    connection.publish(json.dumps(event()).encode())

    for _ in range(100):
        if connection.statuses:
            break
        questions.is_empty()  # takes a moment, and shows that nothing came
    assert set(connection.statuses) == {401}
    assert questions.is_empty()
