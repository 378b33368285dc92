"""The faults in front of an HTTP stand-in, and errors in the shape Google's REST APIs give them."""

from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from local.faults import Faults, Refused

Endpoint = Callable[[Request], Awaitable[Response]]


def google_error(http_status: int, status: str, message: str) -> JSONResponse:
    """The error body of Google's REST APIs: `{"error": {"code", "message", "status"}}`."""
    return JSONResponse(
        {"error": {"code": http_status, "message": message, "status": status}}, status_code=http_status
    )


def gated(service: str, faults: Faults, endpoint: Endpoint) -> Endpoint:
    """`endpoint` behind the faults of `service`."""

    async def behind_the_gate(request: Request) -> Response:
        try:
            await faults.gate(service, request.method)
        except Refused as refused:
            return google_error(refused.http_status, refused.grpc_status, str(refused))
        try:
            return await endpoint(request)
        except ClientDisconnect:  # a function was killed while it was sending: nobody hears the answer
            return Response(status_code=499)

    return behind_the_gate
