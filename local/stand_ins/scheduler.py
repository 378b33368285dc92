"""Cloud Scheduler, as far as it is used: a job that calls a URL again and again."""

import asyncio
import logging

import httpx

#: Seconds until a call is given up; Cloud Scheduler's own limit can be longer.
PATIENCE = 60.0
logger = logging.getLogger(__name__)


class Scheduler:
    """Calls `url` every `seconds`, for the first time after so many. Nothing is tried again."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._job: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to wait for the first call."""
        self._job = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Call no more."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)

    async def _run(self) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            while True:
                await asyncio.sleep(self._seconds)
                try:
                    answer = await client.post(self._url)
                    logger.info("Scheduled call: %s", answer.status_code)
                except httpx.HTTPError as error:
                    logger.warning("A scheduled call failed: %r", error)
