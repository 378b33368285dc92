"""Posts the recorded ending of a question. It is the last action of `answer` and of `tell`."""

from typing import Protocol

from answer_fn.reply import is_late, pointer_of
from shared.chat.display import Display
from shared.chat.message import Chat
from shared.memory.records import Standing
from shared.messages.envelope import Question
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, in_one_line

#: Seconds for pointing to a late answer, including the wait for a turn in the space.
WAIT_FOR_POINTING = 20.0


class Services(Protocol):
    """What delivering needs from outside."""

    @property
    def chat(self) -> Chat: ...
    @property
    def display(self) -> Display: ...


def deliver(question: Question, standing: Standing, services: Services, deadline: Deadline) -> None:
    """Make Chat show the recorded ending of a question. Idempotent.

    If a late ending goes into an old message, a second message points to it, because the asker may no longer
    look at the old one. Raises Permanent or Transient.
    """
    ending = standing.ending
    if ending is None or not is_late(ending.since or question.asked_at):
        services.display.ending(question, standing, deadline)
        return
    # This may be a late copy of a message that was handled in time. Then nothing points to the answer.
    known = _says(question, ending.text, services, deadline)
    posted = services.display.ending(question, standing, deadline)
    if known or not posted.in_place:
        return
    try:
        services.chat.point(question, posted, pointer_of(question), deadline.within(WAIT_FOR_POINTING))
    except Exception as error:
        logs.warning("The late answer is not pointed to", error=in_one_line(error))


def _says(question: Question, said: str, services: Services, deadline: Deadline) -> bool:
    """Whether the question's message has this text now. False if it cannot be read."""
    try:
        return services.chat.shown(question, 1, deadline.within(deadline.remaining / 3)) == [said]
    except StepError:
        return False
