"""In front of HTTP endpoints: faults, other sites, and errors in the shape Google's REST APIs give them."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from local.stand_ins.faults import Faults, Refused

Endpoint = Callable[[Request], Awaitable[Response]]
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


def google_error(http_status: int, status: str, message: str) -> JSONResponse:
    """The error body of Google's REST APIs: `{"error": {"code", "message", "status"}}`."""
    return JSONResponse(
        {"error": {"code": http_status, "message": message, "status": status}}, status_code=http_status
    )


def gated(service: str, faults: Faults, endpoint: Endpoint) -> Endpoint:
    """`endpoint` behind the faults of `service`."""

    async def behind_the_gate(request: Request) -> Response:
        try:
            async with faults.call(service, request.method):
                return await endpoint(request)
        except Refused as refused:
            return google_error(refused.http_status, refused.grpc_status, str(refused))
        except ClientDisconnect:  # a function was killed while it was sending: nobody hears the answer
            return Response(status_code=499)

    return behind_the_gate


def same_origin(endpoint: Endpoint) -> Endpoint:
    """Refuse other sites: a foreign Origin, or a Host that is not loopback (DNS rebinding)."""

    async def for_the_page(request: Request) -> Response:
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        if urlsplit(f"//{host}").hostname not in LOOPBACK_HOSTS or origin not in (None, f"http://{host}"):
            return google_error(403, "PERMISSION_DENIED", "Only the chat page itself may ask for this.")
        return await endpoint(request)

    return for_the_page
