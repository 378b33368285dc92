"""A replay may be stopped, killed, run twice or by two people: nothing is lost, and nothing sent in vain."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from ops.reconcile import letter_from_pull
from ops.replay import CLAIM
from ops.world import World
from shared.memory.cases import Cases
from shared.runtime.cloudevent import REPLAY_COUNT, Message
from shared.runtime.deadline import Deadline
from shared.runtime.outbox import Outbox
from tests.support.factories import envelope
from tests.support.operating import Desk, answer, coming_back, finished, letter, ran, started

pytest_plugins = ["tests.support.ops_fixtures"]

QUICK = ("--wait", "0", "--rate", "1000")


class Killed(BaseException):
    """Nothing of ours runs after it."""


class LastWords(Outbox):
    """An outbox whose process dies when the message of its `deadly`-th sending is published."""

    def __init__(self, real: Outbox, deadly: int = 1, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._real, self._left, self._meanwhile = real, deadly, meanwhile

    def send(self, topic: str, message: Message, deadline: Deadline) -> str:
        """Publish, and perhaps die."""
        message_id = self._real.send(topic, message, deadline)
        self._meanwhile()
        self._left -= 1
        if not self._left:
            raise Killed
        return message_id


def doomed(outbox: Outbox, **options: Any) -> World:
    """A world in which the command dies between publishing and noting it."""
    world = World()
    world.__dict__["outbox"] = LastWords(outbox, **options)
    return world


def killed(*arguments: str, world: World) -> None:
    """Run a command that dies."""
    with pytest.raises(Killed):
        ran(*arguments, world=world)


def claims_have_run_out(desk: Desk) -> None:
    """As after the claims' time."""
    for document in desk.firestore.collection("dead_letters").stream():
        document.reference.update({"claim": None})


def test_killed_between_sending_and_noting_it_is_sent_again_as_the_same(
    desk: Desk, inbox: Any, outbox: Outbox
) -> None:
    taken, kept = inbox("findings"), letter()
    desk.stored(kept)

    killed("dead", "replay", kept.case_id, *QUICK, world=doomed(outbox))
    assert desk.case(kept)["state"] == "open"
    claims_have_run_out(desk)
    run = ran("dead", "replay", kept.case_id, *QUICK)

    first, second = taken.messages(2)
    assert first.attributes["ce-id"] == second.attributes["ce-id"]
    assert first.attributes[REPLAY_COUNT] == second.attributes[REPLAY_COUNT] == "1"
    assert run.code == 0
    assert (desk.case(kept)["state"], desk.case(kept)["replays"]) == ("replayed", 1)
    cut, whole = desk.audited()
    assert (cut["finished_at"], cut["messages"][0]["outcome"]) == (None, "being sent")
    assert whole["messages"][0]["outcome"] == "replayed"
    assert "1 being sent; not finished: interrupted" in ran("audit").out


@pytest.mark.slow
def test_the_next_run_waits_for_the_claim_of_one_that_was_killed(
    desk: Desk, inbox: Any, outbox: Outbox
) -> None:
    taken, kept = inbox("findings"), [letter() for _ in range(3)]
    for each in kept:
        desk.stored(each)

    killed("dead", "replay", "--all", "--yes", *QUICK, world=doomed(outbox, deadly=2))
    started_at = time.monotonic()
    run = ran("dead", "replay", "--all", "--yes", *QUICK)

    assert run.code == 0
    assert "2 replayed" in run.err
    assert time.monotonic() - started_at < 2 * CLAIM.total_seconds()
    assert {desk.case(each)["state"] for each in kept} == {"replayed"}
    assert len(taken.messages(4)) == 4  # the one in doubt twice: the pipeline answers it once


def test_killed_and_answered_meanwhile_it_is_not_sent_again(desk: Desk, inbox: Any, outbox: Outbox) -> None:
    taken, kept = inbox("findings"), letter()
    desk.stored(kept)

    killed("dead", "replay", kept.case_id, *QUICK, world=doomed(outbox, meanwhile=lambda: answer(desk, kept)))
    run = ran("dead", "replay", kept.case_id, *QUICK)

    assert "already answered – skipped" in run.out
    assert len(taken.messages()) == 1
    assert taken.is_empty()


def test_what_has_come_back_before_it_was_recorded_is_open_and_counted(desk: Desk, outbox: Outbox) -> None:
    kept = letter()
    desk.stored(kept)

    def come_back() -> None:
        back = letter_from_pull({**kept.attributes, REPLAY_COUNT: "1"}, kept.data, "back")
        Cases(desk.firestore).store(back, None, Deadline(5))

    world = doomed(outbox, deadly=0, meanwhile=come_back)
    ran("dead", "replay", kept.case_id, *QUICK, world=world)

    case = desk.case(kept)
    assert (case["state"], case["replays"], case["returned"]) == ("open", 1, 1)


def test_the_same_replay_twice_sends_once(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), letter()
    desk.stored(kept)

    ran("dead", "replay", "--all", *QUICK)
    again, named = ran("dead", "replay", "--all", *QUICK), ran("dead", "replay", kept.case_id, *QUICK)

    assert "No dead letters match" in again.err
    assert named.code == 0
    assert "no longer open – skipped (it is replayed)" in named.out
    assert len(taken.messages()) == 1
    assert taken.is_empty()


def test_a_replay_of_named_cases_goes_on_when_it_is_run_again(desk: Desk, inbox: Any) -> None:
    taken, done, left = inbox("findings"), letter(), letter()
    for each in (done, left):
        desk.stored(each)
    answer(desk, done)

    again = ran("dead", "replay", done.case_id, left.case_id, "--yes", *QUICK)

    assert again.code == 0
    assert "already answered – skipped" in again.out
    assert len(taken.messages()) == 1


@pytest.mark.slow
def test_two_operators_at_once_send_each_message_once(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), [letter() for _ in range(20)]
    for each in kept:
        desk.stored(each)

    command = ("dead", "replay", "--all", "--yes", "--json", *QUICK)
    runs = [finished(each) for each in [started(*command), started(*command)]]

    outcomes = [each["outcome"] for run in runs for each in run.json["messages"]]
    assert outcomes.count("replayed") == 20
    assert {desk.case(each)["state"] for each in kept} == {"replayed"}
    assert {message.data for message in taken.messages(20)} == {each.data for each in kept}
    assert taken.is_empty()


def test_copies_of_a_dead_letter_are_one_row_and_one_replay(desk: Desk, inbox: Any) -> None:
    taken, sent = inbox("findings"), envelope(search_query="VPN", contexts=())
    for _ in range(3):
        desk.stored(letter(sent))

    assert len(ran("dead", "list", "--json").json) == 1
    assert "copies of the dead letter 3" in ran("dead", "show", sent.question.id).out
    ran("dead", "replay", "--all", *QUICK)
    assert len(taken.messages()) == 1
    assert taken.is_empty()


@pytest.mark.slow
def test_it_stops_when_too_many_come_back(desk: Desk) -> None:
    kept = [letter() for _ in range(30)]
    for each in kept:
        desk.stored(each)

    with coming_back(desk, kept):
        run = ran("dead", "replay", "--all", "--yes", "--rate", "4", "--wait", "1", "--stop-at", "0.2")

    assert run.code == 3
    assert "STOPPED: too many came back" in run.err
    assert "replayed, came back" in run.out
    assert sum(desk.case(each)["replays"] for each in kept) < 30


@pytest.mark.slow
def test_a_canary_that_comes_back_has_an_exit_code_of_its_own(desk: Desk) -> None:
    kept = [letter() for _ in range(3)]
    for each in kept:
        desk.stored(each)

    with coming_back(desk, kept):
        run = ran("dead", "replay", "--all", "--yes", "--limit", "3", "--rate", "1000", "--wait", "20")

    assert run.code == 3
    assert "3 came back" in run.err


def test_it_stops_when_nothing_can_be_sent(desk: Desk) -> None:
    kept = [letter() for _ in range(10)]
    for each in kept:
        desk.stored(each)

    world = World()
    world.__dict__["outbox"] = Outbox(World().outbox._client, "another-project")
    run = ran("dead", "replay", "--all", "--yes", *QUICK, world=world)

    assert run.code == 4
    assert "There is no such topic" in run.err
    assert run.out.count("failed (pubsub_refused: 404 NotFound)") == 3
    assert {desk.case(each)["state"] for each in kept} == {"open"}
    assert {desk.case(each).get("claim") for each in kept} == {None}


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(desk: Desk) -> None:
    kept = [letter() for _ in range(5)]
    for each in kept:
        desk.stored(each)

    process = started("dead", "replay", "--all", "--yes", "--rate", "0.5", "--wait", "0")
    while not any(desk.case(each)["replays"] for each in kept):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    run = finished(process)

    assert run.code == 130
    assert "Run the same command again to continue" in run.err
    assert "Traceback" not in run.err
    assert desk.audited()[0]["finished_at"] is None


def test_a_case_that_another_operator_has_just_discarded_stays_discarded(desk: Desk, outbox: Outbox) -> None:
    kept = letter()
    desk.stored(kept)

    world = doomed(outbox, deadly=0, meanwhile=lambda: desk.document(kept).update({"state": "discarded"}))
    ran("dead", "replay", kept.case_id, *QUICK, world=world)

    assert desk.case(kept)["state"] == "discarded"
