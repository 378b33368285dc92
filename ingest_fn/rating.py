"""Stores ratings of answers: thumbs up or down, and why an answer did not help."""

from typing import Protocol

from ingest_fn import about
from ingest_fn.incoming import Incoming
from ingest_fn.notices import notice
from shared.chat.buttons import ratings
from shared.chat.display import Display
from shared.chat.events import Clicked
from shared.chat.message import Chat
from shared.memory.feedback import REASONS, VERDICTS, Feedback
from shared.runtime import logs
from shared.runtime.deadline import Deadline

#: Seconds for showing a rating below the answer, including the wait for a turn in the space.
WAIT_FOR_THANKS = 10.0


class Services(about.Services, Protocol):
    """What rating needs from outside."""

    @property
    def chat(self) -> Chat: ...
    @property
    def display(self) -> Display: ...
    @property
    def feedback(self) -> Feedback: ...


def rate(event: Clicked, _incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Store a rating, and show it below the answer. Raises Transient or Permanent."""
    found = about.about(event, services, deadline)
    verdict = next((each for each in VERDICTS if each == event.parameters.get("verdict")), None)
    if found is None or verdict is None or not found.current:
        notice(event.place, "old_button", services, deadline)
        return
    reason = next((each for each in REASONS if each == event.parameters.get("reason")), None)
    person, at = event.place.person, event.place.at
    if not services.feedback.keep(found.question, found.ending, person, at, verdict, reason, deadline):
        logs.info("A later rating of the same person is stored")
        return
    logs.info("Rated", question=found.question.id, verdict=verdict, reason=reason)
    shown = ratings(found.ending, found.question, verdict, ask=reason is None)
    if shown:
        wait = deadline.within(WAIT_FOR_THANKS)
        services.display.accessory(found.question, found.ending, event.message, shown, wait)
