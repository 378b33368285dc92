"""The one place that tries a call again, and how often each kind of call is tried.

The SDKs' own retries are off (`retry=None`), because their `timeout=` bounds one attempt and not the call.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Policy:
    """How one kind of call is tried: the service that reason codes name, seconds for one attempt, and how
    many attempts at most. The deadline of the call may end them sooner."""

    service: str
    timeout: float
    attempts: int


#: Reading and changing a document.
FIRESTORE = Policy("firestore", 3, 3)
#: The same where the step goes on without it, or is soon done again.
FIRESTORE_ONCE = Policy("firestore", 3, 1)
#: A single call that is not part of a change.
FIRESTORE_SINGLE = Policy("firestore", 3, 4)
#: Recording an ending: without it there is nothing to post. In fact the deadline ends the attempts.
FIRESTORE_END = Policy("firestore", 3, 12)
#: The queries and deletions of `/forget`.
FIRESTORE_FORGET = Policy("firestore", 8, 4)
GEMINI_REWRITE = Policy("gemini", 8, 4)
GEMINI_ANSWER = Policy("gemini", 45, 4)
#: An unusable response of Gemini is worth one more try, not all the attempts of a redelivered message.
MOST_UNUSABLE = 2
#: RAG Engine answers within about a second.
RAG = Policy("rag", 10, 4)
#: An answer or an apology; in fact the deadline ends the attempts.
CHAT_FINAL = Policy("chat", 5, 10)
#: Progress must never delay the answer.
CHAT_PROGRESS = Policy("chat", 3, 1)
CHAT_READ = Policy("chat", 5, 4)
#: Pub/Sub answers within tens of milliseconds.
PUBSUB = Policy("pubsub", 5, 4)


def call(
    work: Callable[[float], T],
    policy: Policy,
    deadline: Deadline,
    *,
    answers: tuple[type[Exception], ...] = (),
    failed: Callable[[StepError], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Run `work(timeout)` until it succeeds, as often as the policy says and within the deadline.

    `work` gets the seconds that this attempt may take. Exceptions in `answers` are answers of the service
    (already there, not found) and pass through untouched. `failed` is told of every other failure.
    Raises Permanent at once, or the last Transient when the attempts or the time are used up; a longer
    `Retry-After` than there is time ends it early.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return _bounded(work, deadline.bound(policy.timeout))
        except answers:
            raise
        except Exception as error:
            trouble = classify(error, policy.service)
            if failed is not None:
                failed(trouble)
            wait = _wait(attempt, trouble.retry_after) if isinstance(trouble, Transient) else 0.0
            if not isinstance(trouble, Transient) or attempt >= policy.attempts or wait >= deadline.remaining:
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
