"""Replay many cases at a limited rate, watch which come back, and stop when too many do."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice

from google.api_core.exceptions import GoogleAPICallError

from ops.case import Case
from ops.replay import CLAIM, Order, Outcome, Result, answered, replay
from ops.world import World
from shared.memory.cases import MOST_BYTES
from shared.memory.firestore import Fields, count
from shared.pipeline import pipeline
from shared.runtime.errors import StepError

#: Time between two looks at the replayed questions.
LOOK_EVERY = timedelta(seconds=2)
#: How far the clocks of the functions and of this machine may differ.
CLOCKS_DIFFER = timedelta(seconds=30)
#: A replay stops only when at least this many came back. One or two may be bad luck.
LEAST_RETURNED = 3
#: After this many refusals in a row, Pub/Sub will refuse the others, too.
MOST_REFUSED = 3
ANSWERED, RETURNED, UNDER_WAY = "answered", "came back", "under way"


@dataclass
class Ends:
    """The ends of the replayed questions. The replay stops when more than `stop_at` (0 to 1) of the finished
    ones came back."""

    world: World
    stop_at: float
    _returned_before: dict[str, int] = field(default_factory=dict)
    _ends: dict[str, str] = field(default_factory=dict)
    #: The time of the last look, and the time up to which all changes are known.
    _looked: datetime = field(default_factory=lambda: datetime.now(UTC))
    _known: datetime = field(default_factory=lambda: datetime.now(UTC))

    def add(self, case: Case) -> None:
        """A case has just been replayed."""
        self._returned_before[case.id] = case.returned
        self._ends[case.id] = UNDER_WAY

    def look(self) -> None:
        """Read the ends of the questions under way, if it is time to."""
        now = datetime.now(UTC)
        if not self.under_way or now - self._looked < LOOK_EVERY:
            return
        with suppress(GoogleAPICallError):  # the next look reads the same changes
            changed = self.world.store.changed_since(self._known - CLOCKS_DIFFER)
            self._record(changed)
            self._known = now
        self._looked = now

    def _record(self, changed: dict[str, Fields]) -> None:
        for case_id, fields in changed.items():
            if self._ends.get(case_id) != UNDER_WAY:
                continue
            if isinstance(fields.get("answered_at"), datetime):
                self._ends[case_id] = ANSWERED
            elif count(fields, "returned") > self._returned_before[case_id]:
                self._ends[case_id] = RETURNED

    def settle(self, cases: Iterable[Case]) -> None:
        """For questions still under way, read the question's record, and update the case."""
        for case in cases:
            if self._ends.get(case.id) == UNDER_WAY and answered(case, self.world):
                self.world.store.set(case.id, lambda _: {"answered_at": datetime.now(UTC)})
                self._ends[case.id] = ANSWERED

    def of(self, case: Case) -> str:
        """The end of one case. Empty if it was not replayed."""
        return self._ends.get(case.id, "")

    @property
    def under_way(self) -> list[str]:
        """The cases whose end is not known yet."""
        return [case_id for case_id, end in self._ends.items() if end == UNDER_WAY]

    @property
    def counts(self) -> Counter[str]:
        """The number of questions for each kind of end."""
        return Counter(self._ends.values())

    @property
    def too_many(self) -> bool:
        """Whether too many came back to continue."""
        counts = self.counts
        returned = counts[RETURNED]
        return returned >= LEAST_RETURNED and returned > self.stop_at * (returned + counts[ANSWERED])


def canary(oldest_first: list[Case], limit: int, world: World, *, stale: bool) -> list[Case]:
    """The first `limit` cases that can be sent. A case that is skipped anyway would test nothing."""
    takers = pipeline().takers
    young = (case for case in oldest_first if stale or case.age <= world.settings.stale_after)
    return list(islice((case for case in young if case.bytes <= MOST_BYTES and case.sender in takers), limit))


@dataclass
class Run:
    """A replay of several cases. `on_result` is called for each message, `on_look` after each look.

    `stopped`: too many came back. `broken`: why nothing can be sent.
    """

    world: World
    order: Order
    rate: float
    ends: Ends
    on_result: Callable[[Result], None]
    on_look: Callable[[Ends], None]
    results: list[Result] = field(default_factory=list)
    stopped: bool = False
    broken: StepError | None = None

    def send(self, cases: list[Case]) -> None:
        """Replay all cases, until too many come back or cannot be sent. Raises Firestore's errors."""
        waiting = deque((case, 0.0) for case in cases)
        give_up_at = time.monotonic() + 2 * CLAIM.total_seconds() + len(cases) / self.rate
        while waiting and not (self.stopped or self.broken):
            case, not_before = waiting.popleft()
            time.sleep(max(0.0, not_before - time.monotonic()))
            started = time.monotonic()
            result = replay(case.id, self.order, self.world)
            if result.outcome is Outcome.CLAIMED and started < give_up_at:
                # The run that claimed it may have died. Then the claim expires.
                waiting.append((case, started + (1.0 if waiting else CLAIM.total_seconds() / 10)))
                continue
            self._take(result)
            time.sleep(max(0.0, 1 / self.rate - (time.monotonic() - started)))
        if all(result.error for result in self.results):
            self.broken = next((result.error for result in self.results), None)

    @property
    def outcomes(self) -> Counter[str]:
        """Counts of outcomes, and of the ends of the replayed questions, for the audit."""
        counts = Counter(str(result.outcome) for result in self.results)
        counts += Counter({f"of them {end}": number for end, number in self.ends.counts.items()})
        return counts + Counter({"STOPPED": 1} if self.stopped else {})

    def follow(self, seconds: float) -> None:
        """Wait until all replayed questions have ended, at most `seconds`."""
        until = time.monotonic() + seconds
        while self.ends.under_way and time.monotonic() < until:
            time.sleep(min(LOOK_EVERY.total_seconds() / 4, max(0.0, until - time.monotonic())))
            self._look()
        self.ends.settle(result.case for result in self.results)
        self.on_look(self.ends)
        self.stopped = self.stopped or self.ends.too_many

    def _take(self, result: Result) -> None:
        self.results.append(result)
        if result.outcome is Outcome.REPLAYED:
            self.ends.add(result.case)
        self.on_result(result)
        self._look()
        self.stopped = self.ends.too_many
        refused = [each.error for each in self.results[-MOST_REFUSED:]]
        if len(refused) == MOST_REFUSED and all(refused):
            self.broken = result.error

    def _look(self) -> None:
        self.ends.look()
        self.on_look(self.ends)
