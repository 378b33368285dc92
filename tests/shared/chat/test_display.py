"""Whatever a writer was about to do, the ending that stands is what Chat shows once all of them are done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from local.runner.environment import UNBOUND
from shared.chat.api import ChatApi
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.chat.endings import contents_of
from shared.chat.message import Chat, Content, Posted, message_id
from shared.chat.slots import Slots
from shared.language.catalogue import text
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.conftest import SmallCloud
from tests.support.factories import ending
from tests.support.loopback import http

CARD = progress("en", "searching")


class Interrupted:
    """Chat, where something happens before a write, and something after it."""

    def __init__(
        self,
        chat: Chat,
        *,
        before: Callable[[], Any] = lambda: None,
        after: Callable[[], Any] = lambda: None,
    ) -> None:
        self._chat, self._before, self._after = chat, before, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chat, name)

    def update_progress(self, *given: Any) -> bool:
        self._before()
        written = self._chat.update_progress(*given)
        self._after()
        return written

    def put_final(self, *given: Any, **options: Any) -> Posted:
        before, self._before = self._before, lambda: None
        after, self._after = self._after, lambda: None
        before()
        posted = self._chat.put_final(*given, **options)
        after()
        return posted


def again(number: int, kind: str = "answer") -> Ending:
    return ending(kind, f"{kind} {number}.", answer_number=number)


@pytest.fixture
def records(firestore: Any) -> Records:
    return Records(firestore, 24)


@pytest.fixture
def display(chat: Chat, records: Records, asked: Question) -> Display:
    chat.post_progress(asked, CARD, Deadline(5))
    return Display(chat, records)


@pytest.fixture
def shown(small_cloud: SmallCloud, asked: Question) -> Callable[[], str]:
    """The text of the question's message."""

    def read() -> str:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return str(http.get(f"{small_cloud.places.url}/v1/{name}").json()["text"])

    return read


def show(display: Display, records: Records, asked: Question, final: Ending) -> None:
    display.ending(asked, records.end(asked, final, Deadline(10)), Deadline(30))


def test_progress_is_shown_until_a_question_has_ended(
    display: Display, records: Records, asked: Question, shown: Any
) -> None:
    display.progress(asked, Content("Progress."), Deadline(20))
    assert shown() == "Progress."

    show(display, records, asked, again(0))
    display.progress(asked, Content("Late."), Deadline(20))

    assert shown() == "answer 0."


def test_progress_of_a_question_that_is_asked_again_covers_the_answer_of_before(
    display: Display, records: Records, asked: Question, shown: Any
) -> None:
    show(display, records, asked, again(0))
    display.progress(asked, Content("Anew."), Deadline(20), answer_number=1)

    assert shown() == "Anew."


@pytest.mark.parametrize(
    "final", [again(0), again(0, "apology"), again(1)], ids=["answer", "apology", "later"]
)
def test_progress_that_covers_an_ending_is_replaced_by_it(
    display: Display, chat: Chat, records: Records, asked: Question, shown: Any, final: Ending
) -> None:
    slow = Interrupted(chat, before=lambda: show(display, records, asked, final))

    Display(slow, records).progress(asked, CARD, Deadline(20))  # type: ignore[arg-type]

    assert shown() == final.text


def test_progress_that_was_killed_before_its_look_is_replaced_when_its_message_comes_again(
    display: Display, chat: Chat, records: Records, asked: Question, shown: Any, firestore: Any
) -> None:
    show(display, records, asked, again(0))
    chat.update_progress(asked, CARD, Deadline(5))
    display.progress(asked, CARD, Deadline(20))
    assert shown() == "answer 0."

    Forgotten(firestore).record(asked.conversation, asked.asked_at + timedelta(seconds=1), Deadline(5))
    chat.update_progress(asked, CARD, Deadline(5))
    display.progress(asked, CARD, Deadline(20))
    assert shown() == text("en", "notice", "forgotten_question")


@pytest.mark.parametrize(
    "lower, higher",
    [(again(0, "apology"), again(0)), (again(0), again(1)), (again(1, "apology"), again(1, "fallback"))],
)
def test_a_lower_ending_that_is_posted_late_is_replaced_by_the_higher_one(
    display: Display, chat: Chat, records: Records, asked: Question, shown: Any, lower: Ending, higher: Ending
) -> None:
    standing = records.end(asked, lower, Deadline(10))
    slow = Interrupted(chat, before=lambda: show(display, records, asked, higher))

    Display(slow, records).ending(asked, standing, Deadline(30))  # type: ignore[arg-type]

    assert shown() == higher.text


def test_what_is_forgotten_while_it_is_posted_does_not_stay(
    chat: Chat, records: Records, asked: Question, shown: Any, firestore: Any, display: Display
) -> None:
    standing = records.end(asked, again(0), Deadline(10))
    at = asked.asked_at + timedelta(seconds=1)
    slow = Interrupted(chat, before=lambda: Forgotten(firestore).record(asked.conversation, at, Deadline(5)))

    Display(slow, records).ending(asked, standing, Deadline(30))  # type: ignore[arg-type]

    assert shown() == text("en", "notice", "forgotten_question")


@pytest.mark.parametrize("what", ["progress", "an ending"])
def test_a_write_that_cannot_be_followed_by_a_look_is_to_be_done_again(
    display: Display, chat: Chat, records: Records, asked: Question, faults: Any, what: str
) -> None:
    blind = Display(
        Interrupted(chat, after=lambda: faults.switch_on("firestore-down")),  # type: ignore[arg-type]
        records,
    )
    standing = records.end(asked, again(0), Deadline(10)) if what == "an ending" else None

    with pytest.raises(Transient):
        if standing is None:
            blind.progress(asked, CARD, Deadline(3))
        else:
            blind.ending(asked, standing, Deadline(3))


@pytest.mark.parametrize("fault", ["chat-throttled", "chat-refused"])
def test_progress_that_chat_has_refused_is_only_logged(
    display: Display, records: Records, asked: Question, faults: Any, fault: str
) -> None:
    faults.switch_on(fault)
    display.progress(asked, CARD, Deadline(20))
    faults.switch_off()

    records.end(asked, again(0), Deadline(10))
    faults.switch_on("chat-refused")
    display.progress(asked, CARD, Deadline(20))


@pytest.mark.slow
@pytest.mark.parametrize("late", ["progress", "an ending"])
def test_a_write_that_chat_applies_late_is_waited_for_and_mended(
    chat_client: Any, firestore: Any, display: Display, records: Records, asked: Question, shown: Any,
    faults: Any, late: str,
) -> None:  # fmt: skip
    mine = Chat(ChatApi(chat_client, Slots(firestore, UNBOUND), lateness=3.0))
    standing = records.end(asked, again(0), Deadline(10)) if late == "an ending" else None
    first = contents_of(again(0), asked)[0]

    class Soon:
        """Chat is late with one write alone; before that is applied, a higher ending is posted."""

        def __getattr__(self, name: str) -> Any:
            return getattr(mine, name)

        def await_late_writes(self, *given: Any) -> bool:
            show(display, records, asked, again(1))
            assert shown() == "answer 1."
            return mine.await_late_writes(*given)

    faults.switch_on("chat-late", seconds=2)
    with pytest.raises(Transient):
        if standing is None:
            mine.update_progress(asked, CARD, Deadline(5))
        else:
            mine.put_final(asked, first, Deadline(0.2))
    faults.switch_off()
    writer = Display(Soon(), records)  # type: ignore[arg-type]
    writer._look(asked, standing.rank if standing else None, Deadline(30))

    assert shown() == "answer 1."
