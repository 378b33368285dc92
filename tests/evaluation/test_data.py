"""What the evaluation reads: public sets of questions, and our own."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.data import Unreadable, read
from evaluation.own import KINDS, read_own
from tests.support.evaluating import written

pytest_plugins = ["tests.support.evaluating"]


def test_tasks_bring_a_model_s_rewrite_and_what_can_be_answered(folder: Path) -> None:
    first, second = read(folder).tasks

    assert (first.kind, first.status, first.published) == ("follow-up", "answered", "VPN on a Mac?")
    assert first.history == (("user", "VPN?"), ("assistant", "Yes."))
    assert (second.kind, second.status, second.published) == ("first", "unanswerable", second.question)


def test_queries_bring_a_person_s_rewrite(folder: Path) -> None:
    (folder / "tasks.jsonl.gz").unlink()
    line = {"id": "1", "kind": "shift", "history": [], "question": "q", "rewrite": "r", "gold": ["mac"]}
    written(folder, "queries", [line])

    (only,) = read(folder).tasks
    assert (only.kind, only.published, only.gold_rewrite) == ("shift", None, "r")


@pytest.mark.parametrize("missing", ["tasks", "passages"])
def test_a_folder_in_another_format_is_refused_in_words(folder: Path, missing: str) -> None:
    (folder / f"{missing}.jsonl.gz").unlink()

    with pytest.raises(Unreadable, match=r"jsonl\.gz"):
        read(folder)


WHOLE = b'{"id": "a", "text": "t"}\n'


@pytest.mark.parametrize(
    "content, told",
    [
        (b"not gzip", r"passages\.jsonl\.gz is not in the expected format"),
        (gzip.compress(WHOLE * 999)[:-20], r"not in the expected format"),
        (gzip.compress(WHOLE + b'{"id": "b"'), r"passages\.jsonl\.gz, line 2 is not in the expected format"),
        (gzip.compress(WHOLE + b"\xff\n"), r"not in the expected format"),
        (gzip.compress(WHOLE + b"[]\n"), r"line 2 is not in the expected format"),
        (gzip.compress(WHOLE + b'{"id": "b"}\n'), r"line 2: the field 'text' is missing"),
        (gzip.compress(WHOLE + b'{"id": "b", "text": 1}\n'), r"line 2 .*'text' is no text"),
        (gzip.compress(b"\n"), r"no passages"),
    ],
    ids=["no gzip", "cut off", "no JSON", "no UTF-8", "no object", "field missing", "wrong type", "empty"],
)
def test_a_broken_file_is_refused_with_the_line_that_is_wrong(
    folder: Path, content: bytes, told: str
) -> None:
    (folder / "passages.jsonl.gz").write_bytes(content)

    with pytest.raises(Unreadable, match=told):
        read(folder)


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"gold": "mac"}, r"line 1 .*'gold' is no list of ids"),
        ({"gold": [1]}, r"line 1 .*'gold' is no list of ids"),
        ({"gold": None}, r"line 1 .*'gold' is no list of ids"),
        ({"question": " "}, r"line 1 .*the question is empty"),
        ({"question": "\ud800"}, r"line 1 .*surrogates not allowed"),
        ({"history": [["user"]]}, r"line 1 "),
    ],
    ids=["gold a text", "gold a number", "gold null", "nothing asked", "half a character", "half a turn"],
)
@pytest.mark.parametrize("name", ["tasks", "queries"])
def test_a_question_that_cannot_be_measured_is_refused(
    folder: Path, name: str, wrong: dict[str, Any], told: str
) -> None:
    (folder / "tasks.jsonl.gz").unlink()
    written(folder, name, [{"id": "1", "kind": "k", "history": [], "question": "q", "gold": ["mac"]} | wrong])

    with pytest.raises(Unreadable, match=told):
        read(folder)


def test_fields_that_are_not_known_are_passed_over(folder: Path) -> None:
    written(folder, "passages", [{"id": "mac", "text": "t", "domain": "x", "score": [1]}])

    assert [passage.id for passage in read(folder).passages] == ["mac"]


def test_our_own_set_is_of_both_languages_and_every_kind() -> None:
    tasks = read_own().tasks
    conversations = {t.id.split("#")[0] for t in tasks}

    assert len(conversations) >= 60
    assert {t.kind for t in tasks} == set(KINDS)
    assert len(conversations) == len([t for t in tasks if t.id.endswith("#1")])
    assert min(Counter(t.language for t in tasks).values()) >= 80
    assert {(t.apart, t.id.split("-")[0]) for t in tasks if t.apart} == {
        ("chat", "chat"),
        ("held-out", "heldout"),
    }


def test_a_quote_that_is_in_no_passage_is_refused(tmp_path: Path) -> None:
    turn = '{ q = "VPN?", kind = "first", file = "en/vpn-setup.md", quote = "The moon is a cheese." }'
    (tmp_path / "one.toml").write_text(f'[[conversation]]\nid = "one"\nturns = [{turn}]\n')

    with pytest.raises(Unreadable, match="one#1: the quote is in 0 passages"):
        read_own(tmp_path)
