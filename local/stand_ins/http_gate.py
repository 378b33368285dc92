"""In front of HTTP endpoints: faults, foreign sites, and errors in the shape of Google's REST APIs."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from local.stand_ins.faults import Faults, Refused

Endpoint = Callable[[Request], Awaitable[Response]]
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


class RestError(Exception):
    """A call that is refused with this HTTP status and Google status name, for example 404 and NOT_FOUND."""

    def __init__(self, http_status: int, status: str, message: str) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.status = status

    @property
    def answer(self) -> JSONResponse:
        """The response that says so."""
        return google_error(self.http_status, self.status, str(self))


def invalid(message: str) -> RestError:
    """400 INVALID_ARGUMENT."""
    return RestError(400, "INVALID_ARGUMENT", message)


def not_found(message: str) -> RestError:
    """404 NOT_FOUND."""
    return RestError(404, "NOT_FOUND", message)


def already_exists(message: str) -> RestError:
    """409 ALREADY_EXISTS."""
    return RestError(409, "ALREADY_EXISTS", message)


def unimplemented(what: str) -> RestError:
    """501 UNIMPLEMENTED: the real service can do `what`, the stand-in cannot."""
    return RestError(501, "UNIMPLEMENTED", f"The local stand-in does not implement {what}")


def google_error(http_status: int, status: str, message: str) -> JSONResponse:
    """The error body of Google's REST APIs: `{"error": {"code", "message", "status"}}`."""
    return JSONResponse(
        {"error": {"code": http_status, "message": message, "status": status}}, status_code=http_status
    )


def answering(endpoint: Endpoint) -> Endpoint:
    """Answer a RestError that `endpoint` raises with its status."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RestError as error:
            return error.answer

    return answer


def gated(service: str, faults: Faults, endpoint: Endpoint) -> Endpoint:
    """Put the faults of `service` in front of `endpoint`."""

    async def behind_the_gate(request: Request) -> Response:
        try:
            async with faults.call(service, request.method):
                return await endpoint(request)
        except Refused as refused:
            return google_error(refused.http_status, refused.grpc_status, str(refused))
        except ClientDisconnect:  # a function was killed while it was sending: nobody receives the answer
            return Response(status_code=499)

    return behind_the_gate


def same_origin(endpoint: Endpoint) -> Endpoint:
    """Refuse other sites with 403: a foreign Origin, or a Host that is not loopback (DNS rebinding).

    A program sends no Origin, and passes.
    """

    async def for_this_machine(request: Request) -> Response:
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        if urlsplit(f"//{host}").hostname not in LOOPBACK_HOSTS or origin not in (None, f"http://{host}"):
            message = "Other sites may not call this: only the chat page and programs on this machine."
            return google_error(403, "PERMISSION_DENIED", message)
        return await endpoint(request)

    return for_this_machine
