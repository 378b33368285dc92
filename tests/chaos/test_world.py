"""Chaos knows the bot's sentences by heart: they are the catalogue's own."""

import pytest

from chaos import world
from shared.language.catalogue import languages, text
from shared.messages.envelope import Language

NOTICES = {"too_many": {"most": 10}, "too_long": {"length": 2500, "most": 2000}, "old_button": {}}


@pytest.mark.parametrize("language", languages())
def test_the_sentences_that_chaos_looks_for_are_those_of_the_catalogue(language: Language) -> None:
    assert text(language, "progress", "title") in world.PROGRESS_TITLES
    assert text(language, "answer", "taken_back") in world.TAKEN_BACK
    assert text(language, "notice", "forgotten") in world.FORGOT
    assert text(language, "notice", "forgotten_question") in world.FORGOTTEN_QUESTION
    for notice, values in NOTICES.items():
        assert world.is_notice({"text": text(language, "notice", notice, **values)})


@pytest.mark.parametrize("language", languages())
def test_no_answer_or_apology_is_taken_for_a_sentence(language: Language) -> None:
    for part, key in (("answer", "not_found"), ("answer", "courtesy"), ("apology", "text")):
        said = text(language, part, key, **({"reference": "TW-00000000"} if part == "apology" else {}))
        assert not (world.is_notice({"text": said}) or world.is_progress({"text": said}))


def test_what_was_searched_for_is_no_source() -> None:
    searched = {"card": {"sections": [{"widgets": [{"decoratedText": {"text": "I searched for: VPN"}}]}]}}
    sources = {"card": {"sections": [{"header": "Sources", "widgets": [{}]}]}}

    assert not world.shows_sources({"text": "Nothing found.", "cardsV2": [searched]})
    assert world.shows_sources({"text": "Like this.", "cardsV2": [sources]})


def test_a_dead_letter_is_a_question_s_or_that_of_an_event() -> None:
    assert world.question_in(b'{"question": {"id": "m"}}') == "m"
    assert world.question_in(b'{"type": "MESSAGE", "message": {"name": "m"}}') == "m"
    assert [world.question_in(data) for data in (b"", b"[]", b"{}", b'{"type": "MESSAGE"}')] == [None] * 4


def test_a_record_of_no_known_shape_holds_no_ending() -> None:
    records: tuple[world.Json | None, ...] = (None, {}, {"final": None}, {"final": {}}, {"final": "answer"})

    for record in records:
        assert world.ending_of(record) is None
