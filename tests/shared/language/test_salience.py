"""What a conversation is about, by rule: recent, repeated, named and taken-up words come first."""

from collections.abc import Iterator

import pytest

from shared.language.courtesies import is_small_talk
from shared.language.salience import Salience, with_unsaid
from shared.language.words import Word, words


class Lexicon:
    """Every word says the same, but for those that are rarer or useless."""

    def __init__(self, **rarities: float) -> None:
        self._rarities = rarities

    def words(self, text: str) -> Iterator[Word]:
        return words(text)

    def rarity(self, term: str) -> float:
        return self._rarities.get(term, 1.0)


def unsaid(topic: Salience, question: str = "") -> list[str]:
    return [word.surface for word, _ in topic.unsaid(question)]


def heard(*questions: str, **rarities: float) -> Salience:
    topic = Salience(Lexicon(**rarities))
    for question in questions:
        topic.hear(question)
    return topic


def test_the_newest_topic_comes_first() -> None:
    assert unsaid(heard("printer toner", "badge reader")) == ["badge", "reader"]


def test_a_word_that_keeps_coming_back_outweighs_a_newer_one() -> None:
    assert unsaid(heard("printer", "printer toner", "printer", "badge"))[0] == "printer"


def test_a_new_topic_leaves_the_old_one_behind() -> None:
    topic = heard("printer", "printer", "printer")
    topic.hear("badge", new_topic=True)

    assert unsaid(topic)[0] == "badge"


def test_a_question_without_words_neither_adds_nor_fades() -> None:
    topic = heard("printer")
    before = topic.unsaid("")
    topic.hear("Can you explain?")

    assert topic.unsaid("") == before


def test_a_word_that_both_sides_use_counts_more() -> None:
    topic = heard("alpha beta")
    topic.tell("the beta is here")

    assert unsaid(topic)[0] == "beta"


def test_what_the_user_said_outweighs_what_only_an_answer_says() -> None:
    topic = heard("zebra")
    topic.tell("apple")

    assert unsaid(topic) == ["zebra", "apple"]


@pytest.mark.parametrize("text, name", [("a kiosk by Zenith", "Zenith"), ("a kiosk or VPN", "VPN")])
def test_a_name_comes_before_a_common_word(text: str, name: str) -> None:
    assert unsaid(heard(text))[0] == name


def test_rarity_tells_words_apart_and_a_useless_word_is_left_out() -> None:
    assert unsaid(heard("alpha beta gamma", alpha=0.5, beta=2.0, gamma=0.0)) == ["beta", "alpha"]


def test_what_the_question_says_itself_is_not_unsaid() -> None:
    assert unsaid(heard("printer toner"), "which toner?") == ["printer"]


def test_numbers_and_single_characters_are_never_salient() -> None:
    assert unsaid(heard("出せば 12345 x")) == []


@pytest.mark.parametrize(
    ("question", "number"),
    [("", 2), ("one", 2), ("toner", 4), ("toner tray", 3), ("toner tray lid fan", 1), ("a b c d e f g h", 1)],
)
def test_the_more_a_question_says_itself_the_fewer_words_it_gets(question: str, number: int) -> None:
    assert len(unsaid(heard("printer badge scanner cable paper ink"), question)) == number


def test_words_of_equal_weight_have_one_order() -> None:
    assert unsaid(heard("beta alpha")) == unsaid(heard("alpha beta")) == ["alpha", "beta"]


def test_brackets_are_those_of_the_language() -> None:
    said = list(words("VPN 設定"))

    assert with_unsaid("more?", said, "en") == "more? (VPN, 設定)"
    assert with_unsaid("もっと", said, "ja") == "もっと（VPN 設定）"
    assert with_unsaid("more?", [], "en") == "more?"


@pytest.mark.parametrize(
    "text",
    [
        "Thanks a lot!",
        "hi",
        "Hello?",
        "Thank you, that worked!",
        "了解です",
        "本当にありがとうございます。助かりました",
    ],
)
def test_greetings_and_thanks_are_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, and on a Mac?",
        "Thanks, now show me the Mac steps",
        "Hi, I need a laptop",
        "VPN",
        "Macの場合は？",
        "了解です、Macの場合を教えて",
    ],
)
def test_a_question_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)
