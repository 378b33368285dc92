"""Everything the bot says exists in every language."""

import re

import pytest

from shared.language.catalogue import catalogue, languages, text
from shared.language.detect import of_person, of_text
from shared.pipeline import pipeline
from tests import ROOT

CODE = ("shared", *pipeline().folders)
ASKED = re.compile(r"""\btext\([\w.]+, "(\w+)", "(\w+)\"""")


def _flat(language: str) -> dict[str, str]:
    return {
        f"{section}.{key}": value
        for section, texts in catalogue(language).texts.items()
        for key, value in texts.items()
    }


def test_english_and_japanese_are_spoken() -> None:
    assert {"en", "ja"} <= set(languages())


@pytest.mark.parametrize("language", languages())
def test_no_text_is_left_in_another_language(language: str) -> None:
    others = [_flat(other) for other in languages() if other != language]

    for key, value in _flat(language).items():
        assert value not in [other.get(key) for other in others]


def _used() -> set[str]:
    """The texts that the code asks for by name."""
    code = [path.read_text() for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    return {f"{section}.{key}" for found in map(ASKED.findall, code) for section, key in found}


def test_every_text_that_the_code_asks_for_is_there() -> None:
    assert len(_used()) > 10
    assert _used() <= set(_flat("en"))


@pytest.mark.parametrize("stage", pipeline().stages)
def test_every_stage_of_the_pipeline_has_its_word(stage: str) -> None:
    assert f"progress.{stage}" in _flat("en")


def test_every_text_is_used() -> None:
    code = "".join(path.read_text() for folder in CODE for path in (ROOT / folder).rglob("*.py"))

    quoted = {*re.findall(r"""["'](\w+)["']""", code), *pipeline().stages}
    assert [key for key in _flat("en") if key.split(".")[1] not in quoted] == []


def test_values_fill_the_placeholders() -> None:
    assert text("en", "progress", "searching_for", query="VPN {x}") == "Searching for: VPN {x}"


@pytest.mark.parametrize(
    "locale, words, language",
    [
        ("ja", "VPN", "ja"),
        ("ja-JP", "How?", "ja"),
        ("en_GB", "VPNの設定", "en"),
        (None, "VPNの設定", "ja"),
        ("cy", "ＶＰＮ ｾｯﾃｲ", "ja"),
        ("cy", "Sut mae gosod?", "en"),
        ("", "hello", "en"),
    ],
)
def test_the_locale_decides_and_else_the_script(locale: str | None, words: str, language: str) -> None:
    assert of_person(locale, words) == language


@pytest.mark.parametrize(
    "words, language", [("VPNの設定", "ja"), ("How do I set it up?", "en"), ("VPN?", "ja"), ("MFA ok", "ja")]
)
def test_a_text_too_short_to_tell_is_in_the_asker_s_language(words: str, language: str) -> None:
    assert of_text(words, otherwise="ja") == language
