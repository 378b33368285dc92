"""Finds the question and the ending that a clicked button belongs to."""

from dataclasses import dataclass
from typing import Protocol

from shared.chat.events import Clicked
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.messages.names import is_message_of
from shared.runtime.deadline import Deadline


class Services(Protocol):
    """What this module needs from outside."""

    @property
    def records(self) -> Records: ...
    @property
    def forgotten(self) -> Forgotten: ...


@dataclass(frozen=True)
class About:
    """A question and its ending. `current` is false when the button belongs to an earlier answer."""

    question: Question
    ending: Ending
    current: bool


def about(event: Clicked, services: Services, deadline: Deadline) -> About | None:
    """The question and the ending that a button belongs to.

    None if they are no longer stored, if the bot must forget the question, or if it is from another space.
    Raises Transient or Permanent.
    """
    question_id, number = event.parameters.get("question", ""), event.parameters.get("again", "")
    if not is_message_of(event.place.space, question_id):
        return None
    ending = services.records.ending(question_id, deadline)
    question = ending.asked if ending else None
    if ending is None or question is None or question.id != question_id:
        return None
    if services.forgotten.covers(question, deadline):
        return None
    return About(question, ending, current=number == str(ending.answer_number))
