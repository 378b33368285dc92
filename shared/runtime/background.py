"""Runs work in a thread, so that the caller can stop waiting for it."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> Future[T]:
    """Run `work` in a thread of its own, with the caller's log context.

    The caller may stop waiting: the thread does not keep the process alive.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # `result()` raises it
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
