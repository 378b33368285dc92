"""What a button stands below: an ending, and the question that it answers."""

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
    """What finding it asks of the world."""

    @property
    def records(self) -> Records: ...
    @property
    def forgotten(self) -> Forgotten: ...


@dataclass(frozen=True)
class About:
    """A question with its ending; `current`: the button stood below that one, not an earlier one."""

    question: Question
    ending: Ending
    current: bool


def about(event: Clicked, services: Services, deadline: Deadline) -> About | None:
    """What a button is about, as far as it is kept; None too for what is to be forgotten, or elsewhere.

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
