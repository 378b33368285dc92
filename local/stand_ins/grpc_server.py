"""One gRPC server on a loopback port, with the faults in front of every call."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from local.stand_ins.faults import Faults, Refused

Context = Any  # grpc ships no types
Unary = Callable[[Any, Context], Awaitable[Any]]
Streaming = Callable[[Any, Context], AsyncIterator[Any]]


def unary(work: Unary, request_class: Any) -> grpc.RpcMethodHandler:
    """A handler for one unary call, on the protobuf class of its request; the answer serialises itself."""
    return grpc.unary_unary_rpc_method_handler(
        work,
        request_deserializer=request_class.FromString,
        response_serializer=lambda answer: answer.SerializeToString(),
    )


def streaming(work: Streaming, request_class: Any) -> grpc.RpcMethodHandler:
    """The same for a call that is answered with a stream of messages."""
    return grpc.unary_stream_rpc_method_handler(
        work,
        request_deserializer=request_class.FromString,
        response_serializer=lambda answer: answer.SerializeToString(),
    )


class GrpcServer:
    """Serves the handlers of one stand-in on 127.0.0.1."""

    def __init__(self, service: str, handlers: list[grpc.GenericRpcHandler], faults: Faults) -> None:
        self._service = service
        self._handlers = handlers
        self._faults = faults
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def start(self, port: int = 0) -> int:
        """Listen on `port` (0: any free one) and return it. Raises OSError when it is taken."""
        # No SO_REUSEPORT: two servers on one port would each get half of the calls, silently.
        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", 32 * 1024 * 1024)]
        server = grpc.aio.server(interceptors=[_Gate(self._service, self._faults)], options=options)
        server.add_generic_rpc_handlers(tuple(self._handlers))
        try:
            self.port = server.add_insecure_port(f"127.0.0.1:{port}")
        except RuntimeError as error:
            raise OSError(f"Port {port} is taken") from error
        await server.start()
        self._server = server
        return self.port

    async def stop(self) -> None:
        """Close the port; calls under way are cut off."""
        if self._server is not None:
            await self._server.stop(None)
            self._server = None


class _Gate(grpc.aio.ServerInterceptor):
    def __init__(self, service: str, faults: Faults) -> None:
        self._service = service
        self._faults = faults

    @asynccontextmanager
    async def _passed(self, method: str, context: Context) -> AsyncIterator[None]:
        try:
            async with self._faults.call(self._service, method):
                yield
        except Refused as refused:
            await context.abort(grpc.StatusCode[refused.grpc_status], str(refused))

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler:
        handler = await continuation(handler_call_details)
        if handler is None:
            return handler
        codec = (handler.request_deserializer, handler.response_serializer)
        method = handler_call_details.method.rsplit("/", 1)[-1]
        if handler.unary_unary is not None:
            answer: Unary = handler.unary_unary

            async def gated(request: Any, context: Context) -> Any:
                async with self._passed(method, context):
                    return await answer(request, context)

            return grpc.unary_unary_rpc_method_handler(gated, *codec)
        answers: Streaming = handler.unary_stream

        async def gated_stream(request: Any, context: Context) -> AsyncIterator[Any]:
            async with self._passed(method, context):
                async for message in answers(request, context):
                    yield message

        return grpc.unary_stream_rpc_method_handler(gated_stream, *codec)
