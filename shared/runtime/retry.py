"""The one place that tries a call again.

The SDKs' own retries are off (`retry=None`), because their `timeout=` bounds one attempt and not the call.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from shared.runtime.background import in_background
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, Transient, classify

T = TypeVar("T")

#: Wait before the second attempt, in seconds; doubled for each further one, and jittered by ±50 %.
FIRST_WAIT = 0.3
LONGEST_WAIT = 8.0
#: Seconds that a client may take to notice by itself that its time is up; its own error tells more.
GRACE = 0.25


def call(
    work: Callable[[float], T],
    *,
    service: str,
    deadline: Deadline,
    timeout: float,
    attempts: int = 4,
    answers: tuple[type[Exception], ...] = (),
    failed: Callable[[StepError], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Run `work(timeout)` until it succeeds, at most `attempts` times and within the deadline.

    `work` gets the seconds that this attempt may take. Exceptions in `answers` are answers of the service
    (already there, not found) and pass through untouched. `failed` is told of every other failure.
    Raises Permanent at once, or the last Transient when the attempts or the time are used up; a longer
    `Retry-After` than there is time ends it early.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return _bounded(work, deadline.bound(timeout))
        except answers:
            raise
        except Exception as error:
            trouble = classify(error, service)
            if failed is not None:
                failed(trouble)
            wait = _wait(attempt, trouble.retry_after) if isinstance(trouble, Transient) else 0.0
            if not isinstance(trouble, Transient) or attempt >= attempts or wait >= deadline.remaining:
                if trouble is error:
                    raise
                raise trouble from error
        sleep(wait)


def _bounded(work: Callable[[float], T], timeout: float) -> T:
    """Run one attempt, and wait for it no longer than it may take.

    The clients of REST services bound the time between two bytes, not the whole call, and fetching a token
    first has a time of its own. An attempt that takes longer is left behind, in a thread of its own.
    """
    return in_background(lambda: work(timeout)).result(timeout + GRACE)


def _wait(attempt: int, retry_after: float | None) -> float:
    if retry_after is not None:  # no sooner than the service asks, and not all at the same moment
        return retry_after * random.uniform(1.0, 1.25)  # noqa: S311 - spreads retries, hides nothing
    backoff: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
    return backoff * random.uniform(0.5, 1.5)  # noqa: S311
