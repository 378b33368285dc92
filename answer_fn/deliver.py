"""The last things done for a question: its final message is posted, its turn saved, and both noted.

`answer` ends with it, and so does `tell` for an answer whose process died before it got here.
"""

from datetime import UTC, datetime
from typing import Protocol

from answer_fn.reply import contents_of, is_late, pointer_of
from shared.chat.message import Chat, Posted
from shared.memory.cases import Cases
from shared.memory.conversations import Conversations
from shared.memory.records import Records, Settled
from shared.messages.ending import REMEMBERED, Ending
from shared.messages.envelope import Question
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient, in_one_line

#: Seconds for saving the turn: nobody waits for it, so it may outlast an outage.
WAIT_FOR_SAVING = 40.0
#: Seconds for pointing to a late answer, its turn in the space included.
WAIT_FOR_POINTING = 20.0
#: Seconds for noting that all is done: if it fails, a redelivery does it all again, to the same end.
WAIT_FOR_NOTING = 10.0


class Services(Protocol):
    """What delivering asks of the world."""

    @property
    def chat(self) -> Chat: ...
    @property
    def records(self) -> Records: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def cases(self) -> Cases: ...


def deliver(question: Question, settled: Settled, services: Services, deadline: Deadline) -> None:
    """Make a noted final message what the person sees, and remember it. Idempotent.

    Raises Permanent or Transient; an answer that is posted stands, even if it cannot be remembered yet.
    """
    ending, answer_number = settled.ending, settled.answer_number
    since = ending.since or question.asked_at
    first, *more = contents_of(ending, question)
    logs.info("Ready")  # it may have to wait for its turn in the space
    posted = services.chat.put_final(question, first, deadline, more=more)
    answer_seconds = (datetime.now(UTC) - since).total_seconds()
    logs.info(
        "Posted",
        content={"answered": ending.plain},
        kind=ending.kind,
        parts=1 + len(more),
        sources=len(ending.sources),
        answer_seconds=round(max(0.0, answer_seconds), 3),  # Chat's clock and ours may differ
    )
    _save(question, ending, services, deadline)
    if posted.in_place and is_late(since):
        _point(question, posted, services, deadline)
    if settled.apologised or is_late(since) or answer_number:
        mark_case(question, services, deadline)
    newer = _mark_posted(question, answer_number, services, deadline)
    if newer is not None:  # it may have been posted before this one, which is in its place now
        deliver(question, newer, services, deadline)


def mark_case(question: Question, services: Services, deadline: Deadline) -> None:
    """Note in the question's dead-letter case, if it has one, that it is answered. Never fails."""
    try:
        services.cases.mark_answered(question.id, deadline.within(WAIT_FOR_NOTING))
    except Exception as error:
        logs.warning("The case is not marked as answered", error=in_one_line(error))


def _point(question: Question, posted: Posted, services: Services, deadline: Deadline) -> None:
    """Point to an answer that took the place of an old message: nobody may look at that any more."""
    try:
        services.chat.point(question, posted, pointer_of(question), deadline.within(WAIT_FOR_POINTING))
    except Exception as error:
        logs.warning("The late answer is not pointed to", error=in_one_line(error))


def _save(question: Question, ending: Ending, services: Services, deadline: Deadline) -> None:
    answer_number, wait = ending.answer_number, deadline.within(WAIT_FOR_SAVING)
    try:
        if ending.kind in REMEMBERED:
            services.conversations.save_turn(
                question,
                ending.plain,
                wait,
                search_query=ending.search_query,
                sources=[source.id for source in ending.sources],
                answer_number=answer_number,
            )
        elif answer_number:
            services.conversations.drop_turn(question, wait, answer_number=answer_number)
    except Exception as error:
        logs.error("THE TURN IS NOT SAVED: follow-ups do not know it yet", error=in_one_line(error))
        raise Transient("turn_not_saved", in_one_line(error)) from error


def _mark_posted(
    question: Question, answer_number: int, services: Services, deadline: Deadline
) -> Settled | None:
    """Note that all is done; returns the final message of a later time, if there is one by now."""
    try:
        return services.records.mark_posted(
            question.id, deadline.within(WAIT_FOR_NOTING), answer_number=answer_number
        )
    except Exception as error:
        logs.warning("Not marked as posted; a redelivery will repeat it", error=in_one_line(error))
        return None
