"""`dead edit`, `archive`, `restore`, `export` and `import`."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from ops.reconcile import letter_from_pull
from shared.messages.dead_letter import reference
from shared.messages.envelope import Envelope
from tests.support.factories import context, envelope, question
from tests.support.operating import Desk, answer, letter, ran

pytest_plugins = ["tests.support.ops_fixtures"]

QUICK = ("--wait", "0", "--rate", "1000")


def test_an_edit_is_shown_sent_and_recorded_with_what_it_was(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), letter(envelope(search_query="VPN", contexts=(context(),)))
    desk.stored(kept)

    run = ran(
        "dead", "edit", kept.case_id, "--set", "question.language=ja", "--yes", "--reason", "was Japanese"
    )

    [message] = taken.messages()
    assert Envelope.from_bytes(message.data).question.language == "ja"
    assert message.attributes["replay-count"] == "1"
    assert '-    "language": "en",' in run.out
    assert '+    "language": "ja",' in run.out
    case = desk.case(kept)
    [edit] = case["edits"]
    assert (edit["before"], edit["after"]) == (kept.data, message.data)
    assert (case["data"], case["state"]) == (message.data, "replayed")
    [operation] = desk.audited()
    assert (operation["action"], operation["note"], operation["counts"]) == (
        "edit",
        "was Japanese",
        {"replayed": 1},
    )
    assert "question.language" in operation["selection"]


def test_an_edited_text_is_not_shown_unless_asked_for(desk: Desk) -> None:
    kept = letter(envelope(search_query="secret words", contexts=()))
    desk.stored(kept)
    change = ("dead", "edit", kept.case_id, "--set", "search_query=other words!")

    assert "secret" not in ran(*change).said
    assert '-  "search_query": "secret words"' in ran(*change, "--with-text").out


@pytest.mark.parametrize(
    ("assignments", "said"),
    [
        ([], "What should change?"),
        (["question.language"], "has no `=`"),
        (["question.language=klingon"], "would not be accepted"),
        (["nonsense=1"], "would not be accepted"),
        (["version=99"], "would not be accepted"),
        (["question.id=spaces/A/messages/B"], "question.id cannot be changed"),
        (["question.thread=spaces/A/threads/B"], "question.thread cannot be changed"),
        (["trace=x"], "trace cannot be changed"),
        (["history.0.text=x"], "no history.0 in which text could be set"),
        (["question.language=en"], "changes nothing"),
        (["=x"], "would not be accepted"),
        ([f"search_query={'[' * 100_000}"], "no terminal"),
    ],
)
def test_a_wrong_edit_changes_nothing(desk: Desk, inbox: Any, assignments: list[str], said: str) -> None:
    taken, kept = inbox("findings"), letter()
    before = desk.stored(kept)

    run = ran("dead", "edit", kept.case_id, *(word for each in assignments for word in ("--set", each)))

    assert run.code in {5, 6}
    assert said in run.err or run.code == 6
    assert desk.case(kept) == before
    assert desk.audited() == []
    assert taken.is_empty()


def test_what_a_question_is_known_by_cannot_be_changed_with_its_parent_either(desk: Desk) -> None:
    kept, other = letter(), question()
    desk.stored(kept)

    run = ran("dead", "edit", kept.case_id, "--set", f"question={other.model_dump_json()}", "--yes")

    assert run.code == 5
    assert "cannot be changed" in run.err


def test_a_number_can_be_a_search_query(desk: Desk, inbox: Any) -> None:
    taken, kept = inbox("findings"), letter()
    desk.stored(kept)

    assert ran("dead", "edit", kept.case_id, "--set", "search_query=2026", "--yes").code == 0

    assert Envelope.from_bytes(taken.messages()[0].data).search_query == "2026"


def test_what_is_answered_or_was_sent_is_not_edited(desk: Desk) -> None:
    done, sent, foreign = letter(), letter(), letter_from_pull({}, b"hello", "1")
    for each in (done, sent, foreign):
        desk.stored(each)
    answer(desk, done)
    ran("dead", "replay", sent.case_id, *QUICK)

    for each, said in (
        (done, "already answered"),
        (sent, "no longer open"),
        (foreign, "is not a JSON object"),
    ):
        before = desk.case(each)
        run = ran("dead", "edit", each.case_id, "--set", "search_query=x", "--yes")

        assert run.code in {4, 5}
        assert said in run.err
        assert desk.case(each)["data"] == before["data"]


def test_archived_ones_are_out_of_sight_and_come_back(desk: Desk) -> None:
    kept, other = letter(), letter(parked="gemini_blocked")
    desk.stored(kept)
    desk.stored(other)

    assert "1 archived" in ran("dead", "archive", "--reason-code", "gemini_blocked").err
    assert [each["question_id"] for each in ran("dead", "list", "--json").json] == [kept.question_id]
    assert desk.case(other)["data"] == other.data
    assert "1 open" in ran("dead", "restore", reference(other.question_id)).err
    assert len(ran("dead", "list", "--json").json) == 2
    assert [each["action"] for each in desk.audited()] == ["archive", "restore"]


def test_many_are_only_archived_when_somebody_says_yes(desk: Desk) -> None:
    for _ in range(2):
        desk.stored(letter())

    assert ran("dead", "archive", "--step", "answer").code == 6
    assert ran("dead", "archive").code == 5  # all of them: never by mistake
    assert "2 archived" in ran("dead", "archive", "--step", "answer", "--yes").err


def test_a_replay_that_got_lost_can_be_opened_again(desk: Desk) -> None:
    kept = letter()
    desk.stored(kept)
    ran("dead", "replay", kept.case_id, *QUICK)

    assert ran("dead", "restore", "--state", "replayed", kept.case_id).code == 0

    assert desk.case(kept)["state"] == "open"


def test_what_is_exported_comes_back_as_it_was(desk: Desk, tmp_path: Path) -> None:
    strange = envelope(
        question=question(text='line\u2028end \x85 日本語 "quoted"'), search_query="VPN", contexts=()
    )
    kept = [letter(strange), letter()]
    before = [desk.stored(each, error="one\u2028two\x85three") for each in kept]
    file = tmp_path / "cases.jsonl"

    assert ran("dead", "export", str(file), "--step", "answer").code == 0
    desk.clear()
    run = ran("dead", "import", str(file), "--yes", "--reason", "moved")

    assert "2 imported" in run.err
    assert [desk.case(each) for each in kept] == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.read_bytes().strip().split(b"\n")) == 2
    assert desk.audited()[0]["counts"] == {"imported": 2}
    assert "2 there already – skipped" in ran("dead", "import", str(file), "--yes").err


def test_an_export_overwrites_nothing(desk: Desk, tmp_path: Path) -> None:
    desk.stored(letter())
    file = tmp_path / "cases.jsonl"
    file.write_text("mine")

    run = ran("dead", "export", str(file))

    assert run.code == 5
    assert "File exists" in run.err
    assert file.read_text() == "mine"


CASE = {"id": "a", "fields": {"state": "open", "data": None}}


@pytest.mark.parametrize(
    "line",
    [
        "", "hello", "[]", "5", "[" * 100_000, "{}", '{"id": "a"}',
        json.dumps({**CASE, "id": "a/b"}), json.dumps({**CASE, "id": ".."}), json.dumps({**CASE, "id": ""}),
        json.dumps({"id": "a", "fields": {"state": "nonsense", "data": None}}),
        json.dumps({"id": "a", "fields": {"state": "open", "data": "text"}}),
        json.dumps({"id": "a", "fields": {"state": "open", "data": {"$bytes": "%%%"}}}),
        json.dumps({"id": "a", "fields": {"state": "open", "data": None, "at": {"$time": "yesterday"}}}),
        json.dumps({"id": "a", "fields": {"state": "open", "at": {"$time": "0001-01-01T00:00:00+14:00"}}}),
    ],
)  # fmt: skip
def test_what_is_no_export_is_not_imported(desk: Desk, tmp_path: Path, line: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE) + "\n" + line)

    run = ran("dead", "import", str(file))

    assert desk.firestore.collection("dead_letters").document("a").get().exists == (line == "")
    assert run.code == (0 if line == "" else 5)
    assert line == "" or "line 2 is not an exported dead letter. Nothing was imported." in run.err


@pytest.mark.parametrize(
    "field",
    [{"error": "x" * 1_100_000}, {"": 1}, {"__name__": 1}, {"n": {"": 1}}, {"n": 10**30}, {"s": "\ud800"}],
)
def test_what_firestore_refuses_is_named_and_the_rest_is_imported(
    desk: Desk, tmp_path: Path, field: dict[str, Any]
) -> None:
    file = tmp_path / "cases.jsonl"
    bad = {"id": "bad", "fields": {"state": "open", "data": None, **field}}
    file.write_text(json.dumps(bad) + "\n" + json.dumps(CASE))

    run = ran("dead", "import", str(file), "--yes")

    assert run.code == 1
    assert "bad was refused" in run.err
    assert "1 imported" in run.err


def test_a_file_that_is_not_there_or_no_text_is_said_to_be(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    assert "No such file" in ran("dead", "import", str(tmp_path / "none")).err
    assert "is not a text file" in ran("dead", "import", str(tmp_path / "binary")).err
    assert "cannot be written" in ran("dead", "export", str(tmp_path / "no" / "folder")).err
