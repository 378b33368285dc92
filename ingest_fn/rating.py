"""Ratings of answers: the thumbs below them, and why an answer was of no help."""

from typing import Protocol

from ingest_fn import about
from ingest_fn.incoming import Incoming
from ingest_fn.notices import notice
from shared.chat.buttons import ratings
from shared.chat.events import Clicked
from shared.chat.message import Chat
from shared.memory.feedback import REASONS, VERDICTS, Feedback
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line

#: Seconds for showing a rating below the answer, its turn in the space included.
WAIT_FOR_THANKS = 10.0


class Services(about.Services, Protocol):
    """What rating asks of the world."""

    @property
    def chat(self) -> Chat: ...
    @property
    def feedback(self) -> Feedback: ...


def rate(event: Clicked, _incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Keep what somebody thinks of an answer, and show that it was heard. Raises Transient or Permanent."""
    found = about.about(event, services, deadline)
    verdict = next((each for each in VERDICTS if each == event.parameters.get("verdict")), None)
    if found is None or verdict is None or not found.current:
        notice(event.place, "old_button", services, deadline)
        return
    reason = next((each for each in REASONS if each == event.parameters.get("reason")), None)
    if not services.feedback.keep(found.question, found.ending, event.place, verdict, reason, deadline):
        logs.info("Rated differently since")
        return
    logs.info("Rated", question=found.question.id, verdict=verdict, reason=reason)
    function, question, answer_number = (
        found.ending.click_target,
        found.question,
        found.ending.answer_number,
    )
    if function is None:
        return
    shown = ratings(function, question.language, question.id, answer_number, verdict, ask=reason is None)
    try:
        services.chat.put_accessory(event.message, shown, deadline.within(WAIT_FOR_THANKS))
    except Exception as error:
        logs.warning("The rating is kept, but not shown", error=in_one_line(error))
