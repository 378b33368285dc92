"""The one receiver of every function: it decides what becomes of a request.

    receive → open → work → done
                 ╰──────┴─→ Permanent: park, then done
                 ╰──────┴─→ Transient: deliver it again

`Step`, ingest's `Door` and `Teller` say how a request is opened, what the work is and what parking means. A
request is answered `done` only after its result, or the request itself, is safe. No exception leaves a
receiver: the framework would answer 500 and print what the error says. Every failed attempt is recorded with
its reason, as far as the request tells which question it is about.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from shared.runtime import logs
from shared.runtime.cloudevent import is_whole
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, StepError, Transient, classify, in_one_line

#: A body and a status, as the framework takes them.
HttpReply = tuple[Any, int]
Headers = Mapping[str, str]


class HasId(Protocol):
    """A question, as far as it matters here."""

    @property
    def id(self) -> str: ...


class FailureRecords(Protocol):
    """Where failed attempts are recorded (`shared/memory/failures.py`)."""

    def record(
        self, question: Any, step: str, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """Record one failed attempt; returns how many there were."""


class Services(Protocol):
    """What every receiver asks of the world; a function's own services add to it."""

    @property
    def failures(self) -> FailureRecords: ...


class Refusal(Exception):
    """The request is not from whom it must be from. It gets `reply`, and nothing of it is kept."""

    def __init__(self, reason: str, reply: HttpReply) -> None:
        super().__init__(reason)
        self.reply = reply


M = TypeVar("M")
W = TypeVar("W", bound=Services)


class Receiver(ABC, Generic[M, W]):
    """Receives the requests of one function. `seconds` is the time for all that a request leads to."""

    #: To a Pub/Sub push only 2xx is an acknowledgement; any 4xx would mean "deliver it again", as 503 does.
    done: HttpReply = ("", 204)
    redeliver: HttpReply = ("", 503)

    def __init__(self, name: str, seconds: float, services: Callable[[], W]) -> None:
        self.name = name
        self.seconds = seconds
        self._open_services = services
        self._lock = threading.Lock()
        self._services: W | None = None

    @property
    def services(self) -> W:
        """The services, made on first use and once. When that fails, the next request tries again."""
        with self._lock:
            if self._services is None:
                self._services = self._open_services()
            return self._services

    @abstractmethod
    def open(self, headers: Headers, body: bytes) -> M:
        """Read a request. Raises Permanent, Transient or Refusal."""

    @abstractmethod
    def work(self, message: M, headers: Headers, deadline: Deadline) -> None:
        """Do what a message asks for, and pass the result on. Raises Permanent or Transient."""

    @abstractmethod
    def park(
        self, message: M | None, headers: Headers, body: bytes, trouble: StepError, deadline: Deadline
    ) -> None:
        """Keep what can never succeed (None: it could not be opened). Raises Permanent or Transient."""

    @abstractmethod
    def question(self, message: M | None, body: bytes) -> HasId | str | None:
        """The question that a request is about, its id, or what stands for it; None to record nothing."""

    def about(self, message: M) -> dict[str, str]:
        """What every log line of a message names, such as its question and its trace."""
        return {}

    def failed(self, message: M, headers: Headers, attempts: int, deadline: Deadline) -> None:
        """A message will be delivered again after so many failed attempts (0: unknown). Must not fail."""

    def receive(self, headers: Headers, body: bytes) -> HttpReply:
        """Handle one request."""
        deadline = Deadline(self.seconds)
        with logs.context(step=self.name):
            try:
                message = self._opened(headers, body)
            except Refusal as refusal:
                logs.warning("Request refused", reason=str(refusal))
                return refusal.reply
            except Exception as error:
                return self._fail(None, headers, body, error, deadline)
            with logs.context(**self.about(message)):
                try:
                    self.work(message, headers, deadline)
                except Exception as error:
                    return self._fail(message, headers, body, error, deadline)
        return self.done

    def _opened(self, headers: Headers, body: bytes) -> M:
        if not is_whole(headers, body):
            raise Transient("cut_off", "not all of the body has arrived")
        return self.open(headers, body)

    def _fail(
        self, message: M | None, headers: Headers, body: bytes, error: Exception, deadline: Deadline
    ) -> HttpReply:
        trouble, stack = classify(error, ""), logs.frames(error)
        question = self.question(message, body)
        question_id = question if isinstance(question, str) else question and question.id
        with logs.context(**({"question": question_id} if question_id else {})):
            logs.error("Step failed", reason=trouble.reason, error=str(trouble), frames=stack)
            attempts = self._record(question, trouble, stack, deadline)
            if isinstance(trouble, Permanent):
                return self._park(message, headers, body, trouble, deadline)
            if message is not None:
                self.failed(message, headers, attempts, deadline)
        return self.redeliver

    def _record(
        self, question: HasId | str | None, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """How often the step has failed for this question; 0 where that is not recorded."""
        if question is None:
            return 0
        try:
            return self.services.failures.record(question, self.name, trouble, stack, deadline)
        except Exception as failure:
            logs.error("The failure could not be recorded", error=in_one_line(failure))
            return 0

    def _park(
        self, message: M | None, headers: Headers, body: bytes, trouble: StepError, deadline: Deadline
    ) -> HttpReply:
        try:
            self.park(message, headers, body, trouble, deadline)
        except Exception as failure:
            logs.error("Could not be parked; it will be delivered again", error=in_one_line(failure))
            return self.redeliver
        return self.done
