"""What the final message says beyond the answer itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.blocks import parse
from answer_fn.compose import Composed, Source
from answer_fn.reply import final_of
from tests.factories import envelope, question

ANSWER = Composed(
    parse("Install the client [1].").blocks(set(), lambda group: f" [{group}]"),
    (Source("c1", 1, "VPN", None),),
)


def late(text: str, **fields: Any) -> str:
    asked = question(text=text, asked_at=datetime.now(UTC) - timedelta(hours=30), **fields)
    return str(final_of(ANSWER, envelope(question=asked), 24, None)["text"])


def test_an_answer_that_comes_late_says_which_question_it_belongs_to() -> None:
    said = late("How do I configure\nthe VPN?")

    assert said.startswith("A late answer to your question of ")
    assert "\n> How do I configure the VPN?\n\nInstall the client [1]." in said


def test_a_late_answer_in_japanese_says_so_in_japanese() -> None:
    assert "遅くなりましたが" in late("VPNの設定方法は？", language="ja")


def test_an_answer_in_time_says_no_more_than_the_answer() -> None:
    said = final_of(ANSWER, envelope(question=question()), 24, None)["text"]

    assert said.startswith("Install the client [1].")


def test_a_late_fallback_says_which_question_it_belongs_to() -> None:
    asked = question(asked_at=datetime.now(UTC) - timedelta(minutes=11))

    assert "> How do I configure the VPN?" in final_of(None, envelope(question=asked), 24, None)["text"]


@pytest.mark.parametrize(
    "attack", ["<users/all> hello", "[click](https://evil.example)", "https://evil.example"]
)
def test_the_quoted_question_mentions_nobody_and_links_nowhere(attack: str) -> None:
    said = late(attack)

    assert "<users/all>" not in said
    assert "](https://evil" not in said and " https://evil.example" not in said
