"""What only our Pub/Sub shows: it outlives its process, signs pushes, refuses what headers lose."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import InvalidArgument
from google.auth import jwt
from google.pubsub_v1 import SubscriberClient
from google.pubsub_v1 import types as sdk

from local.places import free_port
from local.stand_ins.faults import Faults
from local.stand_ins.pubsub import protos
from local.stand_ins.pubsub.backlog import pause
from local.stand_ins.pubsub.leases import Leases
from local.stand_ins.pubsub.push import MAX_OUTSTANDING
from local.stand_ins.pubsub.server import PubSub
from local.stand_ins.pubsub.store import Delivery, Store
from local.stand_ins.tokens import Signer
from tests import ROOT
from tests.support.pubsub_side import Side, refusal, talking_to
from tests.support.receiving import Push, receiving, receiving_on
from tests.support.serving import serving

pytestmark = [
    pytest.mark.slow,  # retries and deadlines take their time
    pytest.mark.filterwarnings("ignore:The return_immediately flag:DeprecationWarning"),
]
SIGNER = Signer()
NOWHERE = "http://127.0.0.1:1/"
UNWRAPPED = {"no_wrapper": {"write_metadata": True}}
FAST = {"minimum_backoff": {"nanos": 0}, "maximum_backoff": {"nanos": 0}}
JSON = {"content-type": "application/json"}


@contextmanager
def pubsub(state: Path | None = None, faults: Faults | None = None) -> Iterator[Side]:
    """Our Pub/Sub, and clients that talk to it."""
    faults = faults or Faults()
    stand_in = PubSub(state, faults, SIGNER.mint)
    with serving("pubsub", stand_in, faults) as address, talking_to(address) as side:
        yield side


@pytest.fixture(scope="module")
def side() -> Iterator[Side]:
    """For tests that need no fault and no file."""
    with pubsub() as shared:
        yield shared


def pushed(side: Side, topic: str, url: str, **config: Any) -> str:
    """A new unwrapped push subscription."""
    push_config = {"push_endpoint": url, **UNWRAPPED, **config.pop("push", {})}
    return side.subscription(topic, push_config=push_config, **config)


async def refuse(_push: Push) -> int:
    """Acknowledge nothing."""
    return 503


async def never(_push: Push) -> int:
    """Leave the caller hanging."""
    await asyncio.sleep(60)
    return 204


# The state file


def test_unacknowledged_messages_outlive_a_restart(tmp_path: Path) -> None:
    with pubsub(tmp_path / "state") as side:
        topic = side.topic()
        policy = {"dead_letter_topic": side.topic(), "max_delivery_attempts": 5}
        subscription = side.subscription(topic, dead_letter_policy=policy)
        side.publish(topic, b"kept", kind="test")
        side.publish(topic, b"done")
        received = {each.message.data: each for each in side.pull_until(subscription, 2)}
        side.give_back(subscription, received[b"kept"])
        side.acknowledge(subscription, received[b"done"])
    with pubsub(tmp_path / "state") as side:
        (again,) = side.pull_until(subscription)
        assert again.message == received[b"kept"].message
        assert again.delivery_attempt == 2
        assert topic in {each.name for each in side.publisher.list_topics(project="projects/demo")}
        (listed,) = side.subscriber.list_subscriptions(project="projects/demo")
        assert (listed.name, listed.topic) == (subscription, topic)


def test_a_dead_letter_is_in_one_backlog_after_a_restart(tmp_path: Path) -> None:
    with pubsub(tmp_path / "state") as side:
        topic, dead_letters = side.topic(), side.topic()
        backup = side.subscription(dead_letters)
        policy = {"dead_letter_topic": dead_letters, "max_delivery_attempts": 5}
        subscription = side.subscription(topic, dead_letter_policy=policy)
        side.publish(topic, b"poison")
        for _ in range(5):
            side.give_back(subscription, *side.pull_until(subscription))
    with pubsub(tmp_path / "state") as side:
        assert side.pull(subscription, wait=False) == []
        assert [each.message.data for each in side.pull(backup, wait=False)] == [b"poison"]


def test_an_unfinished_push_is_made_again_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    with receiving_on(port, never) as endpoint, pubsub(tmp_path / "state") as side:
        topic = side.topic()
        pushed(side, topic, endpoint.url)
        message_id = side.publish(topic, b"x", **JSON)
        endpoint.wait_for(1)
    with receiving_on(port) as endpoint, pubsub(tmp_path / "state"):
        (push,) = endpoint.wait_for(1)
    assert push.headers["x-goog-pubsub-message-id"] == message_id


def test_a_message_id_never_comes_again(tmp_path: Path) -> None:
    ids: list[str] = []
    for state in ("one", "one", "two"):
        with pubsub(tmp_path / state) as side:
            ids += side.publish_all(side.topic(), [{"data": b"x"}] * 10)
    assert len(set(ids)) == 30


def test_a_deleted_subscription_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    with pubsub(tmp_path / "state") as side:
        topic = side.topic()
        subscription = side.subscription(topic)
        side.publish(topic, b"x")
        side.subscriber.delete_subscription(subscription=subscription)
    assert list(Store(tmp_path / "state").backlog()) == []


SERVER = """
import asyncio, pathlib, sys
from local.stand_ins.faults import Faults
from local.stand_ins.grpc_server import GrpcServer
from local.stand_ins.pubsub.server import PubSub

async def main():
    stand_in = PubSub(pathlib.Path(sys.argv[1]), Faults(), lambda **_: "token")
    await stand_in.start()
    server = GrpcServer("pubsub", stand_in.handlers(), Faults())
    print(await server.start(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_killed_process_loses_neither_messages_nor_acknowledgements(tmp_path: Path) -> None:
    state = tmp_path / "state"
    command = [sys.executable, "-c", SERVER, str(state)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            with talking_to(f"127.0.0.1:{int(process.stdout.readline())}") as side:
                topic = side.topic()
                subscription = side.subscription(topic)
                side.publish(topic, b"done")
                done = side.pull_until(subscription)
                ids = [side.publish(topic, b"%d" % n) for n in range(50)]
                side.acknowledge(subscription, *done)
        finally:
            process.send_signal(signal.SIGKILL)
    with pubsub(state) as side:
        assert sorted(each.message.message_id for each in side.pull_until(subscription, 50)) == sorted(ids)


# Tokens


@pytest.mark.parametrize("audience", ["", "https://answer.example/"])
def test_a_push_is_signed_for_its_audience(side: Side, audience: str) -> None:
    email = "pusher@demo.iam.gserviceaccount.com"
    identity = {"service_account_email": email, "audience": audience}
    topic = side.topic()
    with receiving() as endpoint:
        pushed(side, topic, endpoint.url, push={"oidc_token": identity})
        side.publish(topic, b"x", **JSON)
        (push,) = endpoint.wait_for(1)
    scheme, token = push.headers["authorization"].split()
    claims = jwt.decode(token, certs=SIGNER.certificates(), audience=audience or endpoint.url)
    assert (scheme, claims["email"], claims["email_verified"]) == ("Bearer", email, True)


def test_a_push_without_an_identity_has_no_token(side: Side) -> None:
    topic = side.topic()
    with receiving() as endpoint:
        pushed(side, topic, endpoint.url)
        side.publish(topic, b"x", **JSON)
        (push,) = endpoint.wait_for(1)
    assert "authorization" not in push.headers


# Attributes that become headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ce_id", "x"),
        ("Kind", "x"),
        ("a b", "x"),
        ("kind", "質問"),
        ("kind", "two\nlines"),
        ("kind", " blank"),
        ("kind", "x" * 257),
        ("host", "elsewhere"),
        ("content-length", "1"),
        ("x-goog-pubsub-message-id", "1"),
    ],
)
def test_an_attribute_that_a_header_would_lose_is_refused(side: Side, name: str, value: str) -> None:
    topic = side.topic()
    pushed(side, topic, NOWHERE)
    with pytest.raises(InvalidArgument, match=repr(name)):
        side.publish(topic, b"x", **JSON, **{name: value})


def test_attributes_that_do_not_become_headers_may_be_anything(side: Side) -> None:
    topic = side.topic()
    side.subscription(topic, push_config=UNWRAPPED)
    with receiving() as endpoint:
        side.subscription(topic, push_config={"push_endpoint": endpoint.url})
        side.publish(topic, b"x", under_score="質問")
        (push,) = endpoint.wait_for(1)
    assert json.loads(push.body)["message"]["attributes"] == {"under_score": "質問"}


def test_an_unwrapped_message_needs_a_content_type_and_at_most_30_attributes(side: Side) -> None:
    topic = side.topic()
    pushed(side, topic, NOWHERE)
    most = {**JSON, **{f"k{n}": "v" for n in range(29)}}
    assert refusal(lambda: side.publish(topic, b"x", **most, more="v")) == "INVALID_ARGUMENT"
    assert refusal(lambda: side.publish(topic, b"x", kind="v")) == "INVALID_ARGUMENT"
    assert refusal(lambda: side.publish(topic, b"x", **most)) == "OK"


def test_a_dead_letter_is_pushed_with_what_headers_can_carry(side: Side) -> None:
    topic, dead_letters = side.topic(), side.topic()
    policy = {"dead_letter_topic": dead_letters, "max_delivery_attempts": 5}
    with receiving(refuse) as endpoint, receiving() as tell:
        wrapped = {"push_endpoint": endpoint.url}
        side.subscription(topic, push_config=wrapped, dead_letter_policy=policy, retry_policy=FAST)
        pushed(side, dead_letters, tell.url)
        side.publish(topic, b"poison", kind="test", under_score="lost", japanese="質問")
        (push,) = tell.wait_for(1)
        copy = dict(push.headers)
        assert push.body == b"poison"
        assert (copy["kind"], copy["cloudpubsubdeadlettersourcedeliverycount"]) == ("test", "5")
        assert {"under_score", "japanese"}.isdisjoint(copy)


def test_a_dead_letter_copy_may_be_published_again(side: Side) -> None:
    topic = side.topic()
    with receiving() as endpoint:
        pushed(side, topic, endpoint.url)
        side.publish(topic, b"again", **JSON, CloudPubSubDeadLetterSourceDeliveryCount="5")
        assert endpoint.wait_for(1)[0].body == b"again"


# Pushing


def test_a_push_follows_its_publish_at_once(side: Side) -> None:
    topic = side.topic()
    with receiving() as endpoint:
        pushed(side, topic, endpoint.url)
        waits = []
        for n in range(1, 11):
            begun = time.monotonic()
            side.publish(topic, b"x", **JSON)
            waits.append(endpoint.wait_for(n)[-1].at - begun)
    assert min(waits) < 0.05


def test_64_pushes_are_under_way_at_once_and_no_more(side: Side) -> None:
    topic = side.topic()
    release = threading.Event()

    async def wait_for_release(_push: Push) -> int:
        await asyncio.to_thread(release.wait, 30)
        return 204

    with receiving(wait_for_release) as endpoint:
        pushed(side, topic, endpoint.url)
        side.publish_all(topic, [{"data": b"x", "attributes": JSON}] * (MAX_OUTSTANDING + 10))
        endpoint.wait_for(MAX_OUTSTANDING)
        with pytest.raises(AssertionError, match="Not enough"):
            endpoint.wait_for(MAX_OUTSTANDING + 1, seconds=0.3)
        release.set()
        endpoint.wait_for(MAX_OUTSTANDING + 10)


def short_deadline(state: Path, url: str) -> str:
    """Write a subscription with an ack deadline of 1 s, shorter than the API allows; returns its topic."""
    store, topic = Store(state), "projects/demo/topics/questions"
    store.save_topic(protos.Topic(name=topic))
    store.save_subscription(
        protos.Subscription(
            name="projects/demo/subscriptions/reformulate",
            topic=topic,
            ack_deadline_seconds=1,
            push_config={"push_endpoint": url, **UNWRAPPED},
        )
    )
    store.close()
    return topic


def test_a_late_200_does_not_ack(tmp_path: Path) -> None:
    async def slow_at_first(push: Push) -> int:
        if push is endpoint.pushes[0]:
            await asyncio.sleep(2)
        return 200

    with receiving(slow_at_first) as endpoint:
        topic = short_deadline(tmp_path / "state", endpoint.url)
        with pubsub(tmp_path / "state") as side:
            side.publish(topic, b"x", **JSON)
            first, second = endpoint.wait_for(2)
            side.publish(topic, b"after", **JSON)
            pushes = endpoint.wait_until(lambda pushes: pushes[-1].body == b"after")
    assert 0.9 < second.at - first.at < 2
    assert len(pushes) == 3


def test_a_hanging_push_holds_up_no_other(side: Side) -> None:
    async def hang_on_poison(push: Push) -> int:
        return await never(push) if push.body == b"poison" else 204

    topic = side.topic()
    with receiving(hang_on_poison) as endpoint:
        pushed(side, topic, endpoint.url)
        side.publish_all(topic, [{"data": b"poison", "attributes": JSON}] * 5)
        endpoint.wait_for(5)
        side.publish(topic, b"good", **JSON)
        assert endpoint.wait_for(6, seconds=1)[-1].body == b"good"


def test_a_changed_endpoint_gets_what_was_under_way_at_the_old_one(side: Side) -> None:
    topic = side.topic()
    with receiving(never) as old, receiving() as new:
        name = pushed(side, topic, old.url)
        side.publish(topic, b"x", **JSON)
        old.wait_for(1)
        changed = {"name": name, "push_config": {"push_endpoint": new.url, **UNWRAPPED}}
        side.subscriber.update_subscription(
            request={"subscription": changed, "update_mask": {"paths": ["push_config"]}}
        )
        assert new.wait_for(1, seconds=2)[0].body == b"x"


# Retries


def subscription_with(url: str = "", backoff: tuple[float, float] | None = None) -> Any:
    """A subscription's configuration, not saved anywhere."""
    subscription = protos.Subscription(push_config={"push_endpoint": url})
    if backoff:
        subscription.retry_policy.minimum_backoff.FromNanoseconds(int(backoff[0] * 1e9))
        subscription.retry_policy.maximum_backoff.FromNanoseconds(int(backoff[1] * 1e9))
    return subscription


@pytest.mark.parametrize(
    ("subscription", "pauses"),
    [
        (subscription_with(), [0, 0, 0]),
        (subscription_with("http://127.0.0.1/"), [0.1, 0.2, 0.4]),
        (subscription_with("http://127.0.0.1/", (0, 0)), [0.1, 0.1, 0.1]),
        (subscription_with("http://127.0.0.1/", (2, 5)), [2, 4, 5]),
        (subscription_with("", (10, 600)), [10, 20, 40]),
    ],
    ids=["pull", "push", "push never faster than its own backoff", "policy", "pull with a policy"],
)
def test_pauses_double_from_the_minimum_to_the_maximum(subscription: Any, pauses: list[float]) -> None:
    assert [pause(subscription, failures) for failures in (1, 2, 3)] == pytest.approx(pauses)


def test_pauses_stay_at_the_maximum_for_ever() -> None:
    assert pause(subscription_with("http://127.0.0.1/"), 100_000) == 60


def test_the_first_retry_waits_the_minimum_backoff(side: Side) -> None:
    topic = side.topic()
    policy = {"minimum_backoff": {"nanos": 300_000_000}, "maximum_backoff": {"seconds": 1}}
    with receiving(refuse) as endpoint:
        pushed(side, topic, endpoint.url, retry_policy=policy)
        side.publish(topic, b"x", **JSON)
        first, second, third = endpoint.wait_for(3)[:3]
    # No upper bound: on a busy machine a wait may take longer.
    assert second.at - first.at > 0.28
    assert third.at - second.at > 0.58


async def test_a_lease_that_was_ended_does_not_expire() -> None:
    expired: list[Delivery] = []
    wrong: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: wrong.append(context))
    leases = Leases(expired.append)
    kept, ended = (Delivery("subscription", n, None, attempts=0, due=0) for n in (1, 2))
    ack_id = leases.grant(ended, 0.01)
    leases.grant(kept, 0.02)
    assert leases.end("subscription", [ack_id]) == [ended]
    await asyncio.sleep(0.1)
    assert (expired, wrong) == ([kept], [])


# Faults


def test_a_duplicate_is_pushed_while_the_first_is_under_way() -> None:
    faults = Faults()
    faults.switch_on("pubsub-duplicate")
    inside: list[Push] = []

    async def wait_for_the_other(push: Push) -> int:
        inside.append(push)
        for _ in range(100):
            if len(inside) >= 2:
                return 204
            await asyncio.sleep(0.01)
        return 503

    with receiving(wait_for_the_other) as endpoint, pubsub(faults=faults) as side:
        topic = side.topic()
        pushed(side, topic, endpoint.url)
        side.publish(topic, b"x", **JSON)
        first, second = endpoint.wait_for(2)
        faults.switch_off()
        side.publish(topic, b"after", **JSON)
        pushes = endpoint.wait_until(lambda pushes: pushes[-1].body == b"after")
    assert first.headers["x-goog-pubsub-message-id"] == second.headers["x-goog-pubsub-message-id"]
    assert len(pushes) == 3


def test_acknowledging_one_of_two_duplicates_is_enough() -> None:
    faults = Faults()
    faults.switch_on("pubsub-duplicate")
    with pubsub(faults=faults) as side:
        topic = side.topic()
        subscription = side.subscription(topic)
        side.publish(topic, b"x")
        one, other = side.pull_until(subscription, 2)
        side.acknowledge(subscription, one)
        side.give_back(subscription, other)
        assert one.ack_id != other.ack_id
        assert side.pull(subscription, wait=False) == []


def test_a_late_message_is_held() -> None:
    faults = Faults()
    faults.switch_on("pubsub-late", seconds=0.4)
    with receiving() as endpoint, pubsub(faults=faults) as side:
        topic = side.topic()
        pushed(side, topic, endpoint.url)
        begun = time.monotonic()
        side.publish(topic, b"x", **JSON)
        (push,) = endpoint.wait_for(1)
    assert 0.4 <= push.at - begun < 1


# What is not there


@pytest.mark.parametrize(
    "config",
    [
        {"enable_message_ordering": True},
        {"enable_exactly_once_delivery": True},
        {"filter": 'attributes.kind = "test"'},
        {"retain_acked_messages": True},
        {"message_retention_duration": {"seconds": 600}},
        {"push_config": {"push_endpoint": "http://127.0.0.1/", "attributes": {"x-goog-version": "v1"}}},
    ],
    ids=lambda config: next(iter(config)),
)
def test_what_would_be_ignored_is_refused(side: Side, config: dict[str, Any]) -> None:
    topic = side.topic()
    assert refusal(lambda: side.subscription(topic, **config)) == "UNIMPLEMENTED"


def test_other_calls_are_unimplemented(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    update = {"subscription": {"name": subscription}, "update_mask": {"paths": ["filter"]}}
    calls: list[Callable[[], object]] = [
        lambda: side.publisher.get_topic(topic=topic, retry=None),
        lambda: side.publisher.delete_topic(topic=topic, retry=None),
        lambda: side.publisher.list_topic_subscriptions(topic=topic, retry=None),
        lambda: side.publisher.detach_subscription(request={"subscription": subscription}, retry=None),
        lambda: side.subscriber.get_subscription(subscription=subscription, retry=None),
        lambda: side.subscriber.seek(request={"subscription": subscription}, retry=None),
        lambda: side.subscriber.update_subscription(request=update, retry=None),
        lambda: streaming_pull(side.subscriber, subscription),
    ]
    assert [refusal(call) for call in calls] == ["UNIMPLEMENTED"] * len(calls)


def streaming_pull(subscriber: SubscriberClient, subscription: str) -> None:
    """Open a stream and wait for its first messages."""
    opening = sdk.StreamingPullRequest(subscription=subscription, stream_ack_deadline_seconds=10)
    next(iter(subscriber.streaming_pull(requests=iter([opening]), retry=None, timeout=5)))
