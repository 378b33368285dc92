"""A wrong clock: another process decides how far `time.time()` and `datetime.now()` are ahead.

The clocks of machines differ, and a function must not depend on its own clock. `time.monotonic()` stays
right, and so do the time limits of gRPC calls.
"""

import gc
import time
from collections.abc import Callable
from ctypes import c_double, py_object, pythonapi
from datetime import datetime, timedelta, tzinfo
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Protocol

#: Shared between processes; `value` is in seconds.
Clock = c_double


class Ahead(Protocol):
    """Whoever decides, at every look at a clock."""

    @property
    def value(self) -> float:
        """Seconds."""


def set_by(ahead: Ahead) -> Callable[[], None]:
    """Set both clocks of this process `ahead.value` seconds ahead; returns what sets them right again."""
    true_time, true_now = time.time, datetime.__dict__["now"]

    def now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
        told: datetime = true_now.__get__(None, cls)(tz)
        return told + timedelta(seconds=ahead.value) if ahead.value else told

    # gRPC gives its core the `time.time()` at which a call must end, and the core uses the true time.
    vars(import_module("grpc._channel"))["time"] = SimpleNamespace(**{**vars(time), "time": true_time})
    _set(lambda: true_time() + ahead.value, classmethod(now))
    return lambda: _set(true_time, true_now)


def _set(time_time: Callable[[], float], datetime_now: Any) -> None:
    time.time = time_time
    # `datetime` is a C type, so its attributes cannot be set. Modules that imported it by name would not see
    # a replacement. So this replaces the method in the type's own table.
    table: dict[str, Any] = gc.get_referents(datetime.__dict__)[0]
    table["now"] = datetime_now
    pythonapi.PyType_Modified(py_object(datetime))
