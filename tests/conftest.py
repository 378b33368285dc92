"""The small cloud for all tests, in this process; the whole stack is in `tests/support/stack_fixtures.py`."""

import asyncio
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest
from google.cloud.firestore import Client
from google.cloud.pubsub_v1 import SubscriberClient

from local.places import HOST, PROJECT, Places, free_port
from local.runner.cloud import Cloud
from local.runner.connect import connect_topics, topic_path
from local.runner.environment import UNBOUND
from local.stand_ins.faults import Faults
from shared.chat.message import Chat, open_chat
from shared.messages.envelope import Question
from shared.runtime import clients
from shared.runtime.outbox import Outbox
from tests.support.factories import SPACE, question


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: with several workers, none of them should be the last to start."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@dataclass
class SmallCloud:
    """The running stand-ins, and what a test needs to look into them."""

    cloud: Cloud
    places: Places
    faults: Faults
    loop: asyncio.AbstractEventLoop

    def run(self, work: Any) -> Any:
        """Run a coroutine in the stand-ins' event loop."""
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self.loop)
        return future.result(20)


@pytest.fixture(scope="session")
def small_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCloud]:
    """Every stand-in, with Chat's quotas off; environment variables point the SDKs at it."""
    places = Places(state=None, logs=tmp_path_factory.mktemp("logs"), http=free_port())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    faults = Faults()
    small = SmallCloud(Cloud(places, faults, quotas=False), places, faults, loop)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBSUB_EMULATOR_HOST", f"{HOST}:{places.pubsub}")
        environment.setenv("FIRESTORE_EMULATOR_HOST", f"{HOST}:{places.firestore}")
        environment.setenv("GOOGLE_GEMINI_BASE_URL", places.url)
        environment.setenv("GEMINI_API_KEY", "local")
        environment.setenv("GOOGLE_CLOUD_PROJECT", PROJECT)
        environment.setenv("CHAT_WRITES_PER_SECOND", str(UNBOUND))
        environment.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        small.run(small.cloud.start())
        connect_topics(places)
        yield small
        small.run(small.cloud.stop())
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.fixture
def faults(small_cloud: SmallCloud) -> Iterator[Faults]:
    """The faults of the small cloud; whatever a test switches on is off again after it."""
    yield small_cloud.faults
    small_cloud.faults.switch_off()


@pytest.fixture(scope="session")
def firestore(small_cloud: SmallCloud) -> Client:
    """A client of the Firestore stand-in."""
    return Client(project=PROJECT)


@pytest.fixture(scope="session")
def chat_client(small_cloud: SmallCloud) -> Any:
    """A client of the Chat stand-in."""
    return clients.chat(small_cloud.places.url.removeprefix("http://"))


@pytest.fixture
def chat(chat_client: Any, firestore: Client) -> Chat:
    """Our side of the Chat stand-in; it knows of no busy space."""
    return open_chat(chat_client, firestore, UNBOUND)


@pytest.fixture(scope="session")
def outbox(small_cloud: SmallCloud) -> Outbox:
    """A publisher to the Pub/Sub stand-in."""
    return Outbox(clients.publisher(), PROJECT)


@dataclass
class Inbox:
    """A pull subscription that sees what is published to one topic."""

    client: SubscriberClient
    path: str

    def messages(self, count: int = 1) -> list[Any]:
        """The next `count` messages; fails when they do not come within five seconds."""
        found: list[Any] = []
        for _ in range(50):
            answer = self.client.pull(request={"subscription": self.path, "max_messages": count}, timeout=5)
            found += [received.message for received in answer.received_messages]
            if answer.received_messages:
                ids = [received.ack_id for received in answer.received_messages]
                self.client.acknowledge(subscription=self.path, ack_ids=ids)
            if len(found) >= count:
                return found
        raise AssertionError(f"{len(found)} of {count} messages came to {self.path}")

    def is_empty(self) -> bool:
        """Whether nothing is waiting now."""
        return not self._pulled(1)

    def waiting(self) -> list[Any]:
        """Takes all that is waiting now."""
        found = self._pulled(100)
        if found:
            self.client.acknowledge(subscription=self.path, ack_ids=[each.ack_id for each in found])
        return [each.message for each in found]

    def _pulled(self, most: int) -> list[Any]:
        request = {"subscription": self.path, "max_messages": most, "return_immediately": True}
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            return list(self.client.pull(request=request, timeout=5).received_messages)


@pytest.fixture
def inbox(small_cloud: SmallCloud, request: pytest.FixtureRequest) -> Iterator[Any]:
    """`inbox("dead-letters")`: everything that is published to the topic from now on."""
    client = SubscriberClient()
    made: list[str] = []

    def subscribe(topic: str) -> Inbox:
        path = f"projects/{PROJECT}/subscriptions/test-{topic}-{abs(hash(request.node.nodeid))}"
        client.create_subscription(name=path, topic=topic_path(topic), ack_deadline_seconds=60)
        made.append(path)
        return Inbox(client, path)

    yield subscribe
    for path in made:
        client.delete_subscription(subscription=path)


@pytest.fixture
def asked(small_cloud: SmallCloud) -> Question:
    """A question whose message and thread are in Chat; the bot has not heard of it."""

    async def say() -> Any:
        return small_cloud.cloud.chat.post_as_person(SPACE, "How do I configure the VPN?", mention=False)

    message = small_cloud.run(say())
    thread = message["thread"]["name"]
    return question(id=message["name"], thread=thread, conversation=thread)
