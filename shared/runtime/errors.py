"""The two kinds of failure of a step. They differ in what happens next.

    StepError
    ├── Permanent   can never succeed: published to the dead letters at once, and acknowledged
    └── Transient   may succeed later: 503, so Pub/Sub delivers it again; after the last attempt a dead letter

A `reason` is a short code, such as `gemini_blocked` or `not_a_cloudevent`. The log, the dead letter and the
tests use the same code.
"""

from typing import Any

#: Errors that are usually temporary, by fully qualified name. They are names, not classes, because each
#: function ships only the SDKs that it needs, so not all of these classes can be imported.
_PASSING = {
    "builtins.ConnectionError",
    "builtins.TimeoutError",
    "google.api_core.exceptions.RetryError",
    "google.auth.exceptions.TransportError",
    "grpc.RpcError",
    "httpx.TransportError",
    "requests.exceptions.ChunkedEncodingError",
    "requests.exceptions.ConnectionError",
    "requests.exceptions.Timeout",
    "urllib3.exceptions.HTTPError",
}
_PASSING_CODES = {408, 409, 429, 499, 500, 502, 503, 504}


class StepError(Exception):
    """A failure with a reason code. The text is for operators and never contains what a person wrote."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class Permanent(StepError):
    """Trying again cannot help."""


class Transient(StepError):
    """Trying again may help.

    `retry_after` is the shortest wait in seconds that the service asked for. `in_doubt` means that no
    response came: the service may have carried out the request, or may still do so.
    """

    def __init__(
        self, reason: str, detail: str = "", *, retry_after: float | None = None, in_doubt: bool = False
    ) -> None:
        super().__init__(reason, detail)
        self.retry_after = retry_after
        self.in_doubt = in_doubt


def classify(error: Exception, service: str) -> StepError:
    """What a failed call to `service` (`firestore`, `gemini`, `rag`, `chat`, `pubsub`) means for the step.

    Transient: HTTP 408, 409 (`ABORTED`), 429, 499 and 5xx except 501, and transport errors of requests, httpx
    and gRPC. Permanent: other HTTP codes. Any other error is a bug in our code or in a library. It is
    Transient, because the next deployment may fix it before the attempts are used up.
    """
    if isinstance(error, StepError):
        return error
    code = _http_code(error)
    name = type(error).__name__
    if code is not None and code not in _PASSING_CODES:
        return Permanent(f"{service}_refused", f"{code} {name}")
    if code is not None:
        reason = f"{service}_throttled" if code == 429 else f"{service}_unavailable"
        # 408, 499 and 504 are time-outs, ours or a proxy's. The service may have carried out the request.
        in_doubt = code in {408, 499, 504}
        return Transient(reason, f"{code} {name}", retry_after=_retry_after(error), in_doubt=in_doubt)
    if _qualified_names(error) & _PASSING:
        return Transient(f"{service}_unavailable", name, in_doubt=True)
    return Transient("unexpected", f"{name} while calling {service}" if service else name)


def in_one_line(error: Exception) -> str:
    """What went wrong, without anything that a person wrote: messages of libraries may quote it."""
    return str(error) if isinstance(error, StepError) else type(error).__name__


def _qualified_names(error: Exception) -> set[str]:
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in type(error).__mro__}


def _http_code(error: Exception) -> int | None:
    if not _qualified_names(error) & {
        "google.api_core.exceptions.GoogleAPICallError",
        "google.genai.errors.APIError",
    }:
        return None
    code: Any = getattr(error, "code", None)
    return int(code) if isinstance(code, int) else None


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("Retry-After") or headers.get("retry-after") or ""))
    except ValueError:  # absent, or an HTTP date: no service here sends one
        return None
