"""Faults that can be switched on by name, because the real cloud fails, too.

A fault is named `<service>-<kind>`, for example `firestore-down` or `gemini-cut-off`. Every stand-in answers
each call inside `call()`, which awaits `gate()` first. For faults that change *what* a service says or
delivers (a duplicate delivery, a blocked model answer), the stand-in itself asks `drawn()`.

Every service has `-down` (503), `-throttled` (429) and `-refused` (403, which is final): they answer at once.
`-slow` answers after some seconds, `-hang` never. Chat has three more: `chat-duplicate` sends an event twice,
`chat-refused-cards` answers 400 to a message with cards and takes one of text alone, `chat-late` answers a
write with 504 and applies it seconds later. Pub/Sub has `pubsub-duplicate` and `pubsub-late` deliveries.
Gemini's answers can be `gemini-blocked`, `-cut-off`, `-invalid`, `-empty`, or `gemini-long`, which takes
several messages.

`<function>-killed` kills the function's processes every few seconds, in the middle of their work.
`<function>-frozen` stops them for some seconds after they have answered, as Cloud Run takes the CPU from an
idle instance. All their work stops during that time. `<function>-skewed` sets their clocks ahead by some
seconds, or back if the number is negative.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from shared.pipeline import pipeline

SERVICES = ("pubsub", "firestore", "rag", "gemini", "chat")
#: The kinds of every service, and those of every function.
COMMON_KINDS = ("down", "slow", "throttled", "hang", "refused")
OF_FUNCTIONS = ("killed", "frozen", "skewed")
#: The kinds of single services.
OWN_KINDS = {
    "pubsub": ("duplicate", "late"),
    "chat": ("duplicate", "refused-cards", "late"),
    "gemini": ("blocked", "cut-off", "invalid", "empty", "long"),
}
#: How many seconds a hanging call is held: longer than the deadline of any step.
HANG_SECONDS = 3600.0


def fault_names() -> tuple[str, ...]:
    """Every fault."""
    kinds = {service: (*COMMON_KINDS, *OWN_KINDS.get(service, ())) for service in SERVICES}
    kinds |= {function.name: OF_FUNCTIONS for function in pipeline().functions}
    return tuple(f"{name}-{kind}" for name, of_it in kinds.items() for kind in of_it)


class Refused(Exception):
    """The call must be answered with this gRPC status name and HTTP status."""

    def __init__(self, grpc_status: str, http_status: int, message: str) -> None:
        super().__init__(message)
        self.grpc_status = grpc_status
        self.http_status = http_status


@dataclass(frozen=True)
class Fault:
    """A fault that is switched on: the share of calls that it hits (0 to 1), and the seconds of its delay."""

    name: str
    share: float = 1.0
    seconds: float = 2.0


@dataclass
class Call:
    """One call of a service, with the monotonic seconds of its start and of its answer (None: not yet)."""

    service: str
    method: str
    came: float
    answered: float | None = None


class Faults:
    """The faults that are on. The seed makes runs repeatable."""

    def __init__(self, seed: int = 0) -> None:
        self._on: dict[str, Fault] = {}
        self._random = random.Random(seed)
        #: Number of hits of each fault, by name.
        self.hits: dict[str, int] = {}
        #: Number of calls by (service, method), including refused ones.
        self.calls: Counter[tuple[str, str]] = Counter()
        #: Called with the URL of a function each time one has answered.
        self.on_answer: Callable[[str], None] = lambda _: None
        self._recordings: list[list[Call]] = []

    def switch_on(self, name: str, *, share: float = 1.0, seconds: float = 2.0) -> None:
        """Switch a fault on. Raises ValueError, with the known names, for an unknown one."""
        if name not in fault_names():
            raise ValueError(f"Unknown fault {name!r}. Known faults: {', '.join(fault_names())}")
        self._on[name] = Fault(name, share, seconds)

    def switch_off(self, *names: str) -> None:
        """Switch these faults off, or all faults if no name is given."""
        for name in names or tuple(self._on):
            self._on.pop(name, None)

    def answered(self, url: str) -> None:
        """Report that the function at this URL has answered, so that it can be frozen."""
        self.on_answer(url)

    @property
    def active(self) -> list[Fault]:
        """The faults that are on, in the order in which they were switched on."""
        return list(self._on.values())

    def drawn(self, name: str) -> Fault | None:
        """The fault if it is on and hits this call, otherwise None."""
        fault = self._on.get(name)
        if fault is None or self._random.random() >= fault.share:
            return None
        self.hits[name] = self.hits.get(name, 0) + 1
        return fault

    @contextmanager
    def recording(self) -> Iterator[list[Call]]:
        """A list that collects all calls during the context, in order."""
        calls: list[Call] = []
        self._recordings.append(calls)
        try:
            yield calls
        finally:
            self._recordings = [each for each in self._recordings if each is not calls]

    @asynccontextmanager
    async def call(self, service: str, method: str) -> AsyncIterator[None]:
        """Answer a call inside this context, after the gate lets it through. Raises Refused."""
        call = Call(service, method, time.monotonic())
        for recording in self._recordings:
            recording.append(call)
        try:
            await self.gate(service, method)
            yield
        finally:
            call.answered = time.monotonic()

    async def gate(self, service: str, method: str) -> None:
        """Count a call to `service`, and delay or refuse it as its faults demand. Raises Refused."""
        self.calls[service, method] += 1
        if self.drawn(f"{service}-down"):
            raise Refused("UNAVAILABLE", 503, f"{service} is down (fault {service}-down)")
        if self.drawn(f"{service}-throttled"):
            raise Refused("RESOURCE_EXHAUSTED", 429, f"{service} is throttled (fault {service}-throttled)")
        if self.drawn(f"{service}-refused"):
            raise Refused("PERMISSION_DENIED", 403, f"{service} refuses (fault {service}-refused)")
        if slow := self.drawn(f"{service}-slow"):
            await asyncio.sleep(slow.seconds)
        if self.drawn(f"{service}-hang"):
            await asyncio.sleep(HANG_SECONDS)
