"""`dead show`: everything about one dead letter, but what people wrote."""

import json
import shlex
from datetime import UTC, datetime

import pytest

from ops.reconcile import letter_from_pull
from shared.memory.failures import Failures
from shared.messages.dead_letter import reference
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from tests.support.factories import context, envelope, question, turn
from tests.support.operating import Desk, letter, ran

pytest_plugins = ["tests.support.ops_fixtures"]

SECRET = "My password is hunter2"
WAY = "ingest@1764500581+0.2 reformulate@1764500582+0.4 retrieve@1764500583+12.5"


def test_the_error_and_the_stack_are_shown_also_when_pub_sub_forwarded_it(desk: Desk) -> None:
    kept = letter()
    Failures(desk.firestore).record(
        kept.question_id,
        "reformulate",
        Permanent("gemini_blocked", "SAFETY"),
        ["Permanent at c.py:9 g"],
        Deadline(5),
    )
    desk.stored(kept)

    said = ran("dead", "show", reference(kept.question_id)).out

    assert "Failed in answer: gemini_unavailable: 503 ServerError (1 times" in said
    assert "ValueError at a.py:1 f" in said
    assert "Failed in reformulate: gemini_blocked: SAFETY" in said
    assert "the process died" not in said


def test_a_killed_process_is_shown_as_what_it_is_with_the_log_query(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept, failed=False, attempts=5)

    said = ran("dead", "show", kept.case_id).out

    assert "No failure record: the process died in step answer after 5 deliveries" in said
    [line] = [line for line in said.splitlines() if "gcloud logging read" in line]
    words = shlex.split(line)
    query = words[3]
    assert words[:3] == ["gcloud", "logging", "read"]
    assert words[4:6] == ["--project", "threadwise-local"]
    assert f'jsonPayload.question="{kept.question_id}"' in query
    assert 'resource.labels.service_name:"answer"' in query
    assert 'resource.type="cloud_run_revision"' in query
    assert 'timestamp>="20' in query


def test_the_log_query_of_a_hostile_id_is_still_one_command(desk: Desk) -> None:
    name = "spaces/A/messages/x';touch${IFS}owned;'\"$(id)"
    kept = letter(envelope(question=question(id=name)))
    desk.stored(kept)

    [line] = [line for line in ran("dead", "show", name).out.splitlines() if "gcloud logging" in line]

    words = shlex.split(line)
    assert len(words) == 8
    assert f"jsonPayload.question={json.dumps(name)} OR" in words[3]


def test_the_way_it_took_has_a_time_for_each_step(desk: Desk) -> None:
    kept = letter(way=WAY)
    desk.stored(kept)

    said = ran("dead", "show", kept.case_id).out

    assert "reformulate  passed it on after 0.4 s" in said
    assert "retrieve     passed it on after 12.5 s" in said
    assert "answer       failed" in said
    assert "tell         kept it as a dead letter" in said
    way = ran("dead", "show", kept.case_id, "--json").json["way"]
    assert [stop["step"] for stop in way if stop["what"] == "passed it on"] == [
        "ingest",
        "reformulate",
        "retrieve",
    ]


def test_what_people_wrote_is_only_shown_when_asked_for(desk: Desk) -> None:
    sent = envelope(
        question=question(text=SECRET),
        history=(turn("user", SECRET), turn("assistant", SECRET)),
        search_query=SECRET,
        contexts=(context(text=SECRET),),
    )
    kept = letter(sent)
    desk.stored(kept)

    for options in ([], ["--json"]):
        said = ran("dead", "show", kept.case_id, *options).said

        assert "hunter2" not in said
        assert f"({len(SECRET)} characters)" in said
        assert "hunter2" in ran("dead", "show", kept.case_id, "--with-text", *options).out
    for command in (["list"], ["list", "--json"], ["groups"], ["replay", "--all", "--dry-run"]):
        assert "hunter2" not in ran("dead", *command).said


@pytest.mark.parametrize(
    "data",
    [
        SECRET.encode(),
        json.dumps({"question": SECRET}).encode(),
        json.dumps({"question": {"note": SECRET}, "odd": [SECRET]}).encode(),
        json.dumps([SECRET]).encode(),
        b"\xff\xfe" + SECRET.encode(),
    ],
)
def test_nor_is_what_somebody_else_has_sent(desk: Desk, data: bytes) -> None:
    kept = letter_from_pull({}, data, "1")
    desk.stored(kept)

    assert "hunter2" not in ran("dead", "show", kept.case_id).said
    assert "hunter2" in ran("dead", "show", kept.case_id, "--with-text").out


def test_data_cannot_drive_the_terminal(desk: Desk) -> None:
    kept = letter_from_pull({}, b"\x1b[2J \x9b31m \xc2\x9b31m \x07", "1")
    desk.stored(kept)
    lone = letter_from_pull({}, b'{"question": {"text": "\\ud800 \\u001b[2J \\u202e"}}', "2")
    desk.stored(lone)

    for case in (kept, lone):
        run = ran("dead", "show", case.case_id, "--with-text")

        assert run.code == 0, run.err
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(run.out)


def test_what_operators_did_is_part_of_it(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept)
    ran("dead", "archive", kept.case_id, "--reason", "asked again")

    said = ran("dead", "show", kept.case_id).out

    assert "archive → archived" in said
    assert "archived  (case" in said


@pytest.mark.parametrize(
    "name", ["TW-00000000", "spaces/A/messages/B", "..", "__x__", "x" * 2000, " ", "TW-", "\x1b[2J"]
)
def test_an_unknown_letter_is_said_to_be_unknown(desk: Desk, name: str) -> None:
    run = ran("dead", "show", name)

    assert run.code == 4
    assert "case" in run.err
    assert "`dead list --state any` lists all cases" in run.err


def test_a_case_that_was_answered_says_when(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept, answered_at=datetime.now(UTC), told=True)

    said = ran("dead", "show", document_id(kept.question_id)).out

    assert "answered  (case" in said
    assert "has been told" in said
    assert "answer       answered" in said
