"""Structured logs: one JSON object a line, in the shape that Cloud Logging reads from standard output.

Field names: cloud.google.com, "Structured logging", special fields in the message. Ids, reasons and
durations are logged. Questions and answers are content: they are logged only if LOG_CONTENT is on.
"""

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_CONTEXT: ContextVar[dict[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never mutated

logger = logging.getLogger("threadwise")


class _JsonLines(logging.Formatter):
    def __init__(self, project: str, *, content: bool) -> None:
        super().__init__()
        self._project = project
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(_CONTEXT.get())
        trace = fields.pop("trace", "")
        line: dict[str, Any] = {"severity": record.levelname, "message": record.getMessage(), **fields}
        if trace.count("-") == 3:
            line["logging.googleapis.com/trace"] = f"projects/{self._project}/traces/{trace.split('-')[1]}"
        line.update(getattr(record, "fields", {}))
        if self._content:
            line.update(getattr(record, "content", {}))
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up(project: str, *, content: bool = False) -> None:
    """Write our own logs as JSON lines to standard output. `main.py` calls this once.

    `content`: also log questions and answers.
    """
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_JsonLines(project, content=content))
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


@contextmanager
def context(**fields: str) -> Iterator[None]:
    """Add `fields` (step, question, trace) to every line that is logged inside."""
    token = _CONTEXT.set({**_CONTEXT.get(), **fields})
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def info(message: str, *, content: Mapping[str, str] | None = None, **fields: object) -> None:
    """Log an event with its fields. `content` is logged only if LOG_CONTENT is on."""
    logger.info(message, extra={"fields": fields, "content": content or {}})


def warning(message: str, **fields: object) -> None:
    """Log that the step continues without something it wanted."""
    logger.warning(message, extra={"fields": fields})


def error(message: str, **fields: object) -> None:
    """Log that something failed."""
    logger.error(message, extra={"fields": fields})


def frames(error: BaseException) -> list[str]:
    """The stack of an error: `Error at file:line function`, innermost last, without any values or messages.

    It has all frames of our own code. Of a library it has only the frame that raised the error.
    """
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and len(chain) < 5:
        if cause in chain:
            break
        chain.append(cause)
    lines = [
        f"{type(link).__name__} at {_short(frame.filename)}:{frame.lineno} {frame.name}"
        for link in reversed(chain)
        for frame in _telling(traceback.extract_tb(link.__traceback__))
    ]
    return list(dict.fromkeys(lines))


def _telling(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    own = [frame for frame in stack if not _is_library(frame.filename)]
    return [*own, *(frame for frame in stack[-1:] if frame not in own)]


def _is_library(filename: str) -> bool:
    return "/site-packages/" in filename or "/lib/python3" in filename or filename.startswith("<")


def _short(filename: str) -> str:
    return filename.rsplit("/site-packages/", 1)[-1]
