"""Which kind of failure an exception is."""

import grpc
import httpx
import pytest
import requests
from google.api_core import exceptions as google
from google.genai import errors as genai

from shared.runtime.errors import Permanent, StepError, Transient, classify, in_one_line


class _Reset(grpc.RpcError):
    pass


@pytest.mark.parametrize(
    "error",
    [
        google.ServiceUnavailable("down"),
        google.TooManyRequests("slow down"),
        google.ResourceExhausted("quota"),
        google.DeadlineExceeded("late"),
        google.InternalServerError("oops"),
        google.Aborted("contention"),
        google.RetryError("gave up", cause=None),
        genai.ServerError(503, {"error": {"message": "overloaded", "status": "UNAVAILABLE"}}),
        genai.ClientError(429, {"error": {"message": "quota", "status": "RESOURCE_EXHAUSTED"}}),
        requests.ConnectionError("reset"),
        requests.Timeout("late"),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("reset"),
        _Reset(),
        ConnectionResetError(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_trouble_that_passes_is_transient(error: Exception) -> None:
    kind = classify(error, "gemini")

    assert isinstance(kind, Transient)
    assert kind.reason in {"gemini_unavailable", "gemini_throttled"}


@pytest.mark.parametrize(
    "error",
    [
        google.InvalidArgument("bad"),
        google.PermissionDenied("no"),
        google.Unauthenticated("who"),
        google.NotFound("gone"),
        google.FailedPrecondition("not now"),
        genai.ClientError(400, {"error": {"message": "bad", "status": "INVALID_ARGUMENT"}}),
        genai.ClientError(404, {"error": {"message": "no such model", "status": "NOT_FOUND"}}),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_refusal_is_permanent(error: Exception) -> None:
    kind = classify(error, "rag")

    assert isinstance(kind, Permanent)
    assert kind.reason == "rag_refused"


def test_a_fault_of_our_own_code_is_tried_again() -> None:
    kind = classify(KeyError("turns"), "")

    assert isinstance(kind, Transient)
    assert kind.reason == "unexpected"


def test_a_step_error_stays_what_it_is() -> None:
    error = Permanent("gemini_blocked")

    assert classify(error, "gemini") is error


@pytest.mark.parametrize("given, seconds", [("7", 7.0), ("0.5", 0.5), ("", None), ("Mon, 30 Nov", None)])
def test_retry_after_is_read_in_seconds(given: str, seconds: float | None) -> None:
    response = requests.Response()
    response.headers["Retry-After"] = given

    kind = classify(google.TooManyRequests("slow down", response=response), "chat")

    assert isinstance(kind, Transient)
    assert kind.retry_after == seconds


def test_one_line_about_a_foreign_error_does_not_repeat_what_it_says() -> None:
    assert in_one_line(ValueError("my password is hunter2")) == "ValueError"
    assert in_one_line(StepError("rag_refused", "400 InvalidArgument")) == "rag_refused: 400 InvalidArgument"
