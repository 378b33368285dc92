"""Which language a person is heard and answered in, of those that are spoken."""

import pytest

from ingest_fn.commands import help_text
from shared.chat.letters import letter_from_push
from shared.language.catalogue import languages, text
from shared.language.detect import of_person
from shared.messages.envelope import Envelope
from tests.conftest import SmallCloud
from tests.support.factories import envelope, question
from tests.support.golden_events import as_bytes, golden
from tests.support.ingest_side import Ingest, anew


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
    assert languages() == ("en", *sorted(set(languages()) - {"en"}))


def test_a_locale_that_is_not_spoken_is_english_or_what_the_letters_say() -> None:
    assert of_person("cy-GB", "Sut mae gosod y VPN?") == "en"
    assert of_person("cy-GB", "VPNの設定") == "ja"


@pytest.mark.slow
def test_ingest_speaks_the_languages_of_its_settings_alone(small_cloud: SmallCloud) -> None:
    ingest, asked = Ingest(small_cloud, {"languages": "ja"}), anew(golden("classic-slash-help"))

    ingest.over_https(asked)

    said = ingest.said(asked)
    assert said and said["text"].strip() == help_text("ja", 24).strip()


def test_an_apology_for_an_event_is_in_a_language_that_is_spoken() -> None:
    event = as_bytes(golden("classic-message-in-space"))
    parked = {"Dead-Letter-Step": "ingest"}

    languages_of_it = [
        letter_from_push(parked, event, spoken).question for spoken in (("ja",), ("en",), ("en", "ja"))
    ]

    assert [found.language for found in languages_of_it if found] == ["ja", "en", "ja"]
