"""`dead discard` tells and backs up first; `dead watch` and `audit` look on."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answer_fn.services import open_tell_services
from answer_fn.settings import Settings
from answer_fn.tell import Teller
from local.stand_ins.faults import Faults
from shared.chat.cards import progress
from shared.chat.message import Chat, message_id
from shared.messages.dead_letter import reference
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from tests.conftest import Inbox, SmallCloud
from tests.support.factories import envelope
from tests.support.loopback import http
from tests.support.operating import Desk, finished, letter, ran, started

pytest_plugins = ["tests.support.ops_fixtures"]


@pytest.fixture
def telling(small_cloud: SmallCloud, inbox: Any) -> Iterator[None]:
    """`tell` takes what is published to the dead letters."""
    services = open_tell_services(Settings(chat_endpoint=small_cloud.places.url))
    teller, taken, over = Teller(lambda: services), inbox("dead-letters"), threading.Event()
    thread = threading.Thread(target=take, args=(teller, taken, over))
    thread.start()
    yield
    over.set()
    thread.join(20)


def take(teller: Teller, taken: Inbox, over: threading.Event) -> None:
    while not over.is_set():
        answer = taken.client.pull(
            request={"subscription": taken.path, "max_messages": 10, "return_immediately": True}, timeout=5
        )
        for each in answer.received_messages:
            headers = {**each.message.attributes, "X-Goog-Pubsub-Message-Id": each.message.message_id}
            if teller.receive(headers, each.message.data) == ("", 204):
                taken.client.acknowledge(subscription=taken.path, ack_ids=[each.ack_id])
        over.wait(0.1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_asker_is_told_and_a_backup_is_written_before(
    desk: Desk, telling: None, small_cloud: SmallCloud, chat: Chat, asked: Question, tmp_path: Path
) -> None:
    kept, backup = letter(envelope(question=asked)), tmp_path / "backup.jsonl"
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    desk.stored(kept)

    run = ran("dead", "discard", kept.case_id, "--backup", str(backup), "--yes", "--reason", "was a test")

    assert run.out == f"{reference(asked.id)}  discarded\n"
    name = f"{asked.space}/messages/{message_id(asked.id)}"
    said = http.get(f"{small_cloud.places.url}/v1/{name}").json()
    assert reference(asked.id) in said["text"]
    case = desk.case(kept)
    assert (case["state"], case["data"], case["told"]) == ("discarded", None, True)
    assert ran("dead", "list", "--json").json == []
    assert "discarded" in ran("dead", "show", kept.case_id, "--with-text").out

    assert "1 imported" in ran("dead", "import", str(backup)).err
    assert (desk.case(kept)["state"], desk.case(kept)["data"]) == ("open", kept.data)
    assert [each["action"] for each in desk.audited()] == ["discard", "import"]


def test_who_knows_already_is_not_told_again(desk: Desk, inbox: Any, tmp_path: Path) -> None:
    taken, kept = inbox("dead-letters"), letter()
    desk.stored(kept, told=True)

    ran("dead", "discard", kept.case_id, "--backup", str(tmp_path / "b"), "--yes")

    assert taken.is_empty()
    assert desk.case(kept)["state"] == "discarded"


def test_one_is_only_discarded_when_somebody_says_yes(desk: Desk, tmp_path: Path) -> None:
    kept = letter()
    desk.stored(kept, told=True)

    run = ran("dead", "discard", kept.case_id, "--backup", str(tmp_path / "b"))

    assert run.code == 6
    assert desk.case(kept)["state"] == "open"
    assert not (tmp_path / "b").exists()


def test_without_a_backup_nothing_is_discarded(desk: Desk, tmp_path: Path) -> None:
    kept = letter()
    desk.stored(kept, told=True)

    run = ran("dead", "discard", kept.case_id, "--backup", str(tmp_path / "no" / "folder"), "--yes")

    assert run.code == 5
    assert desk.case(kept)["data"] == kept.data
    assert ran("dead", "discard", "--yes").code == 5


@pytest.mark.slow
def test_while_tell_is_down_nothing_is_discarded(desk: Desk, tmp_path: Path) -> None:
    kept, told = letter(), letter()
    desk.stored(kept)
    desk.stored(told, told=True)

    run = ran("dead", "discard", "--step", "answer", "--backup", str(tmp_path / "b"), "--yes")

    assert run.code == 1
    assert f"{reference(kept.question_id)}  not discarded: the asker could not be told" in run.out
    assert (desk.case(kept)["state"], desk.case(told)["state"]) == ("open", "discarded")


def test_a_letter_that_comes_late_does_not_open_a_discarded_case(desk: Desk, tmp_path: Path) -> None:
    sent = envelope(search_query="VPN", contexts=())
    kept = letter(sent)
    desk.stored(kept, told=True)
    ran("dead", "discard", kept.case_id, "--backup", str(tmp_path / "b"), "--yes")

    desk.stored(letter(sent))

    assert (desk.case(kept)["state"], desk.case(kept)["copies"]) == ("discarded", 2)


def test_watch_shows_the_counts_by_group_as_they_change(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept)
    change = threading.Timer(0.6, lambda: desk.document(kept).update({"state": "archived"}))
    change.start()

    said = ran("dead", "watch", "--every", "1s", "--for", "3s").out
    change.join()

    assert said.index("1 open") < said.index("1 archived")
    assert "1 × answer  gemini_unavailable" in said
    assert "no dead letters" not in said


def test_watch_goes_on_when_the_store_is_away_for_a_moment(desk: Desk, faults: Faults) -> None:
    desk.stored(letter())
    threading.Timer(0.5, lambda: faults.switch_on("firestore-down")).start()
    threading.Timer(1.8, faults.switch_off).start()

    run = ran("dead", "watch", "--every", "0s", "--for", "4s")

    assert run.code == 0
    assert run.out.rindex("does not answer") < run.out.rindex("1 open")
    assert 3 <= run.out.count("1 open") <= 5  # not more often than once a second
    assert ran("dead", "watch", "--for", "0s").out.count("1 open") == 1


def test_the_audit_tells_who_did_what_to_which_and_why(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = letter()
    desk.stored(kept)
    monkeypatch.setenv("OPERATOR", "maria")
    ran(
        "dead",
        "replay",
        kept.case_id,
        "--wait",
        "0",
        "--reason",
        "quota\x1b[2J raised",
        "--name",
        "incident-7",
    )

    listed, [operation] = ran("audit"), ran("audit", "--json").json
    one = ran("audit", operation["name"])

    assert operation["name"].startswith("incident-7-")
    assert "by maria" in listed.out
    assert "1 replayed, 1 of them under way; finished" in listed.out
    assert "reason: quota?[2J raised" in listed.out
    assert f"selected: {kept.case_id}" in listed.out
    assert f"{reference(kept.question_id)}  replayed" in one.out
    [entry] = ran("audit", operation["name"], "--json").json["messages"]
    assert (entry["question_id"], entry["outcome"]) == (kept.question_id, "replayed")


@pytest.mark.parametrize("name", ["none", "a/b", "a/b/c", "../x"])
def test_an_unknown_operation_is_said_to_be_unknown(desk: Desk, name: str) -> None:
    run = ran("audit", name)

    assert run.code == 4
    assert "There is no operation" in run.err


def test_the_names_of_operations_are_checked(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept)

    for name in ("a b", "é", "x" * 61, "-", "a_b"):
        assert ran("dead", "replay", kept.case_id, "--name", name).code == 5
    assert desk.case(kept)["state"] == "open"


@pytest.mark.slow
def test_json_is_alone_on_standard_output_of_a_real_process(desk: Desk) -> None:
    desk.stored(letter())

    run = finished(started("dead", "list", "--json", environment={"PYTHONIOENCODING": "ascii"}))

    assert len(json.loads(run.out)) == 1
    assert (run.code, run.err) == (0, "")
