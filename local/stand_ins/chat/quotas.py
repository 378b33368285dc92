"""Chat's quotas per space: 1 write and 15 reads a second (developers.google.com, "Usage limits")."""

import time
from collections.abc import Callable

from local.stand_ins.http_gate import RestError

Clock = Callable[[], float]
WRITES_PER_SECOND = 1.0
READS_PER_SECOND = 15.0
#: The real Chat tolerates short bursts, of undocumented length. Here one extra call is allowed.
EXTRA_CALLS = 1.0


class TokenBucket:
    """Gains `rate` tokens per second, up to `rate` + `EXTRA_CALLS`. `clock` gives seconds."""

    def __init__(self, rate: float, clock: Clock = time.monotonic) -> None:
        self._rate = rate
        self._capacity = rate + EXTRA_CALLS
        self._clock = clock
        self._tokens = self._capacity
        self._filled_at = clock()

    def take(self) -> bool:
        """Take one token. False if none is left."""
        now = self._clock()
        self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


class Quotas:
    """The quotas of all spaces. A refused call does not count; a call that fails later does."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[tuple[str, str], TokenBucket] = {}
        #: Number of refused calls.
        self.refused = 0

    def write(self, space: str) -> None:
        """Count a create, update or delete. Raises RestError 429."""
        self._take(space, "writes", WRITES_PER_SECOND)

    def read(self, space: str) -> None:
        """Count a get. Raises RestError 429."""
        self._take(space, "reads", READS_PER_SECOND)

    def _take(self, space: str, kind: str, rate: float) -> None:
        bucket = self._buckets.setdefault((space, kind), TokenBucket(rate, self._clock))
        if not bucket.take():
            self.refused += 1
            limit = f"{rate:g} message {kind} per second"
            raise RestError(429, "RESOURCE_EXHAUSTED", f"Quota exceeded: {limit} in {space}.")
