"""Chaos: of a conversation that is to be forgotten nothing may be left."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from chaos.asked import Done, Forgot
from chaos.checker import check
from chaos.outside import Outside
from chaos.verdict import End, Kind
from chaos.world import TOMBSTONES, TURNS, document_of
from shared.language.catalogue import text
from tests.support.chaos_asked import (
    ALL,
    ANSWERED,
    FOLLOW_UP,
    PROGRESS,
    THREAD,
    TITLE,
    final,
    healthy_world,
    put_record,
    said,
    thread_turns,
    turns,
)
from tests.support.chaos_mutations import drop_record

FORGOT = Done(forgot=[Forgot(THREAD, "m", "2026-11-30T10:00:08.000000Z")])


@pytest.fixture
def forgetful() -> Outside:
    """The first conversation is forgotten."""
    healthy = healthy_world()
    for question in (ANSWERED, FOLLOW_UP):
        drop_record(healthy, question)
    del healthy.documents[TURNS][document_of(THREAD)]
    healthy.documents[TOMBSTONES] = {document_of(THREAD): {"name": THREAD}}
    done = {**said(ANSWERED, text("en", "notice", "forgotten"), cards=False), "name": "done"}
    healthy.messages.append({**done, "createTime": "2026-11-30T10:00:08.500000Z"})
    return healthy


def test_of_what_was_forgotten_nothing_is_left_and_what_stood_in_chat_may_stand(forgetful: Outside) -> None:
    verdict = check(ALL, forgetful, FORGOT)

    assert verdict.violations == []
    assert verdict.ends[End.FORGOTTEN] == 2


LEFT: list[tuple[Callable[[Outside], object], Kind]] = [
    (lambda outside: put_record(outside, ANSWERED, final("x")), Kind.FORGOTTEN_KEPT),
    (lambda outside: thread_turns(outside).extend(turns(ANSWERED, "x")), Kind.FORGOTTEN_KEPT),
    (
        lambda outside: outside.documents["failures"].update(x={"question_id": ANSWERED.name}),
        Kind.FORGOTTEN_KEPT,
    ),
    (lambda outside: outside.messages[0].update(text=TITLE, cardsV2=[PROGRESS]), Kind.NO_END),
    (lambda outside: outside.messages[0].update(lastUpdateTime="2026-11-30T10:00:09Z"), Kind.FORGOTTEN_SAID),
    (lambda outside: outside.documents[TOMBSTONES].clear(), Kind.NOT_FORGOTTEN),
]


@pytest.mark.parametrize(("harm", "kind"), LEFT)
def test_what_is_left_of_a_forgotten_conversation_is_reported(
    forgetful: Outside, harm: Callable[[Outside], object], kind: Kind
) -> None:
    forgetful.documents["failures"] = {}
    harm(forgetful)

    assert kind in {violation.kind for violation in check(ALL, forgetful, FORGOT).violations}


def test_what_was_asked_after_a_conversation_was_to_be_forgotten_is_looked_at_as_ever(
    forgetful: Outside,
) -> None:
    early = Done(forgot=[replace(FORGOT.forgot[0], created="2026-11-30T10:00:01.500000Z")])

    found = check(ALL, forgetful, early)

    assert {(each.kind, each.question) for each in found.violations} == {
        (Kind.NOT_RECORDED, FOLLOW_UP.name),
    }


def test_what_stands_for_a_forgotten_question_is_not_taken_for_the_end_of_a_later_one(
    forgetful: Outside,
) -> None:
    later = replace(ANSWERED, name="spaces/S/messages/later", created="2026-11-30T10:00:09.000000Z")
    put_record(forgetful, later, final("x"))
    gone = said(ANSWERED, text("en", "notice", "forgotten_question"), cards=False)
    forgetful.messages[0] = {**gone, "createTime": "2026-11-30T10:00:10.000000Z"}
    deleted = replace(FORGOT, deleted=Counter({THREAD: 1}))

    assert check([*ALL, later], forgetful, deleted).ended[later.name] == End.DELETED
    assert Kind.LOST in {each.kind for each in check([*ALL, later], forgetful, FORGOT).violations}
