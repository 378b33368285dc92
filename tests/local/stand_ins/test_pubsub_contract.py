"""What our Pub/Sub and Google's emulator must both do; where the emulator falls short is named."""

import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from local.places import free_port
from local.runner.emulators import emulator, missing
from local.stand_ins.faults import Faults
from local.stand_ins.pubsub.server import PubSub
from local.stand_ins.tokens import Signer
from tests.support.pubsub_side import Side, refusal, talking_to
from tests.support.receiving import Push, receiving, receiving_on
from tests.support.serving import serving

#: Where Google's emulator (0.8.20) is known to be kinder or poorer than production.
GAPS = {
    "delivery-attempt": "push bodies have no deliveryAttempt",
    "ordering-key": "push bodies have no orderingKey",
    "empty-attributes": "push bodies have attributes even when there are none",
    "token": "pushes have no Authorization header",
    "202": "a 202 does not acknowledge",
    "concurrency": "two pushes at a time for a subscription",
    "attribute-limits": "attributes of any number, length and prefix are accepted",
    "publish-bytes": "more than 10 MB are accepted in a publish request",
    "shortest-deadline": "an ack deadline below 10 s is accepted",
    "push-is-pulled": "a push subscription can be pulled",
    "pulled-at-once": "a pull returns 100 messages at most",
    "failed-together": "of messages that fail together under a retry policy, some come again late or never",
}
pytestmark = [
    pytest.mark.slow,  # retries and deadlines take their time
    pytest.mark.filterwarnings("ignore:The return_immediately flag:DeprecationWarning"),
]
DEAD_LETTER = "CloudPubSubDeadLetterSource"


class Contract:
    """One side of the contract."""

    def __init__(self, side: Side, official: bool) -> None:
        self.side = side
        self._official = official

    def holds(self, rule: bool, gap: str) -> None:
        """The rule holds, except on the emulator, where this gap must show."""
        if self._official:
            assert not rule, f"The emulator has closed a gap; take it out of GAPS: {GAPS[gap]}"
        else:
            assert rule, GAPS[gap]


OFFICIAL = pytest.param(
    "official",
    marks=[
        pytest.mark.slow,
        pytest.mark.emulator,
        pytest.mark.skipif(missing("pubsub") is not None, reason=str(missing("pubsub"))),
    ],
)


@pytest.fixture(scope="module", params=["local", OFFICIAL])
def contract(request: pytest.FixtureRequest) -> Iterator[Contract]:
    """The same tests on both."""
    official = request.param == "official"
    faults = Faults()
    local = serving("pubsub", PubSub(None, faults, Signer().mint), faults)
    with emulator("pubsub") if official else local as address, talking_to(address) as side:
        yield Contract(side, official)


@pytest.fixture
def side(contract: Contract) -> Side:
    """For tests without a gap."""
    return contract.side


def push_to(url: str, **config: Any) -> dict[str, Any]:
    """A push configuration."""
    return {"push_config": {"push_endpoint": url, **config}}


UNWRAPPED = {"no_wrapper": {"write_metadata": True}}


def test_every_gap_is_asserted() -> None:
    source = Path(__file__).read_text()
    assert [gap for gap in GAPS if source.count(f'"{gap}"') < 2] == []


# Topics and subscriptions


@pytest.mark.parametrize("bad", ["ab", "1abc", "googabc", "a/bc", "a b c", "a" * 256])
def test_a_bad_name_is_refused(side: Side, bad: str) -> None:
    create = side.publisher.create_topic
    assert refusal(lambda: create(name=f"projects/demo/topics/{bad}", retry=None)) == "INVALID_ARGUMENT"


def test_a_topic_is_made_once(side: Side) -> None:
    topic = side.topic()
    assert refusal(lambda: side.publisher.create_topic(name=topic, retry=None)) == "ALREADY_EXISTS"


def test_a_subscription_is_made_once(side: Side) -> None:
    topic = side.topic()
    name = side.subscription(topic)
    again = {"name": name, "topic": topic}
    create = side.subscriber.create_subscription
    assert refusal(lambda: create(request=again, retry=None)) == "ALREADY_EXISTS"


def test_what_does_not_exist_is_not_found(side: Side) -> None:
    topic, subscription = "projects/demo/topics/nowhere", "projects/demo/subscriptions/nowhere"
    calls: list[Callable[[], object]] = [
        lambda: side.publish(topic, b"x"),
        lambda: side.subscription(topic),
        lambda: side.pull(subscription),
        lambda: side.subscriber.delete_subscription(subscription=subscription, retry=None),
    ]
    assert [refusal(call) for call in calls] == ["NOT_FOUND"] * len(calls)


def test_lists_name_what_was_made(side: Side) -> None:
    topic = side.topic()
    subscriptions = [side.subscription(topic) for _ in range(3)]
    topics = side.publisher.list_topics(request={"project": "projects/demo", "page_size": 2})
    listed = side.subscriber.list_subscriptions(request={"project": "projects/demo", "page_size": 2})
    assert topic in {each.name for each in topics}
    assert set(subscriptions) <= {each.name for each in listed}


def configured(side: Side, name: str) -> Any:
    """A subscription as the list shows it."""
    listed = side.subscriber.list_subscriptions(project="projects/demo")
    return next(each for each in listed if each.name == name)


def test_defaults_are_filled_in(side: Side) -> None:
    topic = side.topic()
    policy = {"dead_letter_topic": side.topic(), "max_delivery_attempts": 0}
    got = configured(side, side.subscription(topic, dead_letter_policy=policy))
    assert (got.ack_deadline_seconds, got.dead_letter_policy.max_delivery_attempts) == (10, 5)


def test_a_dead_letter_topic_must_exist(side: Side) -> None:
    policy = {"dead_letter_topic": "projects/demo/topics/nowhere", "max_delivery_attempts": 5}
    topic = side.topic()
    assert refusal(lambda: side.subscription(topic, dead_letter_policy=policy)) == "NOT_FOUND"


@pytest.mark.parametrize("attempts", [1, 4, 101])
def test_a_dead_letter_policy_has_5_to_100_attempts(side: Side, attempts: int) -> None:
    topic = side.topic()
    policy = {"dead_letter_topic": side.topic(), "max_delivery_attempts": attempts}
    status = refusal(lambda: side.subscription(topic, dead_letter_policy=policy))
    assert status in {"INVALID_ARGUMENT", "OUT_OF_RANGE"}


def test_an_ack_deadline_is_10_to_600_seconds(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    assert refusal(lambda: side.subscription(topic, ack_deadline_seconds=601)) == "INVALID_ARGUMENT"
    too_short = refusal(lambda: side.subscription(topic, ack_deadline_seconds=9))
    contract.holds(too_short == "INVALID_ARGUMENT", "shortest-deadline")


def test_a_push_endpoint_is_http(side: Side) -> None:
    topic = side.topic()
    assert refusal(lambda: side.subscription(topic, **push_to("ftp://127.0.0.1/x"))) == "INVALID_ARGUMENT"


def test_an_update_changes_only_what_the_mask_names(side: Side) -> None:
    policy = {"dead_letter_topic": side.topic(), "max_delivery_attempts": 7}
    before = {"push_endpoint": "http://127.0.0.1:9/", "oidc_token": {"service_account_email": "a@b.c"}}
    name = side.subscription(side.topic(), dead_letter_policy=policy, push_config=before)
    changed = {"name": name, **push_to("http://127.0.0.1:10/"), "ack_deadline_seconds": 30}
    request = {"subscription": changed, "update_mask": {"paths": ["push_config"]}}
    side.subscriber.update_subscription(request=request)
    got = configured(side, name)
    assert (got.ack_deadline_seconds, got.dead_letter_policy.max_delivery_attempts) == (10, 7)
    assert got.push_config.push_endpoint == "http://127.0.0.1:10/"
    assert "oidc_token" not in got.push_config


# Publishing


def test_an_empty_message_is_refused(side: Side) -> None:
    topic = side.topic()
    assert refusal(lambda: side.publish(topic, b"")) == "INVALID_ARGUMENT"


def test_a_publish_request_has_at_most_1000_messages(side: Side) -> None:
    topic = side.topic()
    assert len(set(side.publish_all(topic, [{"data": b"x"}] * 1000))) == 1000
    assert refusal(lambda: side.publish_all(topic, [{"data": b"x"}] * 1001)) == "INVALID_ARGUMENT"


def test_a_publish_request_has_at_most_10_megabytes(contract: Contract) -> None:
    topic = contract.side.topic()
    too_big = refusal(lambda: contract.side.publish(topic, bytes(10_000_001)))
    contract.holds(too_big == "INVALID_ARGUMENT", "publish-bytes")


@pytest.mark.parametrize(
    "attributes",
    [{"k" * 257: "v"}, {"k": "v" * 1025}, {"googkey": "v"}, {"": "v"}, {f"k{n}": "v" for n in range(101)}],
    ids=["long key", "long value", "goog", "empty key", "too many"],
)
def test_attributes_have_limits(contract: Contract, attributes: dict[str, str]) -> None:
    side, topic = contract.side, contract.side.topic()
    largest = {"k" * 256: "v" * 1024} | {f"k{n}": "é" * 512 for n in range(99)}
    assert refusal(lambda: side.publish(topic, b"x", **largest)) == "OK"
    status = refusal(lambda: side.publish(topic, b"x", **attributes))
    contract.holds(status == "INVALID_ARGUMENT", "attribute-limits")


def test_the_sdk_publishes_with_futures(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    futures = [side.publisher.publish(topic, b"%d" % n, kind="test") for n in range(20)]
    ids = [future.result(10) for future in futures]
    received = side.pull_until(subscription, 20)
    assert sorted(each.message.message_id for each in received) == sorted(ids)


# Pulling


def test_a_pulled_message_is_what_was_published(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    before = time.time()
    message_id = side.publish(topic, b"\x00\xff", language="日本語")
    (received,) = side.pull_until(subscription)
    message = received.message
    assert (message.data, dict(message.attributes)) == (b"\x00\xff", {"language": "日本語"})
    assert message.message_id == message_id
    assert before - 1 < message.publish_time.timestamp() < time.time() + 1
    assert received.delivery_attempt == 0


def test_every_subscription_gets_its_own_copy(side: Side) -> None:
    topic = side.topic()
    first, second = side.subscription(topic), side.subscription(topic)
    side.publish(topic, b"both")
    side.acknowledge(first, *side.pull_until(first))
    assert [each.message.data for each in side.pull_until(second)] == [b"both"]


def test_a_pull_waits_for_a_message(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    with ThreadPoolExecutor(1) as pool:
        pull = pool.submit(side.pull, subscription)
        with pytest.raises(TimeoutError):
            pull.result(0.5)
        side.publish(topic, b"late")
        assert [each.message.data for each in pull.result(1)] == [b"late"]


def test_a_pull_that_is_not_to_wait_is_empty_at_once(side: Side) -> None:
    subscription = side.subscription(side.topic())
    begun = time.monotonic()
    assert side.pull(subscription, wait=False) == []
    assert time.monotonic() - begun < 1


def test_an_acknowledged_message_does_not_come_again(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish_all(topic, [{"data": b"done"}, {"data": b"again"}])
    received = {each.message.data: each for each in side.pull_until(subscription, 2)}
    side.acknowledge(subscription, received[b"done"])
    side.give_back(subscription, received[b"again"])
    assert [each.message.data for each in side.pull_until(subscription)] == [b"again"]


def test_a_message_comes_again_when_its_deadline_passes(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish(topic, b"slow")
    (first,) = side.pull_until(subscription)
    side.give_back(subscription, first, seconds=1)
    (second,) = side.pull_until(subscription)
    assert second.message.message_id == first.message.message_id
    assert second.ack_id != first.ack_id


def test_a_message_whose_deadline_was_put_off_does_not_come_again(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish(topic, b"slow")
    (received,) = side.pull_until(subscription)
    side.give_back(subscription, received, seconds=1)
    side.give_back(subscription, received, seconds=60)
    end = time.monotonic() + 1.3
    while time.monotonic() < end:
        assert side.pull(subscription, wait=False) == []
        time.sleep(0.1)


def test_an_ack_id_that_has_ended_does_not_acknowledge(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish(topic, b"slow")
    (first,) = side.pull_until(subscription)
    side.give_back(subscription, first)
    (second,) = side.pull_until(subscription)
    side.acknowledge(subscription, first)
    side.give_back(subscription, second)
    assert [each.message.data for each in side.pull_until(subscription)] == [b"slow"]


def test_a_made_up_ack_id_is_refused_and_ends_no_other(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish(topic, b"kept")
    (received,) = side.pull_until(subscription)
    call = {"subscription": subscription, "ack_ids": [received.ack_id, "made-up"], "retry": None}
    assert refusal(lambda: side.subscriber.acknowledge(**call)) == "INVALID_ARGUMENT"
    side.give_back(subscription, received)
    assert [each.message.data for each in side.pull_until(subscription)] == [b"kept"]


def test_a_push_subscription_cannot_be_pulled(contract: Contract) -> None:
    side = contract.side
    with receiving() as endpoint:
        subscription = side.subscription(side.topic(), **push_to(endpoint.url))
        status = refusal(lambda: side.pull(subscription, wait=False))
    contract.holds(status == "FAILED_PRECONDITION", "push-is-pulled")


def test_a_pull_returns_up_to_1000_messages(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    subscription = side.subscription(topic)
    side.publish_all(topic, [{"data": b"x"}] * 1000)
    side.publish(topic, b"one more")
    contract.holds(len(side.pull(subscription, 2000)) == 1000, "pulled-at-once")


def test_a_pull_returns_no_more_than_asked_for(side: Side) -> None:
    topic = side.topic()
    subscription = side.subscription(topic)
    side.publish_all(topic, [{"data": b"x"}] * 5)
    assert len(side.pull(subscription, 2)) == 2
    assert refusal(lambda: side.pull(subscription, 0)) == "INVALID_ARGUMENT"


def test_five_refusals_of_a_pulled_message_make_a_dead_letter(side: Side) -> None:
    topic, dead_letters = side.topic(), side.topic()
    backup = side.subscription(dead_letters)
    policy = {"dead_letter_topic": dead_letters, "max_delivery_attempts": 5}
    subscription = side.subscription(topic, dead_letter_policy=policy)
    side.publish(topic, b"poison", kind="test")
    attempts = []
    for _ in range(5):
        (received,) = side.pull_until(subscription)
        attempts.append(received.delivery_attempt)
        side.give_back(subscription, received)
    assert attempts == [1, 2, 3, 4, 5]
    copies: list[Any] = []
    for _ in range(100):
        assert side.pull(subscription, wait=False) == []
        if copies := side.pull(backup, wait=False):
            break
        time.sleep(0.05)
    assert_dead_letter(copies[0].message, received.message, subscription)


def assert_dead_letter(copy: Any, original: Any, subscription: str) -> None:
    """A new message with the old data, the old attributes, and where it comes from."""
    assert copy.data == original.data
    assert copy.message_id != original.message_id
    assert copy.publish_time >= original.publish_time
    attributes = dict(copy.attributes)
    at = attributes.pop(f"{DEAD_LETTER}TopicPublishTime")
    assert at.startswith(original.publish_time.strftime("%Y-%m-%dT%H:%M:%S"))
    assert at.endswith("Z")
    assert attributes == {
        **original.attributes,
        f"{DEAD_LETTER}DeliveryCount": "5",
        f"{DEAD_LETTER}Subscription": subscription.rpartition("/")[2],
        f"{DEAD_LETTER}SubscriptionProject": "demo",
    }


# Pushing


def test_a_wrapped_push_is_an_envelope(side: Side) -> None:
    topic = side.topic()
    with receiving() as endpoint:
        subscription = side.subscription(topic, **push_to(f"{endpoint.url}/here"))
        message_id = side.publish(topic, b"hello", kind="test")
        (push,) = endpoint.wait_for(1)
    body = json.loads(push.body)
    published = body["message"]["publishTime"]
    assert push.path == "/here"
    assert push.headers["content-type"] == "application/json"
    assert body == {
        "message": {
            "attributes": {"kind": "test"},
            "data": base64.b64encode(b"hello").decode(),
            "messageId": message_id,
            "message_id": message_id,
            "publishTime": published,
            "publish_time": published,
        },
        "subscription": subscription,
    }


def test_an_envelope_says_what_there_is_and_no_more(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    policy = {"dead_letter_topic": side.topic(), "max_delivery_attempts": 5}
    with receiving() as endpoint:
        side.subscription(topic, dead_letter_policy=policy, **push_to(endpoint.url))
        side.publish_all(topic, [{"data": b"x", "ordering_key": "key"}])
        (push,) = endpoint.wait_for(1)
    body = json.loads(push.body)
    contract.holds(body.get("deliveryAttempt") == 1, "delivery-attempt")
    contract.holds(body["message"].get("orderingKey") == "key", "ordering-key")
    contract.holds("attributes" not in body["message"], "empty-attributes")


def test_an_unwrapped_push_is_the_message_itself(side: Side) -> None:
    topic = side.topic()
    attributes = {"content-type": "application/json", "ce-id": "a1", "ce-specversion": "1.0"}
    with receiving() as endpoint:
        subscription = side.subscription(topic, **push_to(endpoint.url, **UNWRAPPED))
        message_id = side.publish(topic, "質問".encode(), **attributes)
        (push,) = endpoint.wait_for(1)
    assert push.body.decode() == "質問"
    assert attributes.items() <= push.headers.items()
    assert push.headers["x-goog-pubsub-message-id"] == message_id
    assert push.headers["x-goog-pubsub-subscription-name"] == subscription
    assert push.headers["x-goog-pubsub-publish-time"].endswith("Z")


def test_an_unwrapped_push_without_metadata_is_only_the_body(side: Side) -> None:
    topic = side.topic()
    with receiving() as endpoint:
        side.subscription(topic, **push_to(endpoint.url, no_wrapper={"write_metadata": False}))
        side.publish(topic, b"body", kind="test")
        (push,) = endpoint.wait_for(1)
    assert push.body == b"body"
    assert [name for name in push.headers if name == "kind" or name.startswith("x-goog")] == []


def test_a_push_carries_a_token(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    identity = {"service_account_email": "pusher@demo.iam.gserviceaccount.com"}
    with receiving() as endpoint:
        side.subscription(topic, **push_to(endpoint.url, oidc_token=identity))
        side.publish(topic, b"x")
        (push,) = endpoint.wait_for(1)
    contract.holds(push.headers.get("authorization", "").startswith("Bearer "), "token")


def test_only_some_statuses_acknowledge(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()

    async def as_told(push: Push) -> int:
        return int(push.body)

    statuses = [200, 201, 202, 204, 206, 302, 400, 404, 409, 429, 500, 503]
    refused = {206, 302, 400, 404, 409, 429, 500, 503}
    with receiving(as_told) as endpoint:
        subscription = side.subscription(topic, **push_to(endpoint.url, no_wrapper={}))
        side.publish_all(topic, [{"data": b"%d" % status} for status in statuses])
        # When the refused ones have come three times, an acknowledged one would have come twice.
        pushes = endpoint.wait_until(lambda pushes: all(_times(pushes)[status] >= 3 for status in refused))
        side.subscriber.delete_subscription(subscription=subscription)
    times = _times(pushes)
    assert {status for status in statuses if times[status] == 1} >= {200, 201, 204}
    contract.holds(times[202] == 1, "202")


def _times(pushes: list[Push]) -> Counter[int]:
    return Counter(int(push.body) for push in pushes)


def test_five_refused_pushes_make_a_dead_letter(side: Side) -> None:
    async def refuse(_push: Push) -> int:
        return 500

    topic, dead_letters = side.topic(), side.topic()
    original, backup = side.subscription(topic), side.subscription(dead_letters)
    policy = {"dead_letter_topic": dead_letters, "max_delivery_attempts": 5}
    with receiving(refuse) as endpoint:
        subscription = side.subscription(topic, dead_letter_policy=policy, **push_to(endpoint.url))
        side.publish(topic, b"poison", kind="test")
        (copy,) = side.pull_until(backup)
        assert len(endpoint.pushes) == 5
    (received,) = side.pull_until(original)
    assert_dead_letter(copy.message, received.message, subscription)


def test_an_endpoint_that_is_not_there_yet_gets_the_message_later(side: Side) -> None:
    topic = side.topic()
    port = free_port()
    side.subscription(topic, **push_to(f"http://127.0.0.1:{port}", no_wrapper={}))
    side.publish(topic, b"patient")
    with receiving_on(port) as endpoint:
        assert endpoint.wait_for(1)[0].body == b"patient"


def test_messages_that_fail_together_all_come_again_after_the_backoff(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    tried: Counter[bytes] = Counter()

    async def refuse_three_times(push: Push) -> int:
        tried[push.body] += 1
        return 503 if tried[push.body] <= 3 else 204

    with receiving(refuse_three_times) as endpoint:
        backoff = {"minimum_backoff": {"seconds": 1}, "maximum_backoff": {"seconds": 2}}
        config = push_to(endpoint.url, no_wrapper={})
        side.subscription(topic, **config, retry_policy=backoff, ack_deadline_seconds=60)
        side.publish_all(topic, [{"data": b"%d" % n} for n in range(30)])
        with suppress(AssertionError):
            endpoint.wait_for(120, 20)
        pushed = Counter(push.body for push in endpoint.pushes)
    contract.holds(set(pushed.values()) == {4}, "failed-together")


def test_many_pushes_are_under_way_at_once(contract: Contract) -> None:
    side, topic = contract.side, contract.side.topic()
    inside: set[bytes] = set()

    async def wait_for_five(push: Push) -> int:
        inside.add(push.body)
        for _ in range(100):
            if len(inside) == 5:
                break
            await asyncio.sleep(0.01)
        return 204

    with receiving(wait_for_five) as endpoint:
        side.subscription(topic, **push_to(endpoint.url, no_wrapper={}))
        side.publish_all(topic, [{"data": b"%d" % n} for n in range(5)])
        pushes = endpoint.wait_for(5)
    contract.holds(pushes[4].at - pushes[0].at < 0.5, "concurrency")


def test_a_backlog_is_pushed_once_there_is_an_endpoint(side: Side) -> None:
    topic = side.topic()
    name = side.subscription(topic)
    side.publish(topic, b"waiting")
    with receiving() as endpoint:
        changed = {"name": name, **push_to(endpoint.url, no_wrapper={})}
        request = {"subscription": changed, "update_mask": {"paths": ["push_config"]}}
        side.subscriber.update_subscription(request=request)
        assert endpoint.wait_for(1)[0].body == b"waiting"
