"""A step of the pipeline: it takes an envelope, does its work, and publishes the result.

The order is: open the envelope, do the work, publish the result, acknowledge. So a process may die at any
point, and the message is delivered again (`shared/runtime/receiver.py`).
"""

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Literal, Protocol, TypeVar

from shared.messages.dead_letter import question_id_in, unknown_id
from shared.messages.envelope import Envelope, Question
from shared.pipeline import Row
from shared.runtime import logs, receiver
from shared.runtime.cloudevent import data_of, message, passed_on, received_attributes, seconds_of
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, in_one_line
from shared.runtime.outbox import Outbox
from shared.runtime.receiver import Headers, Receiver
from shared.runtime.settings import CommonSettings

#: Seconds of the step's deadline that are reserved for publishing, recording a failure and showing it.
RESERVE = 15.0
#: After this many seconds a step says in the question's message that it is slow.
SLOW_AFTER = 20.0

#: A note below the stages of a progress card; keys of the catalogues' [progress].
Note = Literal["still_working", "trying_again"]
#: How long each step so far took, in seconds, by its name.
Times = Mapping[str, float]


class Display(Protocol):
    """Shows progress in the question's message (`shared/chat/display.py`)."""

    def say(self, envelope: Envelope, stage: str, note: Note, times: Times, deadline: Deadline) -> None:
        """Show the current stage, with a note. Raises Transient if this may have covered an ending."""


class Services(receiver.Services, Protocol):
    """What every step needs from outside. The services of a step add to it."""

    @property
    def outbox(self) -> Outbox: ...
    @property
    def display(self) -> Display: ...


W = TypeVar("W", bound=Services)
C = TypeVar("C", bound=CommonSettings)


class Step(Receiver[Envelope, W]):
    """One step: its name, its work, and where the result goes.

    `stage` is the row of the progress card that the step belongs to. `work` returns the envelope for the next
    step, or None at the end of the pipeline. `afterwards` is for work that must not delay the next step, such
    as showing progress. It runs between publishing and acknowledging, and gets the seconds that each step
    took. If it fails, the message is delivered again.
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
        """Read the envelope in a push. Raises Permanent, or Transient for a newer version."""
        return Envelope.from_bytes(data_of(headers, body))

    def about(self, message: Envelope) -> dict[str, str]:
        """The question and the trace."""
        return {"question": message.question.id, "trace": message.trace}

    def question(self, message: Envelope | None, body: bytes) -> Question | str:
        """The question. If the envelope cannot be opened, the id in it, or an id in its place."""
        return message.question if message else question_id_in(body) or unknown_id(body)

    def work(self, message: Envelope, headers: Headers, deadline: Deadline) -> None:
        """Do the work, publish the result, then show it."""
        started, attributes, services = time.monotonic(), received_attributes(headers), self.services
        work_deadline = deadline.within(self.seconds - RESERVE)
        slow = self._say_when_slow(message, seconds_of(attributes), deadline)
        try:
            result = self._do(message, services, work_deadline)
            slow.cancel()
            if result is not None:
                inherited = passed_on(attributes, self.name, time.monotonic() - started)
                self._publish(result, inherited, services, deadline)
                if self._afterwards is not None:
                    self._afterwards(result, services, deadline, seconds_of(inherited))
        finally:
            slow.finish()  # its write must not outlive the request
        logs.info("Step done", seconds=round(time.monotonic() - started, 3))

    def park(
        self,
        _message: Envelope | None,
        headers: Headers,
        body: bytes,
        trouble: StepError,
        deadline: Deadline,
    ) -> None:
        """Publish the message unchanged to the dead letters."""
        attributes = received_attributes(headers)
        self.services.outbox.park(self._dead_letter_topic, body, attributes, self.name, trouble, deadline)

    def failed(self, message: Envelope, headers: Headers, attempts: int, deadline: Deadline) -> None:
        """Show once that the step will be tried again. Further attempts would only write the same text."""
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

    def _say_when_slow(self, envelope: Envelope, times: Times, deadline: Deadline) -> "_Later":
        def say() -> None:
            self.services.display.say(envelope, self._stage, "still_working", times, deadline)

        return _Later(self._slow_after, say)

    def _say(self, envelope: Envelope, note: Note, times: Times, deadline: Deadline) -> None:
        """Show a note in the question's message. Never fails: the message is delivered again anyway."""
        try:
            self.services.display.say(envelope, self._stage, note, times, deadline)
        except Exception as error:
            logs.warning("It is unknown what the message shows", error=in_one_line(error))


class _Later:
    """Work that starts after `seconds` in a thread of its own, with the caller's log context."""

    def __init__(self, seconds: float, work: Callable[[], None]) -> None:
        self._future: Future[None] = Future()
        context = contextvars.copy_context()

        def run() -> None:
            if self._future.set_running_or_notify_cancel():
                try:
                    self._future.set_result(context.run(work))
                except Exception as error:  # `finish` raises it
                    self._future.set_exception(error)

        self._timer = threading.Timer(seconds, run)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Do not start the work, unless it has started."""
        self._timer.cancel()
        self._future.cancel()

    def finish(self) -> None:
        """Do not start the work; if it has started, wait for it. Raises the errors of the work."""
        self.cancel()
        if not self._future.cancelled():
            self._future.result()


def serve(
    row: Row,
    settings: C,
    open_services: Callable[[C], W],
    work: Callable[[Envelope, W, Deadline], Envelope | None],
    afterwards: Callable[[Envelope, W, Deadline, Times], None] | None = None,
) -> Step[W]:
    """The step for a function's `main.py`, configured by its settings. Clients are created on first use."""
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
