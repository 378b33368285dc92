"""How much time a step has left."""

import time
from collections.abc import Callable

from shared.runtime.errors import Transient


class Deadline:
    """The time limit that all calls of a step share; it is `seconds` from now."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self._clock())

    def bound(self, seconds: float) -> float:
        """The smaller of `seconds` and the time left. Raises Transient (`deadline`) if no time is left."""
        if self.remaining <= 0:
            raise Transient("deadline", "the step has no time left")
        return min(seconds, self.remaining)

    def within(self, seconds: float) -> "Deadline":
        """An earlier deadline for one part of the work: `seconds` from now, but never later than this one."""
        return Deadline(min(seconds, self.remaining), self._clock)
