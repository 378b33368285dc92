"""The memory: what is remembered, for how long, and that nothing is lost when two write at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.memory import conversations as module
from shared.memory.conversations import COLLECTION, MOST_BYTES, Conversations
from shared.memory.turns import PENDING_COUNTS_FOR, PROMPT_CHARACTERS
from shared.messages.envelope import Question, Turn
from shared.messages.names import document_id
from tests.support import remembering
from tests.support.factories import question

HOURS = 24


@pytest.fixture
def memory(firestore: Any) -> Conversations:
    return Conversations(firestore, HOURS)


def ask(memory: Conversations, asked: Question) -> tuple[Turn, ...]:
    return remembering.wait_for(memory._client, asked).history


def save(memory: Conversations, asked: Question, answer: str = "Like this [1].") -> None:
    remembering.answer(memory._client, asked, answer, search_query=asked.text)


def next_in(conversation: Question, text: str, seconds: float = 1, number: int = 1) -> Question:
    """Another question of the same conversation, `seconds` later."""
    return conversation.model_copy(
        update={
            "id": f"{conversation.id}-{number}-{text[:9].replace(' ', '_')}",
            "text": text,
            "asked_at": conversation.asked_at + timedelta(seconds=seconds),
        }
    )


def document(firestore: Any, asked: Question) -> dict[str, Any]:
    found = firestore.collection(COLLECTION).document(document_id(asked.conversation)).get().to_dict()
    assert found is not None
    return dict(found)


def reference(firestore: Any, asked: Question) -> Any:
    return firestore.collection(COLLECTION).document(document_id(asked.conversation))


def test_a_follow_up_sees_the_question_and_the_answer_before_it(memory: Conversations) -> None:
    first = question()
    ask(memory, first)
    save(memory, first, "Install the client [1].")

    history = ask(memory, next_in(first, "and on a Mac?"))

    assert [(turn.role, turn.text) for turn in history] == [
        ("user", first.text),
        ("assistant", "Install the client [1]."),
    ]


def test_a_question_is_never_in_its_own_history(memory: Conversations) -> None:
    asked = question()

    assert ask(memory, asked) == ()
    assert ask(memory, asked) == ()


def test_two_turns_of_one_thread_are_both_kept(memory: Conversations, firestore: Any) -> None:
    first = question()
    second = next_in(first, "and on a Mac?")
    save(memory, first)
    save(memory, second)

    assert [turn["text"] for turn in document(firestore, first)["turns"] if turn["role"] == "user"] == [
        first.text,
        second.text,
    ]


def test_turns_are_in_order_of_asking_whoever_was_answered_first(
    memory: Conversations, firestore: Any
) -> None:
    first = question()
    second = next_in(first, "and on a Mac?")
    save(memory, second)
    save(memory, first)

    roles = [(turn["role"], turn["question_id"]) for turn in document(firestore, first)["turns"]]
    assert roles == [
        ("user", first.id),
        ("assistant", first.id),
        ("user", second.id),
        ("assistant", second.id),
    ]


def test_the_message_that_a_question_quotes_is_remembered_with_it(memory: Conversations) -> None:
    first = question(quote="You have to reset your password before Friday.")
    plain = first.model_copy(update={"quote": None})
    ask(memory, first)
    before_the_answer = ask(memory, next_in(plain, "and then?"))
    save(memory, first)
    after_it = ask(memory, next_in(plain, "and on a Mac?", seconds=2))

    assert [turn.role for turn in before_the_answer] == ["quoted", "user"]
    assert [turn.role for turn in after_it] == ["quoted", "user", "assistant", "user"]
    assert {turn.text for turn in (before_the_answer[0], after_it[0])} == {first.quote}


def test_turns_saved_at_the_same_moment_are_all_kept(memory: Conversations, firestore: Any) -> None:
    first = question()
    others = [next_in(first, f"question {number}", number, number) for number in range(6)]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda asked: save(memory, asked), others))

    turns = document(firestore, first)["turns"]
    assert [turn["question_id"] for turn in turns if turn["role"] == "user"] == [asked.id for asked in others]


def test_a_turn_is_saved_once(memory: Conversations, firestore: Any) -> None:
    asked = question()
    save(memory, asked)
    save(memory, asked, "Something else, from a redelivery.")

    assert len(document(firestore, asked)["turns"]) == 2


def test_a_question_that_was_answered_is_recognised_when_chat_sends_it_again(memory: Conversations) -> None:
    asked = question()
    save(memory, asked)

    assert remembering.wait_for(memory._client, asked).answered


def test_a_pending_question_counts_for_the_next_one(memory: Conversations) -> None:
    first = question(text="how do I set up VPN")
    ask(memory, first)

    assert [turn.text for turn in ask(memory, next_in(first, "on a Mac"))] == ["how do I set up VPN"]


def test_a_question_pending_for_too_long_no_longer_counts(memory: Conversations) -> None:
    stale = datetime.now(UTC) - PENDING_COUNTS_FOR - timedelta(seconds=1)
    first = question(text="how do I set up VPN", asked_at=stale)
    ask(memory, first)

    assert ask(memory, next_in(first, "on a Mac", 400)) == ()


def test_an_answered_question_is_no_longer_pending(memory: Conversations, firestore: Any) -> None:
    asked = question()
    ask(memory, asked)
    save(memory, asked)

    assert document(firestore, asked)["pending"] == []


def test_a_conversation_past_its_time_is_forgotten_though_it_is_still_stored(
    memory: Conversations, firestore: Any
) -> None:
    asked = question()
    save(memory, asked)
    reference(firestore, asked).update({"expired_at": datetime.now(UTC) - timedelta(seconds=1)})
    later = next_in(asked, "and now?")

    assert ask(memory, later) == ()
    assert [entry["question_id"] for entry in document(firestore, asked)["pending"]] == [later.id]
    assert document(firestore, asked)["turns"] == []


def test_every_save_extends_the_time_by_a_day(memory: Conversations, firestore: Any) -> None:
    asked = question()
    save(memory, asked)

    left = document(firestore, asked)["expired_at"] - datetime.now(UTC)
    assert timedelta(hours=23, minutes=59) < left <= timedelta(hours=24)


def test_conversations_know_nothing_of_each_other(memory: Conversations) -> None:
    save(memory, question())

    assert ask(memory, question()) == ()


def test_what_goes_into_a_prompt_is_bounded_and_newest_first(memory: Conversations) -> None:
    first = question()
    for number in range(12):
        save(memory, next_in(first, f"question {number}", number, number), "x" * 1_000)

    history = ask(memory, next_in(first, "and now?", 60))

    assert sum(len(turn.text) for turn in history) <= PROMPT_CHARACTERS
    assert history[-2].text == "question 11"


def test_the_oldest_turns_go_before_the_document_is_too_big(memory: Conversations, firestore: Any) -> None:
    first = question()
    answers = MOST_BYTES // 4
    for number in range(5):
        save(memory, next_in(first, f"question {number}", number, number), "x" * answers)

    turns = document(firestore, first)["turns"]
    assert [turn["text"] for turn in turns if turn["role"] == "user"] == [
        "question 2",
        "question 3",
        "question 4",
    ]


@pytest.mark.parametrize(
    "foreign",
    [
        {},
        {"turns": "none", "expired_at": "tomorrow"},
        {"turns": None, "pending": 3},
        {"turns": [None, 3, "x", {}, {"role": "user"}, {"role": "robot", "text": "hi"}]},
        {"turns": [{"role": "user", "text": 4, "question_id": "q", "timestamp": "now"}], "pending": [3]},
        {"turns": {"0": {"role": "user"}}},
    ],
)
def test_a_foreign_document_breaks_nothing(
    memory: Conversations, firestore: Any, foreign: dict[str, Any]
) -> None:
    asked = question()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    reference(firestore, asked).set({"expired_at": tomorrow, **foreign})

    assert ask(memory, asked) == ()
    save(memory, asked)
    assert len(document(firestore, asked)["turns"]) == 2


def test_a_well_formed_turn_beside_a_corrupted_one_is_remembered(
    memory: Conversations, firestore: Any
) -> None:
    asked = question()
    save(memory, asked)
    turns = [None, *document(firestore, asked)["turns"], {"role": "user"}]
    reference(firestore, asked).update({"turns": turns})

    assert len(ask(memory, next_in(asked, "and now?"))) == 2


def test_the_document_lies_where_the_ttl_policy_looks_for_it() -> None:
    assert module.COLLECTION == "chat_threads"
    assert document_id("spaces/A/threads/B") == "spaces_A_threads_B"
