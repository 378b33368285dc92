"""`dead replay`: to the step it came from, as it was, with a word for every message."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from ops.reconcile import letter_from_pull
from shared.messages.dead_letter import reference
from shared.messages.envelope import Envelope
from shared.runtime.cloudevent import REPLAY_COUNT, REPLAY_NAME, derived_id
from tests.support import remembering
from tests.support.factories import context, envelope, question
from tests.support.operating import Desk, answer, hours_ago, letter, ran

pytest_plugins = ["tests.support.ops_fixtures"]

QUICK = ("--wait", "0", "--rate", "1000")
TOPICS = {"ingest": "questions", "reformulate": "queries", "retrieve": "findings"}


@pytest.mark.parametrize("sender", TOPICS)
def test_it_goes_to_the_step_it_came_from_with_all_it_had(desk: Desk, inbox: Any, sender: str) -> None:
    taken = inbox(TOPICS[sender])
    kept = letter(sender=sender, parked="gemini_blocked", way="ingest@1764500581+0.2")
    desk.stored(kept)

    run = ran("dead", "replay", reference(kept.question_id), *QUICK)

    [message] = taken.messages()
    assert message.data == kept.data
    operation = desk.audited()[-1]["name"]
    assert dict(message.attributes) == {**kept.attributes, REPLAY_COUNT: "1", REPLAY_NAME: operation}
    assert message.attributes["ce-id"] == derived_id(kept.question_id, sender)
    assert not any("_" in name or name.startswith("dead-letter") for name in message.attributes)
    assert f"{reference(kept.question_id)}  replayed" in run.out
    assert run.code == 0
    assert (desk.case(kept)["state"], desk.case(kept)["replays"]) == ("replayed", 1)


def test_it_can_begin_again_earlier(desk: Desk, inbox: Any) -> None:
    taken = inbox("queries")
    kept = letter(envelope(search_query="VPN", contexts=(context(),)))
    desk.stored(kept)

    assert ran("dead", "replay", kept.case_id, "--from", "retrieve", *QUICK).code == 0

    [message] = taken.messages()
    sent = Envelope.from_bytes(message.data)
    assert (sent.search_query, sent.contexts) == ("VPN", None)
    assert sent.question == kept.question
    assert message.attributes["ce-id"] == derived_id(kept.question_id, "reformulate")
    assert message.attributes["ce-source"] == "//threadwise/reformulate"
    assert message.attributes[REPLAY_COUNT] == "1"


def test_but_not_later_than_where_it_died(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), letter(envelope(), sender="ingest")
    desk.stored(kept)

    run = ran("dead", "replay", kept.case_id, "--from", "answer", *QUICK)

    assert run.code == 1
    assert "failed (it died in reformulate, before it came to answer)" in run.out
    assert desk.case(kept)["state"] == "open"
    assert taken.is_empty()


def test_a_letter_that_no_step_has_sent_fails_and_says_why(desk: Desk) -> None:
    kept = letter_from_pull({}, b"hello", "1")
    desk.stored(kept)

    run = ran("dead", "replay", kept.case_id, *QUICK)

    assert run.code == 1
    assert "no step of ours has sent it" in run.out


def test_a_dry_run_changes_nothing(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), [letter(), letter()]
    before = [desk.stored(each) for each in kept]

    run = ran("dead", "replay", "--all", "--dry-run")

    assert "expected: replayed" in run.out
    assert "Expected result: 2 replayed. Nothing was done (--dry-run)." in run.err
    assert [desk.case(each) for each in kept] == before
    assert taken.is_empty()
    assert desk.audited() == []
    assert len(ran("dead", "replay", "--all", "--dry-run", "--json").json) == 2


def test_a_canary_takes_the_oldest(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), [letter() for _ in range(4)]
    for number, each in enumerate(kept):
        desk.stored(each, last_at=hours_ago(number))

    ran("dead", "replay", "--all", "--limit", "2", "--yes", *QUICK)

    assert {message.data for message in taken.messages(2)} == {kept[2].data, kept[3].data}
    assert taken.is_empty()
    assert [desk.case(each)["state"] for each in kept] == ["open", "open", "replayed", "replayed"]


def test_a_canary_is_not_used_up_by_what_is_too_old_anyway(desk: Desk, inbox: Any) -> None:
    taken, stale, fresh = (
        inbox("findings"),
        letter(envelope(question=question(asked_at=hours_ago(50)))),
        letter(),
    )
    desk.stored(stale, last_at=hours_ago(49))
    desk.stored(fresh)

    run = ran("dead", "replay", "--all", "--limit", "1", *QUICK)

    assert taken.messages()[0].data == fresh.data
    assert run.code == 0


def test_the_rate_is_kept(desk: Desk) -> None:
    for _ in range(4):
        desk.stored(letter())
    started = time.monotonic()

    ran("dead", "replay", "--all", "--yes", "--rate", "4", "--wait", "0")

    assert time.monotonic() - started >= 0.75
    for option in ("--rate", "--stop-at", "--wait"):
        assert ran("dead", "replay", "--all", "--yes", option, "nan").code == 2


def test_what_is_stale_or_answered_is_skipped_unless_told(desk: Desk, inbox: Any) -> None:
    taken = inbox("findings")
    stale, done = letter(envelope(question=question(asked_at=hours_ago(25)))), letter()
    desk.stored(stale)
    desk.stored(done)
    answer(desk, done)

    run = ran("dead", "replay", "--all", "--yes", *QUICK)

    assert f"{reference(stale.question_id)}  stale – skipped" in run.out
    assert reference(done.question_id) not in run.out  # its answer has closed the case
    assert taken.is_empty()
    assert desk.case(stale)["state"] == "open"

    assert "replayed" in ran("dead", "replay", stale.case_id, "--include-stale", *QUICK).out
    assert taken.messages()[0].data == stale.data
    assert "replayed" in ran("dead", "replay", done.case_id, "--include-answered", *QUICK).out
    assert taken.messages()[0].data == done.data


def test_the_age_limit_is_a_setting(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.stored(letter(envelope(question=question(asked_at=hours_ago(2)))))
    monkeypatch.setenv("STALE_HOURS", "1")

    assert "1 stale – skipped" in ran("dead", "replay", "--all", "--dry-run").err


def test_what_was_answered_meanwhile_is_no_dead_letter_any_more(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept)
    remembering.close_case(desk.firestore, kept.question_id)

    assert ran("dead", "list", "--json").json == []
    assert "No dead letters match" in ran("dead", "replay", "--all", *QUICK).err


def test_archived_and_discarded_ones_are_never_touched(desk: Desk, inbox: Any) -> None:
    taken = inbox("findings")
    for state in ("archived", "discarded"):
        desk.stored(letter(), state=state)
    answered_and_archived = letter()
    desk.stored(answered_and_archived, state="archived", answered_at=datetime.now(UTC))

    for options in (["--all"], ["--all", "--state", "any"], ["--all", "--include-answered"]):
        ran("dead", "replay", *options, "--yes", *QUICK)

    assert taken.is_empty()
    assert desk.case(answered_and_archived)["state"] == "archived"


def test_more_than_one_is_only_replayed_when_somebody_says_yes(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), [letter(), letter()]
    for each in kept:
        desk.stored(each)

    run = ran("dead", "replay", "--all")  # no terminal here

    assert run.code == 6
    assert "Replay 2 dead letters" in run.err
    assert "pass --yes to confirm" in run.err
    assert taken.is_empty()


@pytest.mark.parametrize(
    "filters", [[], ["--error", ""], ["--in", ""], [""], ["--group", ""], ["--step", ""]]
)
def test_nothing_is_replayed_by_a_filter_that_was_left_empty(
    desk: Desk, inbox: Any, filters: list[str]
) -> None:
    taken = inbox("findings")
    desk.stored(letter())

    run = ran("dead", "replay", *filters, "--yes", *QUICK)

    assert run.code == 5
    assert "Nothing was done" in run.err
    assert taken.is_empty()


def test_the_outcome_of_each_message_is_json_for_scripts(desk: Desk) -> None:
    kept, stale = letter(), letter(envelope(question=question(asked_at=hours_ago(25))))
    desk.stored(kept)
    desk.stored(stale)

    said = ran("dead", "replay", "--all", "--yes", "--json", *QUICK).json

    outcomes = {each["question_id"]: (each["outcome"], each["end"]) for each in said["messages"]}
    assert outcomes[kept.question_id] == ("replayed", "under way")
    assert outcomes[stale.question_id] == ("stale – skipped", "")
    assert ran("dead", "replay", "--step", "retrieve", "--json").json["messages"] == []
