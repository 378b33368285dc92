"""A new language is one more file: with it in place, people are heard and answered in it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.language.catalogue import languages, text
from shared.language.detect import of_person
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Envelope
from tests import ROOT
from tests.conftest import SmallCloud
from tests.support.factories import envelope, question
from tests.support.golden_events import as_bytes, golden
from tests.support.ingest_side import Ingest, anew

#: Handles a question of a person whose Chat is in Welsh, in a copy of the code, and prints what is said.
ASK = """
import json
from answer_fn.compose import Composed, Source
from answer_fn.blocks import parse
from answer_fn.reply import contents_of, final_of
from answer_fn.tell import apology
from shared.chat.events import understand
from shared.chat.cards import progress
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Envelope

event = json.load(open("event.json"))
event["common"] = {"userLocale": "cy-GB"}
event["message"]["createTime"] = "2026-01-01T00:00:00Z"
asked = understand(json.dumps(event).encode()).question
sent = Envelope.from_bytes(Envelope(trace="t", question=asked).to_bytes())
blocks = parse("Gosodwch y cleient [1].").blocks(set(), lambda group: f" [{group}]")
composed = Composed(blocks, (Source("c", 1, "VPN", "https://kb.example/vpn"),))
said = [
    progress(sent.question.language, "searching"),
    *contents_of(final_of(composed, sent, 24, None), sent.question),
    *contents_of(final_of(None, sent, 24, "help@corp.example"), sent.question),
    *contents_of(apology(sent, None), sent.question),
]
print(json.dumps([sent.question.language, [[one.text, one.cards] for one in said]]))
"""


@pytest.mark.slow
def test_with_one_more_catalogue_an_answer_is_in_that_language(tmp_path: Path) -> None:
    for package in ("shared", "ingest_fn", "answer_fn"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    english = (ROOT / "shared/language/texts/en.toml").read_text()
    welsh = re.sub(r' = ("{3}|")', r" = \1CY ", english).replace('letters = "CY ', 'letters = "')
    (tmp_path / "shared/language/texts/cy.toml").write_text(welsh)
    shutil.copy(ROOT / "tests/ingest_fn/events/classic-message-in-space.json", tmp_path / "event.json")

    ran = subprocess.run(
        [sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    language, said = json.loads(ran.stdout)
    assert language == "cy"
    assert len(said) == 4
    for shown, cards in said:
        assert "CY " in shown
        assert all("CY " in str(card) for card in cards)
    assert "CY A late answer" in said[1][0] and "CY You can ask follow-up" in said[1][0]


def test_a_function_without_a_language_passes_the_question_on_and_speaks_english() -> None:
    sent = envelope(question=question(language="cy"))

    assert Envelope.from_bytes(sent.to_bytes()) == sent
    assert text("cy", "progress", "title") == text("en", "progress", "title")


@pytest.mark.parametrize(
    "locale, said, spoken, language",
    [
        ("ja-JP", "VPNの設定", ("en",), "en"),
        ("ja-JP", "VPN?", ("en", "ja"), "ja"),
        ("fr", "Comment configurer le VPN ?", ("ja", "en"), "ja"),
        (None, "VPNの設定", ("en", "ja"), "ja"),
        ("en_US", "VPNの設定", ("ja", "en"), "en"),
    ],
)
def test_a_person_is_spoken_to_in_one_of_the_languages_or_in_the_first(
    locale: str | None, said: str, spoken: tuple[str, ...], language: str
) -> None:
    assert of_person(locale, said, spoken) == language


def test_english_comes_first_of_all_languages() -> None:
    assert languages() == ("en", "ja")


def test_a_locale_that_is_not_spoken_is_english_or_what_the_letters_say() -> None:
    assert of_person("cy-GB", "Sut mae gosod y VPN?") == "en"
    assert of_person("cy-GB", "VPNの設定") == "ja"


@pytest.mark.slow
def test_ingest_speaks_the_languages_of_its_settings_alone(small_cloud: SmallCloud) -> None:
    ingest, asked = Ingest(small_cloud, {"languages": "ja"}), anew(golden("classic-slash-help"))

    ingest.over_https(asked)

    said = ingest.said(asked)
    assert said and said["text"].strip() == text("ja", "help", "text", hours="24").strip()


def test_an_apology_for_an_event_is_in_a_language_that_is_spoken() -> None:
    event = as_bytes(golden("classic-message-in-space"))
    parked = {"Dead-Letter-Step": "ingest"}

    languages_of_it = [
        DeadLetter.from_push(parked, event, spoken).question for spoken in (("ja",), ("en",), ("en", "ja"))
    ]

    assert [found.language for found in languages_of_it if found] == ["ja", "en", "ja"]
