"""Serves a benchmark's own function like the four functions: with functions-framework on a port."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from local.places import HOST
from local.runner import child

#: Seconds to listen after.
PATIENCE = 30.0


@asynccontextmanager
async def serving(
    source: Path, target: str, port: int, environment: dict[str, str], log: Path
) -> AsyncIterator[None]:
    """Serve a function of `source` from when this begins until it ends. Raises TimeoutError."""
    arguments = ["--source", str(source), "--target", target, "--host", HOST, "--port", str(port)]
    process = await asyncio.to_thread(child.start, arguments, environment, log, child.clock())
    try:
        async with asyncio.timeout(PATIENCE):
            await _listening(port)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # gunicorn's workers, too
        process.join()


async def _listening(port: int) -> None:
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(HOST, port)
            writer.close()
            return
        await asyncio.sleep(0.05)
