"""`feedback list` and `feedback export`: what people think of answers, no words unless asked for."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.memory.feedback import COLLECTION
from tests.conftest import SmallCloud
from tests.support.operating import ran

SECRET = "what does my \x1b[31mpayslip say?"
SALES = "spaces/AAAAsalestyo"


@pytest.fixture(autouse=True)
def kept(small_cloud: SmallCloud, firestore: Any) -> list[str]:
    """Ratings: up, down with a reason, one of long ago, an expired one; and a foreign document."""
    for other in firestore.collection(COLLECTION).stream():
        other.reference.delete()
    now = datetime.now(UTC)
    rating = {
        "question_id": "spaces/A/messages/B",
        "space": "spaces/A",
        "thread": "spaces/A/threads/T",
        "verdict": "up",
        "reason": None,
        "question": SECRET,
        "search_query": "payslip of a person",
        "sources": ["c1", "c2"],
        "model": "gemini-3.5-flash",
        "language": "en",
        "again": 0,
        "asked_at": now,
        "at": now - timedelta(minutes=1),
        "expired_at": now + timedelta(days=90),
    }
    ratings: dict[str, dict[str, Any]] = {
        "TW-00000001": {},
        "TW-00000002": {"verdict": "down", "reason": "outdated", "space": SALES, "at": now},
        "TW-00000003": {"verdict": "down", "at": now - timedelta(days=8)},
        "TW-00000004": {"expired_at": now - timedelta(seconds=1)},
        "TW-00000005": {"verdict": 5},
    }
    for reference, differs in ratings.items():
        firestore.collection(COLLECTION).document(reference).set(
            {**rating, "reference": reference, **differs}
        )
    return list(ratings)


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], [2, 1, 3]),
        (["--verdict", "down"], [2, 3]),
        (["--reason", "outdated"], [2]),
        (["--in", SALES], [2]),
        (["--newer", "7d"], [2, 1]),
        (["--limit", "1"], [2]),
        (["--verdict", "up", "--in", SALES], []),
    ],
)
def test_ratings_are_listed_the_latest_first_by_what_is_asked_for(
    options: list[str], expected: list[int]
) -> None:
    listed = ran("feedback", "list", "--json", *options).json

    assert [each["reference"] for each in listed] == [f"TW-0000000{number}" for number in expected]


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_what_people_wrote_is_shown_only_when_it_is_asked_for_and_drives_no_terminal(how: list[str]) -> None:
    without, given = ran("feedback", "list", *how), ran("feedback", "list", "--with-text", *how)

    assert "payslip" not in without.said
    assert "payslip say?" in given.out
    assert "payslip of a person" in given.out
    assert "\x1b" not in given.said
    assert without.out.count("TW-") == 3


def test_people_read_how_many_of_each_there_are() -> None:
    assert "3 of 3: 1 up, 2 down" in ran("feedback", "list").err
    assert "No ratings match" in ran("feedback", "list", "--in", "spaces/nowhere").err


def test_an_export_is_for_its_owner_alone_and_replaces_nothing(tmp_path: Path) -> None:
    file = tmp_path / "down.jsonl"

    run = ran("feedback", "export", str(file), "--verdict", "down", "--with-text")

    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["reference"] for line in lines] == ["TW-00000002", "TW-00000003"]
    assert lines[0]["question"] == SECRET
    assert "2 ratings" in run.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ran("feedback", "export", str(file)).code == 5
    assert "question" not in json.loads(_exported(tmp_path / "bare.jsonl")[0])


def _exported(file: Path) -> list[str]:
    ran("feedback", "export", str(file))
    return file.read_text().splitlines()
