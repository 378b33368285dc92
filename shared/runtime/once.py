"""Something made on first use, once, however many threads ask for it first."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Calls `make` the first time it is called itself; when that fails, the next call tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """The one thing, made now if need be. Raises whatever `make` raises."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]
