"""Chaos: the checker finds every way to break "one question, one end"."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest

from chaos.asked import Asked, Done
from chaos.checker import check, check_replayed
from chaos.outside import UNREADABLE, Outside
from chaos.verdict import End, Kind
from chaos.world import CASES, document_of
from tests.support.chaos_asked import (
    ALL,
    ANSWERED,
    DIRECTLY,
    ELSEWHERE,
    FAILED,
    FOLLOW_UP,
    OTHER,
    PROGRESS,
    ROAMING,
    SPACE,
    THREAD,
    TITLE,
    TOO_MANY,
    UNKNOWN,
    case,
    final,
    healthy_world,
    put_record,
    said,
    thread_turns,
    turns,
)
from tests.support.chaos_mutations import MUTATIONS, drop_record

Break = Callable[[Outside], object]


@pytest.fixture
def healthy() -> Outside:
    return healthy_world()


def test_one_end_for_each_question_is_no_violation(healthy: Outside) -> None:
    verdict = check(ALL, healthy)

    assert verdict.violations == []
    assert verdict.ends == {End.ANSWER: 4, End.FALLBACK: 1, End.APOLOGY: 1}


def test_a_question_back_is_an_end_that_is_remembered(healthy: Outside) -> None:
    back = "Do you mean Windows or a Mac?"
    put_record(healthy, ANSWERED, final(back, "clarification"))
    healthy.messages[0] = said(ANSWERED, back, cards=False)
    thread_turns(healthy)[1]["text"] = back
    without = deepcopy(healthy)
    thread_turns(without)[:2] = []

    assert check(ALL, healthy).violations == []
    assert check(ALL, healthy).ends[End.CLARIFICATION] == 1
    assert [each.kind for each in check(ALL, without).violations] == [Kind.TURN_MISSING]


@pytest.mark.parametrize(("mutation", "kind"), MUTATIONS.values(), ids=MUTATIONS)
@pytest.mark.parametrize("question", [ANSWERED, DIRECTLY])
def test_the_checker_names_every_way_to_break_a_question(
    healthy: Outside, question: Asked, mutation: Callable[[Outside, Asked], object], kind: Kind
) -> None:
    mutation(healthy, question)

    assert kind in {violation.kind for violation in check(ALL, healthy).violations}


@pytest.mark.parametrize("question", ALL)
def test_no_end_goes_without_a_record(healthy: Outside, question: Asked) -> None:
    drop_record(healthy, question)

    found = check(ALL, healthy).violations

    assert (Kind.NOT_RECORDED, question.name) in {(each.kind, each.question) for each in found}


def say_it_in_a_new_thread(outside: Outside) -> None:
    outside.messages[0] = said(ANSWERED, "Like this. [1]", thread=f"{SPACE}/threads/new")


def say_it_where_another_was_asked(outside: Outside) -> None:
    outside.messages[0] = {**outside.messages[0], "space": {"name": ELSEWHERE}, "thread": {"name": OTHER}}


def leave_the_card(outside: Outside) -> None:
    outside.messages[0].pop("text")


def close_the_case(outside: Outside) -> None:
    outside.documents[CASES][document_of(FAILED.name)].update(case(FAILED, answered=True))


def refer_to_another_case(outside: Outside) -> None:
    outside.documents[CASES][document_of(FAILED.name)].update(reference="TW-FFFFFFFF")


def search_for_another_s_topic(outside: Outside) -> None:
    thread_turns(outside)[1]["search_query"] = f"What about {ROAMING.key}?"


def answer_another_question(outside: Outside) -> None:
    thread_turns(outside)[0]["text"] = "What about roaming?"


def save_the_turn_elsewhere(outside: Outside) -> None:
    thread_turns(outside, OTHER).extend(turns(ANSWERED, "Like this. [1]"))


BREAKS: list[tuple[Break, Asked | None, Kind]] = [
    (leave_the_card, ANSWERED, Kind.NOT_AS_RECORDED),
    (say_it_in_a_new_thread, ANSWERED, Kind.WRONG_THREAD),
    (say_it_where_another_was_asked, ANSWERED, Kind.WRONG_THREAD),
    (lambda outside: thread_turns(outside).pop(0), ANSWERED, Kind.TURN_MISSING),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(FAILED, "x")), FAILED, Kind.TURN_UNEARNED),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(UNKNOWN, "x")), UNKNOWN, Kind.TURN_UNEARNED),
    (save_the_turn_elsewhere, ANSWERED, Kind.CROSSED_OVER),
    (search_for_another_s_topic, ANSWERED, Kind.CROSSED_OVER),
    (answer_another_question, ANSWERED, Kind.CROSSED_OVER),
    (lambda outside: thread_turns(outside).reverse(), None, Kind.TURN_ORDER),
    (lambda outside: outside.documents[CASES].clear(), FAILED, Kind.CASE_MISSING),
    (refer_to_another_case, FAILED, Kind.CASE_MISSING),
    (close_the_case, FAILED, Kind.CASE_DIFFERS),
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
    put_record(healthy, FOLLOW_UP, final("Like this. [1]"))
    healthy.messages[1]["text"] = "Like this. [1]"
    healthy.messages.pop(0)

    lost = [violation.question for violation in check(ALL, healthy).violations if violation.kind is Kind.LOST]

    assert lost == [ANSWERED.name]


def test_a_question_that_chat_could_not_hand_over_needs_no_end(healthy: Outside) -> None:
    healthy.messages.pop(2)
    drop_record(healthy, UNKNOWN)
    given_up = replace(healthy, not_taken=frozenset([UNKNOWN.name]))

    assert check(ALL, given_up).violations == []


def test_a_sentence_is_the_end_of_a_question_that_nothing_was_kept_for(healthy: Outside) -> None:
    healthy.messages[2]["text"] = TOO_MANY
    drop_record(healthy, UNKNOWN)

    assert check(ALL, healthy).violations == []
    assert check(ALL, healthy).ended[UNKNOWN.name] is End.NOTICE


def test_every_part_of_a_long_answer_is_looked_for_and_what_was_taken_back_is_no_end(
    healthy: Outside,
) -> None:
    put_record(healthy, FOLLOW_UP, final("And so on. [1]", "answer", "And on. [1]"))
    kinds = [each.kind for each in check(ALL, healthy).violations]
    taken_back = "*(This was part of an earlier answer. The answer above replaces it.)*"
    for name, text in (("part", "And on. [1]"), ("old", taken_back)):
        healthy.messages.append({**said(FOLLOW_UP, text), "name": name})

    assert kinds == [Kind.NOT_AS_RECORDED]
    assert check(ALL, healthy).violations == []


def test_where_its_card_was_refused_the_sources_stand_behind_an_answer(healthy: Outside) -> None:
    healthy.messages[0] = said(ANSWERED, "Like this. [1]\n\n**Sources**  \n\\[1\\] VPN", cards=False)

    assert check(ALL, healthy).violations == []


def test_what_a_person_has_deleted_is_not_lost(healthy: Outside) -> None:
    healthy.messages.pop(0)

    verdict = check(ALL, healthy, Done(deleted=Counter([THREAD])))

    assert verdict.violations == []
    assert verdict.ended[ANSWERED.name] is End.DELETED


def test_whom_chat_refuses_to_tell_is_told_after_the_replay(healthy: Outside) -> None:
    outside = replace(healthy, refused=True)
    outside.documents[CASES][document_of(FAILED.name)]["told"] = False
    outside.messages[4].update(text=TITLE, cardsV2=[PROGRESS])

    before = check(ALL, outside)
    after = {each.kind for each in check_replayed(ALL, outside, before).violations}

    assert before.violations == []
    assert before.ended[FAILED.name] is End.UNTOLD
    assert after == {Kind.NOT_ANSWERED}


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
    put_record(after, FAILED, final("I do not know.", "fallback"))
    close_the_case(after)
    after.messages[4] = {**said(FAILED, "I do not know.", cards=False), "name": "another"}

    kinds = [(each.kind, each.question) for each in check_replayed(ALL, after, before).violations]

    assert kinds == [(Kind.NOT_IN_PLACE, FAILED.name)]
