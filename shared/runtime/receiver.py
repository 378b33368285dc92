"""The base class of all receivers. It decides what happens to a request.

    receive → open → work → done
                 ╰──────┴─→ Permanent: park, then done
                 ╰──────┴─→ Transient: deliver it again

`Step`, ingest's `Door`, `Teller` and `Sweeper` define how to open a request, what the work is, and what
parking means. The reply is `done` only after the result, or the request itself, is stored. No exception
leaves a receiver, because the framework would reply 500 and print the text of the error. Every failed attempt
is recorded with its reason, if the question is known.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from shared.runtime import logs
from shared.runtime.cloudevent import is_whole
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, StepError, Transient, classify, in_one_line

#: A body and a status, as the framework expects them.
HttpReply = tuple[Any, int]
Headers = Mapping[str, str]


class HasId(Protocol):
    """The part of a question that is needed here."""

    @property
    def id(self) -> str: ...


class FailureRecords(Protocol):
    """The store of failed attempts (`shared/memory/failures.py`)."""

    def record(
        self, question: Any, step: str, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """Record one failed attempt, and return how many there were."""


class Services(Protocol):
    """What every receiver needs from outside. The services of a function add to it."""

    @property
    def failures(self) -> FailureRecords: ...


class Refusal(Exception):
    """The request is not from an accepted caller. It gets `reply`, and nothing of it is stored."""

    def __init__(self, reason: str, reply: HttpReply) -> None:
        super().__init__(reason)
        self.reply = reply


M = TypeVar("M")
W = TypeVar("W", bound=Services)


class Receiver(ABC, Generic[M, W]):
    """Receives the requests of one function. `seconds` is the deadline for the work on a request."""

    #: For a Pub/Sub push only 2xx is an acknowledgement. Any 4xx would mean "deliver it again", as 503 does.
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
        """The services, created once, on first use. If that fails, the next request tries again."""
        with self._lock:
            if self._services is None:
                self._services = self._open_services()
            return self._services

    @abstractmethod
    def open(self, headers: Headers, body: bytes) -> M:
        """Read a request. Raises Permanent, Transient or Refusal."""

    @abstractmethod
    def work(self, message: M, headers: Headers, deadline: Deadline) -> None:
        """Process a message, and pass the result on. Raises Permanent or Transient."""

    @abstractmethod
    def park(
        self, message: M | None, headers: Headers, body: bytes, trouble: StepError, deadline: Deadline
    ) -> None:
        """Store a message that can never succeed (None: it is unreadable). Raises Permanent or Transient."""

    @abstractmethod
    def question(self, message: M | None, body: bytes) -> HasId | str | None:
        """The question of a request, its id, or an id in its place. None: record nothing."""

    def about(self, message: M) -> dict[str, str]:
        """The fields for every log line of a message, such as its question and its trace."""
        return {}

    def failed(self, message: M, headers: Headers, attempts: int, deadline: Deadline) -> None:
        """Called when a message will come again, after `attempts` failures (0: unknown). Must not fail."""

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
        """How often the step has failed for this question; 0 if that is not recorded."""
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
            logs.error(
                "The message could not be parked; it will be delivered again", error=in_one_line(failure)
            )
            return self.redeliver
        return self.done
