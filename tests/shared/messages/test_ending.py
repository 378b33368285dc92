"""What a record holds as a question's ending, read without trusting it."""

from typing import Any

import pytest

from shared.messages.ending import Ending

SOURCE = {"id": "c1", "number": 1, "title": "VPN", "link": None, "quote": "Install it."}
STORED: dict[str, Any] = {
    "kind": "answer",
    "answered": True,
    "text": "Install it. [1]",
    "plain": "Install it. [1]",
    "search_query": "VPN",
    "sources": [SOURCE],
}


def test_an_ending_is_stored_under_the_names_that_it_has_always_had() -> None:
    ending = Ending.read({**STORED, "again": 2, "button": "threadwise"})

    assert ending is not None
    assert (ending.answer_number, ending.click_target) == (2, "threadwise")
    assert Ending.read(ending.to_fields()) == ending
    assert {"again", "button"} < ending.to_fields().keys()


def test_an_ending_of_a_newer_version_is_read_as_far_as_it_is_known() -> None:
    newer = {**STORED, "version": 9, "mood": "fine", "sources": [{**SOURCE, "date": "2026-01-01"}]}

    ending = Ending.read(newer)

    assert ending is not None
    assert (ending.text, ending.sources[0].title) == ("Install it. [1]", "VPN")


def test_an_ending_of_the_first_version_is_read() -> None:
    ending = Ending.read(STORED)

    assert ending is not None
    assert (ending.answer_number, ending.asked, ending.more, ending.model) == (0, None, [], None)


@pytest.mark.parametrize(
    "wrong",
    [{"id": ["c1"]}, {"number": "1"}, {"title": None}, {"link": 1}, {"quote": []}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_one_with_a_source_of_another_shape_counts_as_no_ending(wrong: dict[str, Any]) -> None:
    assert Ending.read({**STORED, "sources": [{**SOURCE, **wrong}]}) is None


@pytest.mark.parametrize(
    "wrong", [{"text": " \n"}, {"again": -1}, {"again": True}, {"kind": 1}, {"more": [1]}]
)
def test_one_that_says_nothing_or_has_another_shape_counts_as_no_ending(wrong: dict[str, Any]) -> None:
    assert Ending.read({**STORED, **wrong}) is None


def test_a_question_of_another_shape_does_not_spoil_the_ending() -> None:
    ending = Ending.read({**STORED, "asked": {"id": "spaces/A/messages/B"}})

    assert ending is not None
    assert ending.asked is None
