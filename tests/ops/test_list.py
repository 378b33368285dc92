"""`dead list` and `dead groups`: what an operator sees first."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ops.case import Case
from shared.memory.cases import case_of
from shared.messages.dead_letter import reference
from tests.support.factories import envelope, question
from tests.support.operating import Desk, hours_ago, letter, ran

pytest_plugins = ["tests.support.ops_fixtures"]

SALES = "spaces/AAAAsalestyo"


def references(*arguments: str) -> list[str]:
    """What `dead list` selects."""
    return [case["reference"] for case in ran("dead", "list", "--json", *arguments).json]


def test_a_case_shows_what_an_operator_asks_first(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept, replays=2)

    said = ran("dead", "list").out

    for shown in (
        kept.question_id,
        reference(kept.question_id),
        "answer",
        "gemini_unavailable",
        "gemini_unavailable: 503 ServerError",
        "attempts 1",
        "replays 2",
        "not told",
        str(kept.question and kept.question.thread),
    ):
        assert shown in said


def test_pages_are_the_latest_first_and_say_what_else_there_is(desk: Desk) -> None:
    kept = [letter() for _ in range(5)]
    for number, each in enumerate(kept):
        desk.stored(each, last_at=hours_ago(number))

    first, third = ran("dead", "list", "--limit", "2"), ran("dead", "list", "--limit", "2", "--page", "3")

    assert first.out.index(kept[0].question_id) < first.out.index(kept[1].question_id)
    assert kept[2].question_id not in first.out
    assert "1–2 of 5; --page 2 shows more" in first.err
    assert kept[4].question_id in third.out
    assert "5–5 of 5" in third.err
    assert "The last page is 3" in ran("dead", "list", "--limit", "2", "--page", "9").err


def test_filters_take_what_they_say(desk: Desk) -> None:
    here, there = letter(), letter(envelope(question=question(space=SALES, asked_at=hours_ago(5))))
    other = letter(sender="reformulate", parked="rag_refused")
    for each in (here, there, other):
        desk.stored(each)
    desk.document(there).update({"error": "gemini_refused: 403 Forbidden", "answered_at": None})
    done = letter()
    desk.stored(done, answered_at=datetime.now(UTC))
    [a, b, c, d] = (reference(each.question_id) for each in (here, there, other, done))

    assert set(references()) == {a, b, c}
    assert set(references("--step", "retrieve")) == {c}
    assert (
        set(references("--reason", "rag_refused")) == set(references("--reason-code", "rag_refused")) == {c}
    )
    assert set(references("--error", "403 forb")) == {b}
    assert set(references("--in", SALES)) == {b}
    assert set(references("--in", str(here.question and here.question.thread))) == {a}
    assert set(references("--older", "2h")) == {b}
    assert set(references("--newer", "2h")) == {a, c}
    assert set(references("--state", "answered")) == {d}
    assert set(references("--state", "any")) == {a, b, c, d}
    assert set(references(a, c.lower())) == {a, c}
    assert set(references(here.question_id)) == set(references(here.case_id)) == {a}
    assert set(references("--step", "answer", "--older", "2h")) == {b}


def test_json_is_json_alone_whatever_is_in_it(desk: Desk) -> None:
    hostile = "gemini_unavailable: :warning: [red] \x1b[2J \u202e \u2028 \x9b31m"
    desk.stored(letter(), error=hostile)

    run = ran("dead", "list", "--json")

    assert run.json[0]["error"] == hostile
    assert "\x1b" not in run.said
    assert "\x9b" not in run.said
    assert ran("dead", "list", "--json", "--step", "nothing").json == []


def test_errors_cannot_drive_the_terminal(desk: Desk) -> None:
    desk.stored(letter(), error="\x1b]0;owned\x07 \x1b[2J", reason="a\nb\x1b[31m")

    for command in ("list", "groups", "watch"):
        said = ran("dead", command, *(["--for", "1s"] if command == "watch" else [])).said

        assert "owned" not in said or "\x1b" not in said
        assert not {"\x1b", "\x07"} & set(said)


def test_groups_are_one_for_one_cause_and_the_largest_comes_first(desk: Desk) -> None:
    for number in range(3):
        desk.stored(letter(), first_at=hours_ago(number), last_at=hours_ago(number))
    desk.stored(letter(parked="envelope_malformed"))

    run, [first, second] = ran("dead", "groups"), ran("dead", "groups", "--json").json

    assert (first["count"], first["step"], first["reason"]) == (3, "answer", "gemini_unavailable")
    assert first["cause"] == "503 ServerError"
    assert first["first_at"] < first["last_at"]
    assert (second["count"], second["reason"]) == (1, "envelope_malformed")
    assert "first 2 h ago" in run.out
    assert set(references("--group", first["group"])) >= {first["example"]}
    assert len(references("--group", first["group"])) == 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("at 0x7f3a", "at 0x99bc", True),
        (
            "request 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
            "request 2c8d6bcd-0123-4567-89ab-ab8dfbbd4bee",
            True,
        ),
        ("trace 0af7651916cd43dd", "trace b7ad6b7169203331", True),
        ("after 60012 ms", "after 59871 ms", True),
        ("503 ServerError", "500 ServerError", False),
        ("no contexts", "no question", False),
    ],
)
def test_what_differs_from_time_to_time_is_no_other_cause(one: str, other: str, *, same: bool) -> None:
    groups = {
        Case.read("a", {"step": "answer", "reason": "r", "error": error}).group for error in (one, other)
    }

    assert len(groups) == (1 if same else 2)


def test_80_columns_are_enough_without_colour(desk: Desk) -> None:
    long = question(
        id=f"spaces/AAAAAAAAAAA/messages/{'M' * 11}.{'M' * 11}",
        thread=f"spaces/AAAAAAAAAAA/threads/{'T' * 30}",
    )
    kept = letter(envelope(question=long))
    desk.stored(kept, reason="r" * 80, error="e" * 500, attempts=99, replays=99)

    for command in ("list", "groups"):
        lines = ran("dead", command).said.splitlines()

        assert lines
        assert max(map(len, lines)) <= 80
        assert "\x1b" not in "".join(lines)


def test_a_very_long_id_is_shown_whole(desk: Desk) -> None:
    name = f"spaces/A/messages/{'x' * 380}"
    kept = letter(envelope(question=question(id=name)))
    desk.stored(kept)

    assert name in ran("dead", "list").out
    assert name in ran("dead", "show", name).out


@pytest.mark.parametrize(
    "damage",
    [
        {"asked_at": "2026-11-30", "first_at": 5, "last_at": None},
        {"replays": "many", "attempts": 1.5, "copies": True, "returned": -1},
        {"reference": 5, "question_id": None, "thread": ["x"], "error": {"a": 1}},
        {
            "attributes": {"way": "ingest@9999999999999+0.1 ingest@9999999999+999999.9", "x": 5},
            "actions": [{}, "x"],
        },
        {"attributes": "none", "data": "text", "message_ids": 5, "reason": 5, "step": [], "told": "yes"},
    ],
)
def test_a_damaged_case_is_shown_as_far_as_it_goes(desk: Desk, damage: dict[str, Any]) -> None:
    kept, sound = letter(), letter()
    desk.stored(sound)
    desk.stored(kept, **damage)

    for command in (
        ["list"],
        ["groups"],
        ["show", kept.case_id],
        ["list", "--json"],
        ["replay", "--all", "--dry-run"],
    ):
        run = ran("dead", *command)

        assert run.code == 0, run.err
    assert sound.question_id in ran("dead", "list").out
    assert kept.case_id in ran("dead", "list", "--json").out.replace("/", "_")


def test_of_many_cases_a_page_is_shown_and_all_are_counted(desk: Desk) -> None:
    case = case_of(letter(), None, datetime.now(UTC))
    batch = desk.firestore.batch()
    for number in range(450):
        name = f"{SALES}/messages/{number}"
        fields = {**case, "question_id": name, "reference": reference(name), "asked_at": datetime.now(UTC)}
        batch.set(desk.firestore.collection("dead_letters").document(name.replace("/", "_")), fields)
    batch.commit()

    assert "1–20 of 450" in ran("dead", "list", "--step", "answer").err
    assert ran("dead", "groups", "--json").json[0]["count"] == 450
