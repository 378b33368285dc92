"""What a record holds as a question's final message, read without trusting it."""

from typing import Any

import pytest

from shared.messages.ending import is_final

SOURCE = {"id": "c1", "number": 1, "title": "VPN", "link": None, "quote": "Install it."}
FINAL: dict[str, Any] = {
    "kind": "answer",
    "answered": True,
    "text": "Install it. [1]",
    "plain": "Install it. [1]",
    "search_query": "VPN",
    "sources": [SOURCE],
}


def test_a_final_message_of_ours_is_one() -> None:
    assert is_final(FINAL)


@pytest.mark.parametrize(
    "wrong",
    [{"id": ["c1"]}, {"number": "1"}, {"title": None}, {"link": 1}, {"quote": []}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_one_with_a_source_of_another_shape_is_none(wrong: dict[str, Any]) -> None:
    assert not is_final({**FINAL, "sources": [{**SOURCE, **wrong}]})


def test_one_that_says_nothing_is_none() -> None:
    assert not is_final({**FINAL, "text": " \n"})
