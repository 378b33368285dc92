"""With each service hanging, and with each port closed, every step ends in time and with the right answer.

All cases run at once, each with clients of its own, because most of what they do is waiting.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import ValidationError

from answer_fn import answer as answering
from answer_fn import tell as telling
from answer_fn.settings import Settings as AnswerSettings
from ingest_fn import auth, ingest, register
from ingest_fn.settings import Settings as IngestSettings
from local.places import CORPUS, Places, free_port
from local.runner.cloud import Cloud
from local.stand_ins.faults import SERVICES, Faults
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.chat import api as chat_api
from shared.chat import display
from shared.messages import step
from shared.pipeline import Row, pipeline
from shared.runtime import retry
from shared.runtime.settings import CommonSettings
from tests.conftest import SmallCloud
from tests.support.troubled import AUDIENCE, Receive, Where, receiver

#: Step, the service in trouble, and the status: 200 and 204 where the step goes on without the service.
CASES = (
    ("ingest", "firestore", 200),
    ("ingest", "chat", 200),
    ("ingest", "pubsub", 503),
    ("ingest", "certs", 503),
    ("reformulate", "firestore", 204),
    ("reformulate", "gemini", 204),
    ("reformulate", "chat", 204),
    ("reformulate", "pubsub", 503),
    ("retrieve", "firestore", 204),
    ("retrieve", "chat", 204),
    ("retrieve", "rag", 503),
    ("retrieve", "pubsub", 503),
    ("answer", "firestore", 503),
    ("answer", "gemini", 503),
    ("answer", "chat", 503),
    ("answer", "pubsub", 204),
    ("tell", "firestore", 503),
    ("tell", "chat", 503),
    ("tell", "pubsub", 204),
)
TROUBLES = ("hangs", "closed")
#: Seconds of the steps here: as short as leaves each its way of going on, on a busy machine too.
SECONDS = {"ingest": 12.0, "reformulate": 24.0, "retrieve": 24.0, "answer": 24.0, "tell": 12.0}
#: Without Firestore, an answer first waits in vain for the question's record, and for noting it.
SECONDS_WITHOUT_RECORDS = 40.0
#: What a busy machine may add, in seconds.
SLACK = 2.0


@pytest.fixture(scope="module")
def hanging(small_cloud: SmallCloud) -> Iterator[Places]:
    """A cloud where every call hangs."""
    places = Places(state=None, logs=small_cloud.places.logs, http=free_port())
    faults = Faults()
    for service in SERVICES:
        faults.switch_on(f"{service}-hang")
    cloud = Cloud(places, faults, quotas=False)
    small_cloud.run(cloud.start())
    yield places
    small_cloud.run(cloud.stop())


@pytest.fixture(scope="module")
def outcomes(small_cloud: SmallCloud, hanging: Places) -> dict[tuple[str, ...], tuple[int, float]]:
    """Of each case the status and how long it took, in seconds."""
    closed = Places(state=None, logs=small_cloud.places.logs, http=free_port())
    token = small_cloud.cloud.signer.mint(audience=AUDIENCE)
    receivers = {
        (name, service, trouble): receiver(
            name, Where(small_cloud.places, bad, service), seconds_of(name, service), token
        )
        for name, service, _ in CASES
        for trouble, bad in (("hangs", hanging), ("closed", closed))
    }
    with ThreadPoolExecutor(len(receivers)) as pool:
        return dict(zip(receivers, pool.map(timed, receivers.values()), strict=True))


def seconds_of(name: str, service: str) -> float:
    """The deadline of a step here, in seconds."""
    return SECONDS_WITHOUT_RECORDS if (name, service) == ("answer", "firestore") else SECONDS[name]


def timed(receive: Receive) -> tuple[int, float]:
    """The status and the seconds of one message."""
    started = time.monotonic()
    return receive()[1], time.monotonic() - started


@pytest.mark.slow
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name, service, status", CASES)
def test_a_step_ends_in_time_whatever_service_is_in_trouble(
    outcomes: Any, name: str, service: str, status: int, trouble: str
) -> None:
    answered, seconds = outcomes[name, service, trouble]

    assert answered == status
    assert seconds <= seconds_of(name, service) + SLACK


SETTINGS: dict[str, type[CommonSettings]] = {
    "ingest": IngestSettings,
    "reformulate": ReformulateSettings,
    "retrieve": RetrieveSettings,
    "answer": AnswerSettings,
}
#: The longest attempt of one call, of each function.
LONGEST_CALL = {
    "ingest": max(
        auth.CERTS_TIMEOUT, retry.FIRESTORE.timeout, retry.CHAT_PROGRESS.timeout, retry.PUBSUB.timeout
    ),
    "reformulate": max(retry.GEMINI_REWRITE.timeout, retry.PUBSUB.timeout),
    "retrieve": max(retry.RAG.timeout, retry.PUBSUB.timeout),
    "answer": max(retry.GEMINI_ANSWER.timeout, retry.CHAT_FINAL.timeout, retry.FIRESTORE_END.timeout),
    "tell": max(retry.CHAT_FINAL.timeout, retry.FIRESTORE.timeout),
}


def step_seconds(name: str) -> float:
    """The deadline of a function's step, in seconds, when nothing else is set."""
    if name == "tell":
        return telling.Teller(lambda: pytest.fail("not called")).seconds
    return float(SETTINGS[name].model_fields["step_seconds"].get_default(call_default_factory=True))


@pytest.mark.parametrize("name", LONGEST_CALL)
def test_the_longest_call_of_a_step_is_the_one_in_the_table(name: str) -> None:
    assert LONGEST_CALL[name] == pipeline().step(name).seconds.attempt


@pytest.mark.parametrize("name", LONGEST_CALL)
def test_a_step_has_the_time_that_the_table_gives_it(name: str) -> None:
    assert step_seconds(name) == pipeline().step(name).seconds.step


@pytest.mark.parametrize("row", pipeline().functions, ids=lambda row: row.name)
def test_a_call_ends_before_its_step(row: Row) -> None:
    reserved = 0.0 if row in {pipeline().first, pipeline().teller} else step.RESERVE

    assert row.seconds.attempt < row.seconds.step - reserved


@pytest.mark.parametrize("row", pipeline().functions, ids=lambda row: row.name)
def test_a_step_ends_before_its_message_is_delivered_again(row: Row) -> None:
    if row == pipeline().first:
        assert row.seconds.step <= 25  # Chat waits 30 s, and Cloud Run may have to start first
        assert row.seconds.function <= 30
    assert row.seconds.step < row.seconds.function < row.seconds.ack <= 600
    assert row.seconds.step + 10 <= row.seconds.ack  # room for the function's own


@pytest.mark.parametrize("name", ["reformulate", "retrieve", "answer"])
def test_no_setting_leaves_a_step_without_time_for_its_work(name: str) -> None:
    given = {"step_seconds": step.RESERVE + 1, "google_cloud_project": "p", "rag_corpus": CORPUS}

    with pytest.raises(ValidationError, match=r"^1 validation error.*\nstep_seconds"):
        SETTINGS[name].model_validate(given)


def test_the_parts_of_a_step_end_before_the_step() -> None:
    assert step_seconds("ingest") / 2 > register.WAIT_FOR_REGISTERING + ingest.WAIT_FOR_CARD
    assert step_seconds("reformulate") - step.RESERVE > retry.WAIT_FOR_REWRITE
    assert step_seconds("answer") - step.RESERVE > retry.GEMINI_ANSWER.timeout + answering.RESERVE_FOR_POSTING
    # What follows a failure: its record (a read and a write), then the progress or the dead letter.
    assert (
        2 * retry.FIRESTORE_ONCE.timeout + max(display.WAIT_FOR_PROGRESS, retry.PUBSUB.timeout) < step.RESERVE
    )


def test_what_chat_may_apply_late_is_waited_for_within_a_step_and_before_a_redelivery() -> None:
    least = min(step_seconds(row.name) for row in pipeline().functions)
    assert least - step.RESERVE + 5 > retry.CHAT_PROGRESS.timeout + chat_api.LATENESS
    assert chat_api.LATENESS < 10  # the least backoff of the subscriptions
