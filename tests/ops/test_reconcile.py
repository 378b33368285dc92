"""`dead reconcile`: what the backup holds and `tell` has not kept is kept, and only then acknowledged."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.api_core.exceptions import ServiceUnavailable
from google.cloud.pubsub_v1 import SubscriberClient

from local.places import PROJECT
from local.runner.connect import topic_path
from local.stand_ins.faults import Faults
from ops.reconcile import letter_from_pull, reconcile
from ops.store import Store
from ops.world import World
from shared.memory.failures import Failures
from shared.messages.dead_letter import DeadLetter
from shared.runtime.cloudevent import Message
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from shared.runtime.outbox import Outbox
from tests.conftest import Inbox, SmallCloud
from tests.support.factories import envelope
from tests.support.operating import Desk, letter, ran

pytest_plugins = ["tests.support.ops_fixtures"]


@pytest.fixture
def backup(small_cloud: SmallCloud) -> Iterator[Inbox]:
    """The backup subscription, empty."""
    client = SubscriberClient()
    path = client.subscription_path(PROJECT, "dead-letters-backup")
    client.create_subscription(name=path, topic=topic_path("dead-letters"), ack_deadline_seconds=10)
    yield Inbox(client, path)
    client.delete_subscription(subscription=path)


def publish(outbox: Outbox, *letters: DeadLetter) -> None:
    """As dead letters."""
    for each in letters:
        outbox.send("dead-letters", Message(each.data, each.attributes), Deadline(5))


def test_what_is_not_kept_yet_is_kept_and_acknowledged(desk: Desk, backup: Inbox, outbox: Outbox) -> None:
    sent = envelope(search_query="VPN", contexts=())
    kept = [letter() for _ in range(5)]
    publish(outbox, *kept, letter(sent), letter(sent))

    run = ran("dead", "reconcile", "--reason", "tell was down")

    assert run.code == 0
    assert "7 read, 7 newly stored, 0 left" in run.err
    assert [desk.case(each)["data"] for each in kept] == [each.data for each in kept]
    assert {desk.case(each)["attributes"]["ce-id"] for each in kept} == {
        each.attributes["ce-id"] for each in kept
    }
    assert desk.case(letter(sent))["copies"] == 2
    assert backup.is_empty()
    [operation] = desk.audited()
    assert (operation["note"], operation["counts"]) == ("tell was down", {"read": 7, "stored": 7, "left": 0})
    assert "0 read, 0 newly stored, 0 left" in ran("dead", "reconcile").err


def test_it_knows_why_a_step_failed(desk: Desk, backup: Inbox, outbox: Outbox) -> None:
    kept = letter()
    desk.stored(kept)  # leaves a failure record
    desk.document(kept).delete()
    publish(outbox, kept)

    ran("dead", "reconcile")

    assert desk.case(kept)["error"] == "gemini_unavailable: 503 ServerError"


def test_a_damaged_case_is_made_whole_and_a_sound_one_is_left_as_it_is(
    desk: Desk, backup: Inbox, outbox: Outbox, inbox: Any
) -> None:
    ids, sound, damaged = inbox("dead-letters"), letter(), letter()
    publish(outbox, sound, damaged)
    for message in ids.messages(2):
        desk.stored(letter_from_pull(message.attributes, message.data, message.message_id))
    before = desk.case(sound)
    desk.document(damaged).update({"data": 5, "message_ids": 7, "told": "yes"})

    assert "2 read, 1 newly stored, 0 left" in ran("dead", "reconcile").err

    assert desk.case(damaged)["data"] == damaged.data
    assert desk.case(sound) == before


class Refusing(Failures):
    """Failure records of which one question's cannot be read."""

    refused = ""

    def reference(self, question_id: str, step: str) -> Any:
        """Find it, or fail."""
        if question_id == self.refused:
            raise Permanent("firestore_refused", "403 PermissionDenied")
        return super().reference(question_id, step)


def test_what_cannot_be_kept_stays_in_the_backup(desk: Desk, backup: Inbox, outbox: Outbox) -> None:
    kept, refused = letter(), letter()
    publish(outbox, kept, refused, letter_from_pull({}, b"hello", "1"))
    world = World()
    world.__dict__["failures"] = failures = Refusing(desk.firestore)
    failures.refused = refused.question_id

    done = reconcile(world, lambda _: None, lease=1)

    assert (done.read, done.stored) == (3, 2)
    assert [said.split(":")[0] for said in done.left] == [refused.case_id]
    assert desk.case(kept)["data"] == kept.data
    assert desk.case(refused) == {}
    assert backup.messages()[0].data == refused.data
    assert backup.is_empty()


def test_what_is_left_is_said_and_has_an_exit_code(desk: Desk, backup: Inbox, outbox: Outbox) -> None:
    refused = letter()
    publish(outbox, refused)
    world = World()
    world.__dict__["failures"] = failures = Refusing(desk.firestore)
    failures.refused = refused.question_id

    run = ran("dead", "reconcile", world=world)

    assert run.code == 1
    assert "1 read, 0 newly stored, 1 left" in run.err
    assert f"still in the backup: {refused.case_id}: firestore_refused" in run.err


def test_while_the_store_is_down_nothing_leaves_the_backup(
    desk: Desk, backup: Inbox, outbox: Outbox, faults: Faults
) -> None:
    kept = letter()
    publish(outbox, kept)
    faults.switch_on("firestore-down")
    with pytest.raises(ServiceUnavailable):
        reconcile(World(), lambda _: None, lease=1)
    faults.switch_off()

    assert backup.messages()[0].data == kept.data


class Killed(BaseException):
    """Nothing of ours runs after it."""


class LastWords(Store):
    """A store whose process dies at the second look into it."""

    looks = 0

    def whole(self, case_ids: list[str]) -> Any:
        """Look, or die."""
        self.looks += 1
        if self.looks == 2:
            raise Killed
        return super().whole(case_ids)


def test_killed_in_the_middle_it_loses_nothing(
    desk: Desk, backup: Inbox, outbox: Outbox, faults: Faults
) -> None:
    kept = [letter() for _ in range(250)]
    publish(outbox, *kept)
    world = World()
    world.__dict__["store"] = LastWords(desk.firestore)

    with pytest.raises(Killed):
        reconcile(world, lambda _: None, lease=1)
    in_store = sum(1 for _ in desk.firestore.collection("dead_letters").stream())
    left = backup.messages(50)  # after their lease of a second

    assert in_store == 200
    assert len(left) == 50
    stored = {each.id for each in desk.firestore.collection("dead_letters").stream()}
    taken = {letter_from_pull(each.attributes, each.data, each.message_id).case_id for each in left}
    assert stored | taken == {each.case_id for each in kept}


@pytest.mark.slow
def test_messages_do_not_come_again_while_the_store_is_slow(
    desk: Desk, backup: Inbox, outbox: Outbox, faults: Faults
) -> None:
    kept = [letter() for _ in range(3)]
    publish(outbox, *kept)
    faults.switch_on("firestore-slow", seconds=2.5)

    done = reconcile(World(), lambda _: None, lease=2)

    assert (done.read, done.stored, done.left) == (3, 3, [])
    assert {desk.case(each)["copies"] for each in kept} == {1}


def test_without_the_subscription_it_says_which_project_was_looked_at(desk: Desk) -> None:
    run = ran("dead", "reconcile")

    assert run.code == 4
    assert (
        "There is no such topic, subscription or database in Pub/Sub of project threadwise-local" in run.err
    )
    assert "Choose another one with --project, --database and --prefix" in run.err


def test_a_prefix_is_part_of_the_name(desk: Desk) -> None:
    assert "staging-dead-letters-backup" in ran("--prefix", "staging", "dead", "reconcile").err
