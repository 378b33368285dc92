"""A step of the pipeline: it takes an envelope, does its work and publishes what comes of it.

Open the envelope, do the work, publish the follow-up, acknowledge: in this order, so that a process may die
anywhere and the message comes again (`shared/runtime/receiver.py`).
"""

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Protocol, TypeVar

from shared.messages.dead_letter import question_id_in, unknown_id
from shared.messages.envelope import Envelope
from shared.pipeline import Row
from shared.runtime import logs, receiver
from shared.runtime.cloudevent import data_of, message, passed_on, received_attributes, seconds_of
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, in_one_line
from shared.runtime.outbox import Outbox
from shared.runtime.receiver import Headers, Receiver
from shared.runtime.settings import CommonSettings

#: Seconds of the step's deadline that the work may not use: publishing, recording a failure, telling of it.
RESERVE = 15.0
#: A step that runs this long, in seconds, says so in the question's message.
SLOW_AFTER = 20.0

#: What a progress card says besides its stages; keys of the catalogues' [progress].
Note = Literal["still_working", "trying_again"]
#: How long each step so far took, in seconds, by its name.
Times = Mapping[str, float]


class ProgressCards(Protocol):
    """Who shows in the question's message how it goes (`shared/chat/progress.py`)."""

    def say(self, envelope: Envelope, stage: str, note: Note, times: Times, deadline: Deadline) -> None:
        """Show the stage that is under way, with a note."""


class Services(receiver.Services, Protocol):
    """What every step asks of the world; a step's own services add to it."""

    @property
    def outbox(self) -> Outbox: ...
    @property
    def progress(self) -> ProgressCards: ...


W = TypeVar("W", bound=Services)
C = TypeVar("C", bound=CommonSettings)


class Step(Receiver[Envelope, W]):
    """One step: its name, its work, and where the result goes.

    `stage` is the row of the progress card that the step belongs to. `work` returns the envelope for the next
    step, or None at the end of the pipeline. `afterwards` is for what may fail and must not delay the next
    step, such as progress: it runs between publishing and acknowledging, is told how long the steps took, and
    only logs its failures.
    """

    def __init__(
        self,
        name: str,
        stage: str,
        seconds: float,
        services: Callable[[], W],
        work: Callable[[Envelope, W, Deadline], Envelope | None],
        dead_letter_topic: str,
        publishes_to: str | None = None,
        afterwards: Callable[[Envelope, W, Deadline, Times], None] | None = None,
        slow_after: float = SLOW_AFTER,
    ) -> None:
        super().__init__(name, seconds, services)
        self._stage = stage
        self._do = work
        self._dead_letter_topic = dead_letter_topic
        self._publishes_to = publishes_to
        self._afterwards = afterwards
        self._slow_after = slow_after

    def open(self, headers: Headers, body: bytes) -> Envelope:
        """The envelope in a push. Raises Permanent, or Transient for one of a newer version."""
        return Envelope.from_bytes(data_of(headers, body))

    def about(self, message: Envelope) -> dict[str, str]:
        """The question and the trace."""
        return {"question": message.question.id, "trace": message.trace}

    def question_id(self, message: Envelope | None, body: bytes) -> str:
        """The question's id, also in an envelope that cannot be opened or was cut off."""
        return message.question.id if message else question_id_in(body) or unknown_id(body)

    def work(self, message: Envelope, headers: Headers, deadline: Deadline) -> None:
        """Do the work, publish the result, then show it."""
        started, attributes, services = time.monotonic(), received_attributes(headers), self.services
        work_deadline = deadline.within(self.seconds - RESERVE)
        with self._saying_when_slow(message, seconds_of(attributes), deadline):
            result = self._do(message, services, work_deadline)
        if result is not None:
            inherited = passed_on(attributes, self.name, time.monotonic() - started)
            self._publish(result, inherited, services, deadline)
            self._try_afterwards(result, services, work_deadline, seconds_of(inherited))
        logs.info("Step done", seconds=round(time.monotonic() - started, 3))

    def park(
        self,
        _message: Envelope | None,
        headers: Headers,
        body: bytes,
        trouble: StepError,
        deadline: Deadline,
    ) -> None:
        """Publish the message, as it came, to the dead letters."""
        attributes = received_attributes(headers)
        self.services.outbox.park(self._dead_letter_topic, body, attributes, self.name, trouble, deadline)

    def failed(self, message: Envelope, headers: Headers, attempts: int, deadline: Deadline) -> None:
        """Say once that it will be tried again; every further attempt would only write the same again."""
        if attempts == 1:
            self._say(message, "trying_again", seconds_of(received_attributes(headers)), deadline)

    def _publish(
        self, envelope: Envelope, inherited: Mapping[str, str], services: W, deadline: Deadline
    ) -> None:
        if self._publishes_to is None:
            return
        follow_up = message(
            envelope.to_bytes(),
            question_id=envelope.key,
            step=self.name,
            trace=envelope.trace,
            inherited=inherited,
        )
        services.outbox.send(self._publishes_to, follow_up, deadline)

    def _try_afterwards(self, envelope: Envelope, services: W, deadline: Deadline, times: Times) -> None:
        if self._afterwards is None:
            return
        try:
            self._afterwards(envelope, services, deadline, times)
        except Exception as error:
            logs.warning("Progress was not shown", error=in_one_line(error))

    @contextmanager
    def _saying_when_slow(self, envelope: Envelope, times: Times, deadline: Deadline) -> Iterator[None]:
        context = contextvars.copy_context()  # the timer's thread logs with the question's id, too
        say = (self._say, envelope, "still_working", times, deadline)
        timer = threading.Timer(self._slow_after, context.run, say)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _say(self, envelope: Envelope, note: Note, times: Times, deadline: Deadline) -> None:
        """Say in the question's message how it goes. Never fails: nothing depends on it."""
        try:
            self.services.progress.say(envelope, self._stage, note, times, deadline)
        except Exception as error:
            logs.warning("Progress was not shown", error=in_one_line(error))


def serve(
    row: Row,
    settings: C,
    open_services: Callable[[C], W],
    work: Callable[[Envelope, W, Deadline], Envelope | None],
    afterwards: Callable[[Envelope, W, Deadline, Times], None] | None = None,
) -> Step[W]:
    """The step of a function's `main.py`, set up by its settings; the clients are made on first use."""
    logs.set_up(settings.google_cloud_project, content=settings.log_content)
    return Step(
        name=row.name,
        stage=row.stage,
        seconds=settings.step_seconds,
        services=lambda: open_services(settings),
        work=work,
        dead_letter_topic=settings.dead_letter_topic,
        publishes_to=settings.publishes_to,
        afterwards=afterwards,
    )
