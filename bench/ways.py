"""Ways to write into a busy space, for `bench.one_space` to compare: each makes a `Chat` as ours does.

Run as a function's source, it is that function with another way: BENCH_WAY names it (`module:function`), and
BENCH_FUNCTION the function.
"""

import importlib
import os
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from google.api_core.exceptions import TooManyRequests

from shared.chat import message
from shared.chat.api import ChatApi
from shared.chat.message import Chat
from shared.chat.slots import Slots
from shared.runtime.deadline import Deadline

Way = Callable[[Any, Any, float], Chat]
#: Seconds for which a space counts as busy after it has refused a write.
BUSY = 60.0


def open_chat_until_refused(client: Any, firestore: Any, writes_per_second: float) -> Chat:
    """No turns while a space has refused nothing in the last minute, as far as this process knows.

    Then its progress is dropped, and its final messages take turns. One that is refused itself is tried again
    after what Chat asks for, or a wait that grows, with jitter (`shared/runtime/retry.py`).
    """
    busy = Busy()
    return Chat(ChatApi(NotingClient(client, busy), SlotsWhenBusy(firestore, writes_per_second, busy)))


class Busy:
    """Which spaces have refused a write lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused: dict[str, float] = {}

    def note(self, space: str) -> None:
        """It has refused one just now."""
        self._refused[space] = self._clock()

    def __contains__(self, space: str) -> bool:
        return self._clock() - self._refused.get(space, float("-inf")) < BUSY


class NotingClient:
    """A `ChatServiceClient` that notes which spaces refuse writes for their quota."""

    def __init__(self, client: Any, busy: Busy) -> None:
        self._client = client
        self._busy = busy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create_message(self, **given: Any) -> Any:
        """Create a message."""
        return self._noting(self._client.create_message, given["request"].parent, given)

    def update_message(self, **given: Any) -> Any:
        """Update a message."""
        space = given["request"].message.name.partition("/messages/")[0]
        return self._noting(self._client.update_message, space, given)

    def _noting(self, method: Callable[..., Any], space: str, given: dict[str, Any]) -> Any:
        try:
            return method(**given)
        except TooManyRequests:
            self._busy.note(space)
            raise


class SlotsWhenBusy(Slots):
    """Turns in busy spaces alone."""

    def __init__(self, client: Any, writes_per_second: float, busy: Busy) -> None:
        super().__init__(client, writes_per_second)
        self._busy = busy

    def take(self, space: str, deadline: Deadline) -> bool:
        """Whether progress may be shown."""
        return space not in self._busy

    def wait(self, space: str, deadline: Deadline) -> datetime | None:
        """Wait for a final message's turn, if there are turns. Raises Transient (`chat_busy`)."""
        return super().wait(space, deadline) if space in self._busy else None


def named(name: str) -> Way:
    """The way of a name. Raises ValueError when there is none."""
    module, _, function = name.partition(":")
    try:
        way: Way = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} is no module:function that makes a Chat") from error
    return way


if "BENCH_WAY" in os.environ:
    # Before the function is imported, whose services take it from there.
    setattr(message, "open_chat", named(os.environ["BENCH_WAY"]))  # noqa: B010 - a module's own function
    _function = importlib.import_module(f"{os.environ['BENCH_FUNCTION']}.main")
    main, tell = _function.main, getattr(_function, "tell", None)
