"""Starts and stops the small cloud with the functions."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from local.places import CannotStart, Places
from local.runner.child import import_sdks
from local.runner.environment import MOST_A_MINUTE
from local.runner.functions import Functions
from local.stand_ins.faults import Faults

if TYPE_CHECKING:
    from local.runner.cloud import Cloud


@asynccontextmanager
async def running(
    places: Places,
    *,
    gemini_key: str | None = None,
    faults: Faults | None = None,
    quotas: bool = True,
    official: bool = False,
    most_a_minute: int = MOST_A_MINUTE,
) -> AsyncIterator[tuple["Cloud", Functions]]:
    """Run everything, ready for questions. Raises PortTaken, FunctionFailed or CannotStart.

    `official`: use Google's emulators, which must already run (`local.runner.emulators.both`).
    `most_a_minute` is how many questions per minute are taken from one person.
    """
    faults = faults or Faults()
    functions = Functions(places, faults, gemini_key, quotas=quotas, most_a_minute=most_a_minute)
    import_sdks()
    try:
        # Imported late, while the other process imports the SDKs, which takes longest.
        from local.runner.cloud import Cloud
        from local.runner.connect import connect

        try:
            cloud = Cloud(places, faults, quotas=quotas, official=official)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise CannotStart(str(error)) from error
        cloud.page.model_note = "model_gemini" if gemini_key else "model_local"
        try:
            await _start(cloud)
            await asyncio.to_thread(functions.spawn)
            await asyncio.to_thread(connect, places, official=official)
            await functions.ready()
            yield cloud, functions
        finally:
            functions.stop_watching()
            await asyncio.to_thread(functions.stop)
            await cloud.stop()
    finally:
        functions.stop()


async def _start(cloud: "Cloud") -> None:
    try:
        await cloud.start()
    except (OSError, sqlite3.Error) as error:
        raise CannotStart(str(error)) from error
