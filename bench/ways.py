"""Ways to write into a busy space, for `bench.one_space` to compare: each makes a `Chat` as ours does.

Run as a function's source, it is that function with another way: BENCH_WAY names it (`module:function`), and
BENCH_FUNCTION the function.
"""

import importlib
import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from shared.chat import message
from shared.chat.api import ChatApi
from shared.chat.message import Chat
from shared.chat.slots import Slots
from shared.runtime.deadline import Deadline

Way = Callable[[Any, Any, float], Chat]


def open_chat_in_turn(client: Any, firestore: Any, writes_per_second: float) -> Chat:
    """Every final message takes a turn, in a quiet space, too. Progress is dropped as ours is."""
    return Chat(ChatApi(client, SlotsAlways(firestore, writes_per_second)))


class SlotsAlways(Slots):
    """Turns in all spaces."""

    def wait(self, space: str, deadline: Deadline) -> datetime | None:
        """Wait for a final message's turn. Raises Transient (`chat_busy`)."""
        turn = self._turn(space, deadline)
        self._wait_until(turn)
        return turn


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
