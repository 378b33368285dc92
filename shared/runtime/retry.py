"""The only place that retries calls, and the number of attempts for each kind of call.

The SDKs' own retries are off (`retry=None`), because their `timeout=` limits one attempt and not the whole
call.
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

#: Wait before the second attempt, in seconds. It doubles for each further attempt, with a jitter of ±50 %.
FIRST_WAIT = 0.3
LONGEST_WAIT = 8.0
#: Extra seconds for a client to notice its own timeout, because its error says more than ours.
GRACE = 0.25


@dataclass(frozen=True)
class Policy:
    """How to retry one kind of call: the service in reason codes, seconds for one attempt, and most attempts.

    The deadline of the call may end the attempts sooner.
    """

    service: str
    timeout: float
    attempts: int


#: Reading and changing a document.
FIRESTORE = Policy("firestore", 3, 3)
#: The same if the step can continue without it, or if the caller repeats it itself.
FIRESTORE_ONCE = Policy("firestore", 3, 1)
#: A single call that is not part of a change.
FIRESTORE_SINGLE = Policy("firestore", 3, 4)
#: Recording an ending. Nothing can be posted without it, so in practice only the deadline ends the attempts.
FIRESTORE_END = Policy("firestore", 3, 12)
#: The queries and deletions of `/forget`.
FIRESTORE_FORGET = Policy("firestore", 8, 4)
GEMINI_REWRITE = Policy("gemini", 8, 4)
#: Seconds for all attempts at a rewrite. If they fail, the query is made by rule.
WAIT_FOR_REWRITE = 14.0
GEMINI_ANSWER = Policy("gemini", 45, 4)
#: After this many unusable responses of Gemini the question fails for good.
MOST_UNUSABLE = 2
#: RAG Engine answers within about a second.
RAG = Policy("rag", 10, 4)
#: An answer or an apology. In practice only the deadline ends the attempts.
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

    `work` gets the seconds that this attempt may take. Exceptions in `answers` are valid responses of the
    service (already exists, not found) and are raised unchanged. `failed` is called with every other failure.
    Raises Permanent at once. Raises the last Transient when the attempts or the time are used up, or when
    `Retry-After` is longer than the time left.
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
    """Run one attempt in a thread of its own, and wait at most `timeout` seconds for it.

    The clients of REST services limit the time between two bytes, not the whole call. Fetching a token first
    has a separate timeout. An attempt that takes longer is abandoned in its thread.
    """
    return in_background(lambda: work(timeout)).result(timeout + GRACE)


def _wait(attempt: int, retry_after: float | None) -> float:
    if retry_after is not None:  # not sooner than the service asks, and spread out
        return retry_after * random.uniform(1.0, 1.25)  # noqa: S311 - spreads retries, hides nothing
    backoff: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
    return backoff * random.uniform(0.5, 1.5)  # noqa: S311
