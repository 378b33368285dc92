"""A step of the pipeline: the one place that decides the fate of a message.

Open the envelope, do the work, publish the follow-up, acknowledge: in this order, so that a process may
die anywhere and the message comes again. A Permanent failure is acknowledged only after the message is
safe in the dead letters. To a Pub/Sub push any 4xx means "again", so the only answers are 204 and 503.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from shared.chat.cards import Note, progress
from shared.chat.progress import Progress
from shared.memory.failures import Failures
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Envelope
from shared.pipeline import Row
from shared.runtime import logs
from shared.runtime.cloudevent import (
    Message,
    data_of,
    is_whole,
    message,
    passed_on,
    received_attributes,
    seconds_of,
)
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, StepError, Transient, classify, in_one_line
from shared.runtime.once import Once
from shared.runtime.outbox import Outbox
from shared.runtime.settings import CommonSettings

#: Seconds of the step's deadline that the work may not use: publishing, recording a failure, telling of it.
RESERVE = 15.0
#: A step that runs this long, in seconds, says so in the question's message.
SLOW_AFTER = 20.0
ACKNOWLEDGED, AGAIN = ("", 204), ("", 503)


class Services(Protocol):
    """What every step asks of the world; a step's own services add to it."""

    @property
    def outbox(self) -> Outbox: ...
    @property
    def failures(self) -> Failures: ...
    @property
    def progress(self) -> Progress: ...


#: How long each step so far took, in seconds, by its name.
Times = Mapping[str, float]
W = TypeVar("W", bound=Services)
C = TypeVar("C", bound=CommonSettings)


@dataclass
class Step(Generic[W]):
    """One step: its name, its work, and where the result goes.

    `work` returns the envelope for the next step, or None at the end of the pipeline. `afterwards` is for
    what may fail and must not delay the next step, such as progress: it runs between publishing and
    acknowledging, is told how long the steps took, and only logs its failures.
    """

    name: str
    stage: str
    seconds: float
    services: Callable[[], W]
    work: Callable[[Envelope, W, Deadline], Envelope | None]
    dead_letter_topic: str
    publishes_to: str | None = None
    afterwards: Callable[[Envelope, W, Deadline, Times], None] | None = None
    slow_after: float = SLOW_AFTER

    def __post_init__(self) -> None:
        self._made = Once(self.services)

    @property
    def _services(self) -> W:
        return self._made()

    def receive(self, headers: Mapping[str, str], body: bytes) -> tuple[str, int]:
        """Handle one unwrapped push. Returns a body and 204 (done, or parked) or 503 (deliver it again)."""
        deadline = Deadline(self.seconds)
        with logs.context(step=self.name):
            if not is_whole(headers, body):
                logs.warning("Cut off on the way; it will be delivered again")
                return AGAIN
            try:
                envelope = Envelope.from_bytes(data_of(headers, body))
            except Permanent as trouble:
                self._note_failure(DeadLetter.from_push(headers, body).question_id, trouble, [], deadline)
                return self._park(headers, body, trouble, deadline)
            except Transient as trouble:
                logs.warning("Not understood yet; it will be delivered again", reason=trouble.reason)
                return AGAIN
            with logs.context(question=envelope.question.id, trace=envelope.trace):
                return self._run(envelope, headers, body, deadline)

    def _run(
        self, envelope: Envelope, headers: Mapping[str, str], body: bytes, deadline: Deadline
    ) -> tuple[str, int]:
        started, attributes = time.monotonic(), received_attributes(headers)
        inherited: Mapping[str, str] = {}
        try:
            services = self._services
            work_deadline = deadline.within(self.seconds - RESERVE)
            with self._saying_when_slow(envelope, seconds_of(attributes), deadline):
                result = self.work(envelope, services, work_deadline)
            if result is not None:
                inherited = passed_on(attributes, self.name, time.monotonic() - started)
                self._pass_on(result, inherited, services, deadline)
        except Exception as error:  # the framework would answer 500 and print what the error says
            return self._fail(envelope, headers, body, error, deadline)
        if result is not None:
            self._try_afterwards(result, services, work_deadline, seconds_of(inherited))
        logs.info("Step done", seconds=round(time.monotonic() - started, 3))
        return ACKNOWLEDGED

    def _pass_on(
        self, envelope: Envelope, inherited: Mapping[str, str], services: W, deadline: Deadline
    ) -> None:
        if self.publishes_to is None:
            return
        follow_up = message(
            envelope.to_bytes(),
            question_id=envelope.key,
            step=self.name,
            trace=envelope.trace,
            inherited=inherited,
        )
        services.outbox.send(self.publishes_to, follow_up, deadline)

    def _try_afterwards(self, envelope: Envelope, services: W, deadline: Deadline, times: Times) -> None:
        if self.afterwards is None:
            return
        try:
            self.afterwards(envelope, services, deadline, times)
        except Exception as error:
            logs.warning("Progress was not shown", error=in_one_line(error))

    def _fail(
        self,
        envelope: Envelope,
        headers: Mapping[str, str],
        body: bytes,
        error: Exception,
        deadline: Deadline,
    ) -> tuple[str, int]:
        trouble = classify(error, "")
        stack = logs.frames(error)
        logs.error("Step failed", reason=trouble.reason, error=str(trouble), frames=stack)
        times = self._note_failure(envelope.question.id, trouble, stack, deadline)
        if isinstance(trouble, Permanent):
            return self._park(headers, body, trouble, deadline)
        if times == 1:  # said once; every further attempt would only write the same again
            self._show(envelope, "trying_again", seconds_of(received_attributes(headers)), deadline)
        return AGAIN

    def _note_failure(
        self, question_id: str, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """How often this step has failed for this question, or 0 when that could not be recorded."""
        try:
            return self._services.failures.note(question_id, self.name, trouble, stack, deadline)
        except Exception as error:
            logs.error("The failure could not be recorded", error=in_one_line(error))
            return 0

    @contextmanager
    def _saying_when_slow(self, envelope: Envelope, times: Times, deadline: Deadline) -> Iterator[None]:
        context = contextvars.copy_context()  # the timer's thread logs with the question's id, too
        say = (self._show, envelope, "still_working", times, deadline)
        timer = threading.Timer(self.slow_after, context.run, say)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _show(self, envelope: Envelope, note: Note, times: Times, deadline: Deadline) -> None:
        """Say in the question's message how it goes. Never fails: nothing depends on it."""
        try:
            card = progress(envelope.question.language, self.stage, envelope.search_query, note, times)
            self._services.progress.show(envelope.question, card, deadline, again=envelope.again)
        except Exception as error:
            logs.warning("Progress was not shown", error=in_one_line(error))

    def _park(
        self, headers: Mapping[str, str], body: bytes, trouble: StepError, deadline: Deadline
    ) -> tuple[str, int]:
        attributes = {
            **received_attributes(headers),
            "dead-letter-step": self.name,
            "dead-letter-reason": trouble.reason,
        }
        try:
            self._services.outbox.send(self.dead_letter_topic, Message(body, attributes), deadline)
        except Exception as error:
            logs.error("Could not be parked; it will be delivered again", error=in_one_line(error))
            return AGAIN
        logs.error("Parked in the dead letters", reason=trouble.reason, error=str(trouble))
        return ACKNOWLEDGED


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
