"""Faults that can be switched on by name: the small cloud must not be kinder than the real one.

A fault is named `<service>-<kind>`, for example `firestore-down` or `gemini-cut-off`. Every stand-in passes
`gate()` before it answers a call; kinds that change *what* a service says or delivers (a duplicate
delivery, a blocked model answer) are asked for by the stand-in itself with `drawn()`.

Of every service: `-down` (503), `-throttled` (429) and `-refused` (403, for good) at once, `-slow` after some
seconds, `-hang` never. Of Chat: `chat-duplicate` sends an event twice, `chat-refused-cards` answers 400 to a
message with cards and takes one of text alone, `chat-late` answers a write with 504 and applies it seconds
later. Of Pub/Sub: `pubsub-duplicate` and `pubsub-late` deliveries. Of Gemini: answers that are
`gemini-blocked`, `-cut-off`, `-invalid`, `-empty`, or `gemini-long`, so that they take several messages.
Of the functions: `<name>-killed` ends their processes every few seconds, in the middle of whatever;
`<name>-frozen` stops them for some seconds once they have answered, as Cloud Run takes the processor from an
instance (whatever else they have under way stands still, too); `<name>-skewed` sets their clocks ahead by so
many seconds, or back where that is negative.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

SERVICES = ("pubsub", "firestore", "rag", "gemini", "chat")
FUNCTIONS = ("ingest", "reformulate", "retrieve", "answer", "tell")
#: Kinds that every service understands, and those of every function.
COMMON_KINDS = ("down", "slow", "throttled", "hang", "refused")
OF_FUNCTIONS = ("killed", "frozen", "skewed")
#: Kinds that only one service understands.
OWN_KINDS = {
    "pubsub": ("duplicate", "late"),
    "chat": ("duplicate", "refused-cards", "late"),
    "gemini": ("blocked", "cut-off", "invalid", "empty", "long"),
}
NAMES = (
    *(f"{service}-{kind}" for service in SERVICES for kind in (*COMMON_KINDS, *OWN_KINDS.get(service, ()))),
    *(f"{function}-{kind}" for function in FUNCTIONS for kind in OF_FUNCTIONS),
)
#: How long a hanging call is held, in seconds: longer than any deadline of a step.
HANG_SECONDS = 3600.0


class Refused(Exception):
    """The call must be answered with this gRPC status name and HTTP status."""

    def __init__(self, grpc_status: str, http_status: int, message: str) -> None:
        super().__init__(message)
        self.grpc_status = grpc_status
        self.http_status = http_status


@dataclass(frozen=True)
class Fault:
    """One fault that is switched on: which calls it hits (`share`, 0 to 1) and how long it holds them."""

    name: str
    share: float = 1.0
    seconds: float = 2.0


class Faults:
    """The faults that are on now. Draws are seeded, so that a run can be repeated."""

    def __init__(self, seed: int = 0) -> None:
        self._on: dict[str, Fault] = {}
        self._random = random.Random(seed)
        #: How often each fault has hit, by name.
        self.hits: dict[str, int] = {}
        #: How many calls each service has had: (service, method).
        self.calls: Counter[tuple[str, str]] = Counter()
        #: Told the URL of a function each time one has answered.
        self.on_answer: Callable[[str], None] = lambda _: None

    def switch_on(self, name: str, *, share: float = 1.0, seconds: float = 2.0) -> None:
        """Switch a fault on. Raises ValueError naming the known faults when the name is unknown."""
        if name not in NAMES:
            raise ValueError(f"Unknown fault {name!r}. Known faults: {', '.join(NAMES)}")
        self._on[name] = Fault(name, share, seconds)

    def switch_off(self, *names: str) -> None:
        """Switch these faults off; without a name, all of them."""
        for name in names or tuple(self._on):
            self._on.pop(name, None)

    def answered(self, url: str) -> None:
        """Tell whoever freezes functions that the one at this URL has answered."""
        self.on_answer(url)

    @property
    def active(self) -> list[Fault]:
        """The faults that are on, in the order they were switched on."""
        return list(self._on.values())

    def drawn(self, name: str) -> Fault | None:
        """The fault, if it is on and hits this call."""
        fault = self._on.get(name)
        if fault is None or self._random.random() >= fault.share:
            return None
        self.hits[name] = self.hits.get(name, 0) + 1
        return fault

    async def gate(self, service: str, method: str) -> None:
        """Hold or refuse a call to `service` as the faults that are on demand. Raises Refused."""
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
