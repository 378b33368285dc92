"""What the operator view of the chat page asks of the small cloud: dead letters, and their replay."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.cloud.firestore import Client

from local.page.operator.desk import clients_of
from local.page.operator.replays import PATIENCE
from local.places import PROJECT, Places, free_port
from local.runner.cloud import Cloud
from local.runner.connect import connect_topics
from local.runner.environment import of_function
from local.stand_ins.faults import Faults
from ops.reconcile import letter_from_pull
from shared.memory.cases import COLLECTION, Cases
from shared.memory.failures import Failures
from shared.messages.dead_letter import reference
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.conftest import SmallCloud
from tests.support import remembering
from tests.support.factories import envelope, push, question
from tests.support.waiting import until

Json = dict[str, Any]
PERSON = "users/1001"


@pytest.fixture
def ops(small_cloud: SmallCloud) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{small_cloud.places.url}/ops", trust_env=False, timeout=30) as client:
        yield client


def dead_letter(firestore: Any, error: str, **fields: Any) -> Question:
    """A question that died in the step `retrieve`, as `tell` keeps it."""
    dead = question(**fields)
    trouble = Permanent("rag_refused", error)
    Failures(firestore).record(dead.id, "retrieve", trouble, ["retrieve.py:7 search"], Deadline(5))
    headers, data = push(envelope(question=dead, search_query=dead.text), "reformulate")
    attributes = {name.lower(): value for name, value in headers.items()}
    parked = {"dead-letter-step": "retrieve", "dead-letter-reason": "rag_refused"}
    letter = letter_from_pull({**attributes, **parked}, data, "1")
    failure = Failures(firestore).find(dead.id, "retrieve", Deadline(5))
    Cases(firestore).store(letter, failure, Deadline(5))
    return dead


@pytest.fixture
def die(firestore: Any) -> Iterator[Callable[..., Question]]:
    """`die(error)` makes a dead letter, which is gone after the test."""
    made: list[str] = []

    def store(error: str, **fields: Any) -> Question:
        dead = dead_letter(firestore, error, **fields)
        made.append(document_id(dead.id))
        return dead

    yield store
    for case_id in made:
        firestore.collection(COLLECTION).document(case_id).delete()


def group_of(ops: httpx.Client, dead: Question) -> str:
    return str(ops.get(f"cases/{reference(dead.id)}").raise_for_status().json()["group"])


def replay(ops: httpx.Client, **asked: Any) -> Json:
    """Start a replay and wait for its end."""
    started = ops.post("replay", json={"person": PERSON, **asked}).raise_for_status().json()
    assert started["replay"]["name"]
    return ended(ops, lambda progress: not progress["running"])


def ended(ops: httpx.Client, is_so: Callable[[Json], bool]) -> Json:
    def progress() -> Json | None:
        now: Json = ops.get("replay").json()["replay"]
        return now if is_so(now) else None

    return until(progress, "the replay") or {}


def answer_now(firestore: Any, dead: Question) -> None:
    remembering.close_case(firestore, dead.id)


def test_dead_letters_are_grouped_by_cause_with_the_largest_group_first(
    ops: httpx.Client, die: Callable[..., Question]
) -> None:
    first, _ = die("400 one cause"), die("400 one cause")
    other = die("400 another cause")

    answer = ops.get("groups").json()

    groups = {group["group"]: group for group in answer["groups"]}
    group = groups[group_of(ops, first)]
    assert (group["count"], group["step"], group["reason"]) == (2, "retrieve", "rag_refused")
    assert group["cause"] == "400 one cause"
    assert group["first_at"] < group["last_at"]
    assert list(groups).index(group["group"]) < list(groups).index(group_of(ops, other))
    assert answer["counts"]["open"] >= 3


def test_a_group_is_listed_without_what_people_wrote(ops: httpx.Client, die: Callable[..., Question]) -> None:
    dead = [die("400 to list", text="my secret question") for _ in range(3)]

    answer = ops.get("cases", params={"group": group_of(ops, dead[0]), "limit": 2})

    assert answer.json()["total"] == 3
    assert [case["reference"] for case in answer.json()["cases"]] == [
        reference(dead[2].id),
        reference(dead[1].id),
    ]
    assert "secret" not in answer.text


def test_a_case_shows_everything_but_texts_until_they_are_asked_for(
    ops: httpx.Client, die: Callable[..., Question], small_cloud: SmallCloud
) -> None:
    dead = die("400 to show", text="my secret question")

    shown = ops.get(f"cases/{reference(dead.id)}")

    case = shown.json()
    assert case["question_id"] == dead.id
    assert case["failures"][0]["stack"] == ["retrieve.py:7 search"]
    assert [stop["what"] for stop in case["way"]] == [
        "received the question",
        "failed",
        "kept it as a dead letter",
    ]
    assert case["log"] == str(small_cloud.places.logs / "retrieve.log")
    assert "secret" not in shown.text
    assert "my secret question" in ops.get(f"cases/{case['id']}", params={"text": "1"}).json()["envelope"]


def test_a_case_that_is_not_there_is_named(ops: httpx.Client) -> None:
    answer = ops.get("cases/TW-00000000")

    assert answer.status_code == 404
    assert "There is no case TW-00000000" in answer.json()["error"]["message"]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    ops: httpx.Client, die: Callable[..., Question], inbox: Any, firestore: Any
) -> None:
    queries = inbox("queries")
    fresh, old = die("400 dry"), die("400 dry", asked_at=datetime.now(UTC) - timedelta(hours=30))

    answer = ops.post("replay", json={"person": PERSON, "group": group_of(ops, fresh), "dry_run": True})

    assert answer.json()["outcomes"] == {"REPLAYED": 1, "STALE": 1}
    assert [message["reference"] for message in answer.json()["messages"]] == [
        reference(fresh.id),
        reference(old.id),
    ]
    assert queries.is_empty()
    assert firestore.collection(COLLECTION).document(document_id(fresh.id)).get().get("replays") == 0


def test_a_replay_sends_the_chosen_ones_and_tells_what_became_of_each(
    ops: httpx.Client, die: Callable[..., Question], inbox: Any, firestore: Any
) -> None:
    queries = inbox("queries")
    chosen, other = die("400 chosen"), die("400 chosen")

    started = ops.post("replay", json={"person": PERSON, "ids": [document_id(chosen.id)]}).json()["replay"]
    sent = queries.messages()[0]
    answer_now(firestore, chosen)
    progress = ended(ops, lambda progress: not progress["running"])

    assert started["total"] == 1
    assert sent.attributes["replay-name"] == started["name"]
    assert progress["outcomes"] == {"REPLAYED": 1}
    assert progress["ends"] == {"answered": 1}
    assert [(each["reference"], each["outcome"], each["end"]) for each in progress["messages"]] == [
        (reference(chosen.id), "REPLAYED", "answered")
    ]
    assert firestore.collection(COLLECTION).document(document_id(other.id)).get().get("state") == "open"


def test_the_audit_names_the_person_and_the_selection(
    ops: httpx.Client, die: Callable[..., Question], firestore: Any
) -> None:
    dead = die("400 audited", asked_at=datetime.now(UTC) - timedelta(hours=30))
    group = group_of(ops, dead)

    progress = replay(ops, group=group)

    recorded = firestore.collection("audit").document(progress["name"]).get().to_dict()
    assert (recorded["by"], recorded["selection"]) == ("Aiko Tanaka", f"group={group} state=open")
    assert recorded["counts"] == {"stale – skipped": 1}
    assert recorded["finished_at"] is not None


def test_a_canary_takes_the_oldest_and_old_ones_only_if_they_are_wanted(
    ops: httpx.Client, die: Callable[..., Question], inbox: Any, firestore: Any
) -> None:
    queries = inbox("queries")
    old = die("400 canary", asked_at=datetime.now(UTC) - timedelta(hours=30))
    young = die("400 canary")
    group = group_of(ops, old)

    trial = {"person": PERSON, "group": group, "limit": 1, "dry_run": True}
    guarded = ops.post("replay", json=trial).raise_for_status().json()
    asked = {"person": PERSON, "group": group, "limit": 1, "even_stale": True}
    ops.post("replay", json=asked).raise_for_status()
    queries.messages()  # it is sent by now
    answer_now(firestore, old)
    wanted = ended(ops, lambda progress: not progress["running"])

    assert [message["reference"] for message in guarded["messages"]] == [reference(young.id)]
    assert [message["reference"] for message in wanted["messages"]] == [reference(old.id)]
    assert wanted["outcomes"] == {"REPLAYED": 1}


def test_a_replay_under_way_can_be_stopped_and_no_second_one_begins(
    ops: httpx.Client, die: Callable[..., Question]
) -> None:
    dead = [die("400 slow") for _ in range(4)]
    asked = {"person": PERSON, "group": group_of(ops, dead[0]), "rate": 0.5}
    ops.post("replay", json=asked).raise_for_status()

    second = ops.post("replay", json=asked)
    ops.post("replay/stop").raise_for_status()
    progress = ended(ops, lambda progress: not progress["running"])

    assert second.status_code == 409
    assert "already running" in second.json()["error"]["message"]
    assert progress["stopped"] is True
    assert progress["done"] < progress["total"] == 4
    assert progress["trouble"] is None


def test_a_firestore_that_is_down_is_told_in_a_sentence(ops: httpx.Client, faults: Any) -> None:
    faults.switch_on("firestore-down")

    answer = ops.get("groups")

    assert (answer.status_code, answer.json()["error"]["status"]) == (503, "UNREACHABLE")
    assert "does not answer" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"ids": [], "every": False},
        {"ids": ["a"], "every": True},
        {"group": "abc", "rate": 0},
        {"group": "abc", "limit": 0},
        {"group": "abc", "person": "users/7"},
        {"group": "abc", "extra": 1},
    ],
)
def test_a_replay_request_that_is_not_valid_is_refused(ops: httpx.Client, asked: Json) -> None:
    answer = ops.post("replay", json={"person": PERSON, **asked})

    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("limit", ["0", "x", "-1", "1000000"])
def test_a_limit_that_makes_no_sense_is_refused(ops: httpx.Client, limit: str) -> None:
    assert ops.get("cases", params={"limit": limit}).status_code == 400


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example:8080"}])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "groups"), ("GET", "cases"), ("POST", "replay"), ("POST", "replay/stop")]
)
def test_another_site_can_neither_see_nor_replay(
    ops: httpx.Client, headers: Json, method: str, path: str
) -> None:
    assert ops.request(method, path, headers=headers).status_code == 403


def test_making_clients_leaves_the_environment_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(state=None, logs=tmp_path, http=free_port())
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", "elsewhere:1")
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)

    with pytest.raises(Transient), clients_of(places):
        seen = dict(os.environ)
        raise Transient("interrupted")

    function = of_function("answer", places, None)
    names = ("PUBSUB_EMULATOR_HOST", "FIRESTORE_EMULATOR_HOST")
    assert {name: seen[name] for name in names} == {name: function[name] for name in names}
    assert os.environ["PUBSUB_EMULATOR_HOST"] == "elsewhere:1"
    assert "FIRESTORE_EMULATOR_HOST" not in os.environ


async def test_a_replay_under_way_does_not_keep_the_cloud_from_stopping(tmp_path: Path) -> None:
    places = Places(state=tmp_path, logs=tmp_path, http=free_port())
    cloud = Cloud(places, Faults(), quotas=False)
    await cloud.start()
    await asyncio.to_thread(connect_topics, places)
    with clients_of(places):
        firestore = Client(project=PROJECT)
    for _ in range(3):
        await asyncio.to_thread(dead_letter, firestore, "400 to stop")
    async with httpx.AsyncClient(base_url=places.url, trust_env=False, timeout=30) as page:
        started = await page.post("/ops/replay", json={"person": PERSON, "every": True, "rate": 0.5})
    assert started.json()["replay"]["total"] == 3

    stopping = time.monotonic()
    await cloud.stop()

    assert time.monotonic() - stopping < PATIENCE


@pytest.mark.slow
def test_starting_the_page_does_not_wait_for_the_operators_code() -> None:
    code = (
        "import sys, local.runner.cloud; print([name for name in sys.modules if name.split('.')[0] == 'ops'])"
    )
    command = [sys.executable, "-c", code]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
