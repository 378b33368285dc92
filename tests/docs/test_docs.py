"""What the documentation says is what the code does."""

import re
import subprocess
from pathlib import Path

import pytest

from shared.memory import cases, conversations, failures, feedback, forgotten, records, retention
from tests import ROOT
from tools import tables

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", tables.PAGES)
def test_the_tables_of_the_pipeline_are_what_is_made_of_it(page: str) -> None:
    assert tables.written(_read(page)) == _read(page), "run `make tables`"


def test_each_page_has_its_table() -> None:
    assert "| `questions` | `ingest_fn` | `reformulate_fn` | `question`, `history` |" in _read(
        "docs/messages.md"
    )
    assert "| `ingest` | 5 s | 25 s | 30 s | 45 s |" in _read("docs/reliability.md")


def test_the_collections_are_named_as_they_are() -> None:
    page = _read("docs/messages.md")

    for module in (conversations, records, failures, cases, feedback):
        assert f"| `{module.COLLECTION}` |" in page


PERIODS = {
    failures.COLLECTION: retention.FAILURES,
    cases.COLLECTION: retention.DEAD_LETTERS,
    feedback.COLLECTION: retention.FEEDBACK,
    forgotten.COLLECTION: retention.FORGOTTEN,
}


@pytest.mark.parametrize("collection", PERIODS)
def test_the_table_of_collections_says_how_long_each_is_kept(collection: str) -> None:
    row = next(row for row in _read("docs/messages.md").splitlines() if row.startswith(f"| `{collection}` |"))

    assert row.endswith(f"| {PERIODS[collection].days} days |")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("security", "and the subscription `dead-letters-backup` | {letters} days |"),
        ("security", "no words | Firestore | {letters} days |"),
        ("security", "| Firestore | {ratings} days, or until `/forget` |"),
        ("security", "| Firestore | {letters} days, an hour |"),
        ("chat", "for at most {letters} days"),
        ("chat", "is kept for {ratings} days"),
        ("operations", "is kept for {letters} days"),
        ("operations", "is kept for {ratings} days"),
    ],
)
def test_pages_say_how_long_things_are_kept(page: str, said: str) -> None:
    period = said.format(letters=retention.DEAD_LETTERS.days, ratings=retention.FEEDBACK.days)

    assert period in _read(f"docs/{page}.md")


def test_the_topic_keeps_dead_letters_as_long_as_their_cases_are_kept() -> None:
    seconds = int(retention.DEAD_LETTERS.total_seconds())

    assert f'message_retention_duration = "{seconds}s"' in _read("terraform/topics.tf")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_of_a_page_exist(page: Path) -> None:
    text = page.read_text()
    linked = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_.]+\.(?:py|toml|md))`", text)

    missing = [target for target in linked if not (page.parent / target).exists()]
    missing += [path for path in named if not (ROOT / path).exists()]
    assert missing == []


def test_every_decision_is_listed() -> None:
    listed = set(re.findall(r"\]\((0[^)]+)\)", _read("docs/decisions/README.md")))

    assert listed == {path.name for path in (ROOT / "docs" / "decisions").glob("0*.md")}


def test_every_make_target_in_the_readme_exists() -> None:
    named = set(re.findall(r"`?make ([a-z-]+)", _read("README.md")))
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert named <= set(re.findall(r"make ([a-z-]+)", listed))


def _read(path: str) -> str:
    return (ROOT / path).read_text()
