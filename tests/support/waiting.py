"""Waits for what happens in another thread or process, for no longer than a time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], what: str = "what is waited for", seconds: float = 90) -> T:
    """What `condition` returns once that is true. Fails if that takes longer than `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(0.1)  # Chat allows 15 reads a second in a space
    return found
