"""Pointing at an item of a list: "the second one" is what the second item says; nothing is guessed."""

import pytest

from shared.language.pointing import pointed_out

STEPS = """To connect: [1]

1. Open the **catalogue** and install the VPN client. [1]
   - It takes 2 minutes.
2. Configure the profile "Office". [1]
3. Press **Connect**."""
STEPS_JA = """・カタログを開きます [1]
・プロファイルを設定します
・接続を押します"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And the second one?", 'And Configure the profile "Office"?'),
        ("the first?", "Open the catalogue and install the VPN client?"),
        ("Tell me more about the last step", "Tell me more about Press Connect"),
        ("What if step 3 fails?", "What if Press Connect fails?"),
        ("explain the 2nd point please", 'explain Configure the profile "Office" please'),
        ("and number two?", 'and Configure the profile "Office"?'),
    ],
)
def test_a_question_gets_the_item_that_it_points_at(question: str, expected: str) -> None:
    assert pointed_out(question, [STEPS]) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2つ目は？", "プロファイルを設定しますは？"),
        ("二番目の手順を詳しく", "プロファイルを設定しますを詳しく"),
        ("最後の手順を教えて", "接続を押しますを教えて"),
        ("最初のは？", "カタログを開きますは？"),
        ("ふたつ目について", "プロファイルを設定しますについて"),
        ("手順３は？", "接続を押しますは？"),
    ],
)
def test_a_japanese_question_gets_the_item_that_it_points_at(question: str, expected: str) -> None:
    assert pointed_out(question, [STEPS_JA]) == expected


def test_the_newest_list_counts_though_an_answer_without_one_came_after_it() -> None:
    answers = ["- old\n- older", STEPS, "That is the profile for the office."]

    assert pointed_out("And the third one?", answers) == "And Press Connect?"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("And the second one?", []),
        ("And the second one?", ["It takes 2 minutes. 1.5 GB are free."]),
        ("And the fourth one?", [STEPS]),
        ("And step 0?", [STEPS]),
        ("And the second one?", [f"{STEPS}\n\nOr:\n\n- by phone\n- by mail"]),
        ("Can I have a second monitor?", [STEPS]),
        ("What do I do on the first day?", [STEPS]),
        ("What is the last step to reset my password?", [STEPS]),
        ("最初のパスワードは？", [STEPS_JA]),
        ("最後にもう1つ、プリンターは？", [STEPS_JA]),
    ],
)
def test_nothing_is_guessed(question: str, answers: list[str]) -> None:
    assert pointed_out(question, answers) == question
