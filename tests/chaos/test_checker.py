"""Chaos: the checker finds every way to break "one question, one end"."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest

from chaos.checker import check, check_replayed
from chaos.asked import Asked
from chaos.outside import UNREADABLE, Outside
from chaos.verdict import End, Kind, end_of
from tests.support.chaos_asked import (
    ALL,
    ANSWERED,
    APOLOGY,
    DIRECTLY,
    DM,
    ELSEWHERE,
    FAILED,
    FOLLOW_UP,
    OTHER,
    ROAMING,
    SOURCES,
    SPACE,
    THREAD,
    UNKNOWN,
    Json,
    final,
    said,
    turns,
)

Break = Callable[[Outside], object]


@pytest.fixture
def healthy() -> Outside:
    """Three answers (one in a direct message), a fallback and an apology."""
    return Outside(
        messages=[
            said(ANSWERED, "Like this. [1]"),
            said(FOLLOW_UP, "And so on. [1]"),
            said(UNKNOWN, "I do not know.", cards=False),
            said(DIRECTLY, "Switch it on. [1]", thread=f"{DM}/threads/of-the-bot"),
            said(FAILED, APOLOGY, cards=False),
        ],
        conversations={
            THREAD.replace("/", "_"): {
                "turns": [*turns(ANSWERED, "Like this. [1]"), *turns(FOLLOW_UP, "And so on. [1]")]
            },
            DM.replace("/", "_"): {"turns": turns(DIRECTLY, "Switch it on. [1]")},
        },
        questions={
            ANSWERED.name: final("Like this. [1]"),
            FOLLOW_UP.name: final("And so on. [1]"),
            FAILED.name: final(APOLOGY),
        },
        cases={FAILED.name: {"question_id": FAILED.name, "reference": "TW-0A1B2C3D"}},
        letters=Counter([FAILED.name]),
    )


def test_one_end_for_each_question_is_no_violation(healthy: Outside) -> None:
    verdict = check(ALL, healthy)

    assert verdict.violations == []
    assert verdict.ends == {End.ANSWER: 3, End.FALLBACK: 1, End.APOLOGY: 1}


def test_a_question_back_is_an_end_that_is_remembered(healthy: Outside) -> None:
    back = "Do you mean Windows or a Mac?"
    first = {**said(ANSWERED, back, cards=False), "name": healthy.messages[0]["name"]}
    asked = replace(
        healthy,
        messages=[first, *healthy.messages[1:]],
        questions={**healthy.questions, ANSWERED.name: final(back)},
    )
    without = deepcopy(asked)
    thread_turns(without)[:2] = []

    assert check(ALL, asked).violations == []
    assert check(ALL, asked).ends[End.CLARIFICATION] == 1
    assert [each.kind for each in check(ALL, without).violations] == [Kind.TURN_MISSING]


def thread_turns(outside: Outside, place: str = THREAD) -> list[Json]:
    found: list[Json] = outside.conversations.setdefault(place.replace("/", "_"), {"turns": []})["turns"]
    return found


def say_it_again(outside: Outside) -> None:
    outside.messages.append({**said(ANSWERED, "Like this. [1]"), "name": "another"})


def say_it_in_a_new_thread(outside: Outside) -> None:
    outside.messages[0] = said(ANSWERED, "Like this. [1]", thread=f"{SPACE}/threads/new")


def say_it_where_another_was_asked(outside: Outside) -> None:
    outside.messages[0] = {**outside.messages[0], "space": {"name": ELSEWHERE}, "thread": {"name": OTHER}}


def leave_the_card(outside: Outside) -> None:
    outside.messages[0].pop("text")


def search_for_another_s_topic(outside: Outside) -> None:
    thread_turns(outside)[1]["search_query"] = f"What about {ROAMING.key}?"


def answer_another_question(outside: Outside) -> None:
    thread_turns(outside)[0]["text"] = "What about roaming?"


def save_the_turn_elsewhere(outside: Outside) -> None:
    thread_turns(outside, OTHER).extend(turns(ANSWERED, "Like this. [1]"))


BREAKS: list[tuple[Break, Asked | None, Kind]] = [
    (lambda outside: outside.messages.pop(0), ANSWERED, Kind.LOST),
    (lambda outside: outside.messages.pop(3), DIRECTLY, Kind.LOST),
    (leave_the_card, ANSWERED, Kind.LOST),
    (say_it_again, None, Kind.DOUBLED),
    (say_it_in_a_new_thread, ANSWERED, Kind.WRONG_THREAD),
    (say_it_where_another_was_asked, ANSWERED, Kind.WRONG_THREAD),
    (lambda outside: thread_turns(outside).clear(), ANSWERED, Kind.TURN_MISSING),
    (lambda outside: thread_turns(outside).pop(0), ANSWERED, Kind.TURN_MISSING),
    (lambda outside: thread_turns(outside).extend(turns(ANSWERED, "x")), ANSWERED, Kind.TURN_DOUBLED),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(FAILED, "x")), FAILED, Kind.TURN_UNEARNED),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(UNKNOWN, "x")), UNKNOWN, Kind.TURN_UNEARNED),
    (save_the_turn_elsewhere, ANSWERED, Kind.CROSSED_OVER),
    (search_for_another_s_topic, ANSWERED, Kind.CROSSED_OVER),
    (answer_another_question, ANSWERED, Kind.CROSSED_OVER),
    (lambda outside: thread_turns(outside).reverse(), None, Kind.TURN_ORDER),
    (lambda outside: outside.cases.clear(), FAILED, Kind.CASE_MISSING),
    (lambda outside: outside.cases[FAILED.name].update(reference="TW-FFFFFFFF"), FAILED, Kind.CASE_MISSING),
    (lambda outside: outside.letters.update([ANSWERED.name]), ANSWERED, Kind.CASE_MISSING),
    (lambda outside: outside.letters.update([UNREADABLE]), None, Kind.MANGLED),
]


@pytest.mark.parametrize(("harm", "question", "kind"), BREAKS)
def test_every_way_to_break_the_rule_is_reported_with_its_kind(
    healthy: Outside, harm: Break, question: Asked | None, kind: Kind
) -> None:
    harm(healthy)

    found = check(ALL, healthy).violations

    assert kind in [
        violation.kind for violation in found if question is None or violation.question == question.name
    ]


def test_a_follow_up_may_be_searched_for_with_what_an_earlier_answer_in_its_place_is_about(
    healthy: Outside,
) -> None:
    thread_turns(healthy)[3]["search_query"] = f"In more detail? ({ROAMING.key})"
    assert {each.kind for each in check(ALL, healthy).violations} == {Kind.CROSSED_OVER}

    healthy.messages[0]["text"] = f"Like this, or with {ROAMING.key}. [1]"

    assert Kind.CROSSED_OVER not in {each.kind for each in check(ALL, healthy).violations}


def test_of_two_questions_with_the_same_answer_the_one_without_a_message_is_lost(healthy: Outside) -> None:
    healthy.questions[FOLLOW_UP.name] = final("Like this. [1]")
    healthy.messages[1]["text"] = "Like this. [1]"
    healthy.messages.pop(0)

    lost = [violation.question for violation in check(ALL, healthy).violations if violation.kind is Kind.LOST]

    assert lost == [ANSWERED.name]


def test_a_question_that_chat_could_not_hand_over_needs_no_end(healthy: Outside) -> None:
    healthy.messages.pop(2)
    given_up = replace(healthy, not_taken=frozenset([UNKNOWN.name]))

    assert check(ALL, given_up).violations == []


def test_messages_that_never_come_to_rest_are_reported(healthy: Outside) -> None:
    [violation] = check(ALL, replace(healthy, settled=False)).violations

    assert violation.kind is Kind.UNSETTLED


def test_an_apology_that_stays_after_the_replay_is_reported(healthy: Outside) -> None:
    before = check(ALL, healthy)

    kinds = [(each.kind, each.question) for each in check_replayed(ALL, healthy, before).violations]

    assert kinds == [(Kind.NOT_ANSWERED, FAILED.name)]


def test_an_answer_that_comes_as_a_new_message_after_the_replay_is_reported(healthy: Outside) -> None:
    before = check(ALL, healthy)
    after = deepcopy(healthy)
    after.messages[4] = {**said(FAILED, "I do not know.", cards=False), "name": "another"}

    kinds = [(each.kind, each.question) for each in check_replayed(ALL, after, before).violations]

    assert kinds == [(Kind.NOT_IN_PLACE, FAILED.name)]


def test_what_was_searched_for_is_no_source() -> None:
    searched = {"card": {"sections": [{"widgets": [{"decoratedText": {"text": "I searched for: VPN"}}]}]}}

    assert end_of({"text": "Nothing found.", "cardsV2": [searched]}) is End.FALLBACK
    assert end_of({"text": "Like this.", "cardsV2": [SOURCES]}) is End.ANSWER
