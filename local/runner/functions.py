"""The functions, each in its own process, served by functions-framework as in production."""

import asyncio
import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

from local.places import HOST, Places
from local.runner import child
from local.runner.environment import MOST_A_MINUTE, of_function
from local.stand_ins.faults import Faults
from shared.pipeline import Row, pipeline

#: Seconds for a function to import its SDKs and listen.
START_SECONDS = 60.0
#: Seconds that a function has to end by itself.
STOP_SECONDS = 2.0
#: `tell` starts after this many seconds. No question needs it at first, and people wait for their answers.
TELLER_AFTER = 3.0
#: Seconds between two looks of the supervisor. It restarts a dead function, as Cloud Run does.
LOOK_EVERY = 0.2


class FunctionFailed(Exception):
    """A function ended during its start. The text has the last lines of its log."""


class Functions:
    """Starts, watches, kills and stops the functions' processes."""

    def __init__(
        self,
        places: Places,
        faults: Faults,
        gemini_key: str | None,
        *,
        quotas: bool = True,
        most_a_minute: int = MOST_A_MINUTE,
    ) -> None:
        self._places = places
        self._faults = faults
        self._gemini_key = gemini_key
        self._quotas = quotas
        self._most_a_minute = most_a_minute
        self._processes: dict[str, BaseProcess] = {}
        self._clocks = {step.name: child.clock() for step in pipeline().functions}
        self._thaws: dict[str, asyncio.TimerHandle] = {}
        self._watch: asyncio.Task[None] | None = None

    def spawn(self) -> None:
        """Start all processes. Does not wait until they listen."""
        self._places.logs.mkdir(parents=True, exist_ok=True)
        for log in self._places.logs.glob("*.log"):
            log.unlink()  # of an earlier run
        for step in pipeline().steps:
            self._spawn(step)

    async def ready(self) -> None:
        """Wait until every step listens, then watch them. Raises FunctionFailed."""
        await asyncio.gather(*(self._listening(step.name) for step in pipeline().steps))
        self._watch = asyncio.create_task(self._supervise())
        self._faults.on_answer = self._freeze

    def kill(self, name: str) -> None:
        """Kill a function's processes at once, in the middle of their work."""
        _signal_group(self._processes[name], signal.SIGKILL)

    def stop_watching(self) -> None:
        """Restart no function from now on."""
        if self._watch is not None:
            self._watch.cancel()
        for thaw in self._thaws.values():
            thaw.cancel()

    def stop(self) -> None:
        """Ask all processes to end, and kill those that do not."""
        for process in self._processes.values():
            _signal_group(process, signal.SIGCONT)
        for process in self._processes.values():
            # gunicorn shuts down quickly: it does not wait for idle connections.
            _signal_group(process, signal.SIGINT)
        for process in self._processes.values():
            process.join(STOP_SECONDS)
            _signal_group(process, signal.SIGKILL)
            process.join()

    def _spawn(self, step: Row) -> None:
        name = step.name
        self._processes[name] = child.start(
            ["--source", str(child.ROOT / step.source), "--target", step.entry_point,
             "--host", HOST, "--port", str(self._places.functions[name])],
            self._environment(name),
            self._log(name),
            self._clocks[name],
        )  # fmt: skip

    def _environment(self, name: str) -> dict[str, str]:
        return of_function(
            name, self._places, self._gemini_key, quotas=self._quotas, most_a_minute=self._most_a_minute
        )

    def _log(self, name: str) -> Path:
        return self._places.logs / f"{name}.log"

    async def _listening(self, name: str) -> None:
        for _ in range(int(START_SECONDS / 0.02)):
            if self._processes[name].exitcode is not None:
                lines = self._log(name).read_text(errors="replace").splitlines()[-8:]
                raise FunctionFailed(f"{name} could not start:\n  " + "\n  ".join(lines))
            try:
                _, writer = await asyncio.open_connection(HOST, self._places.functions[name])
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return
        raise FunctionFailed(f"{name} does not listen after {START_SECONDS:.0f} s; see {self._log(name)}")

    def _freeze(self, url: str) -> None:
        """If the fault is on, stop the function at this URL for a while. It has just answered."""
        name = next((each for each in self._processes if self._places.function_url(each) == url), None)
        if name is None or name in self._thaws or not (fault := self._faults.drawn(f"{name}-frozen")):
            return
        process = self._processes[name]
        _signal_group(process, signal.SIGSTOP)

        def thaw() -> None:
            del self._thaws[name]
            _signal_group(process, signal.SIGCONT)

        self._thaws[name] = asyncio.get_running_loop().call_later(fault.seconds, thaw)

    def _set_clocks(self) -> None:
        """Set the clocks of the functions according to the faults that are on."""
        ahead = {fault.name: fault.seconds for fault in self._faults.active}
        for name, clock in self._clocks.items():
            seconds = ahead.get(f"{name}-skewed", 0.0)
            if seconds != clock.value and (not seconds or self._faults.drawn(f"{name}-skewed")):
                clock.value = seconds

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        teller_at = loop.time() + TELLER_AFTER
        next_kill = dict.fromkeys((step.name for step in pipeline().functions), 0.0)
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self._set_clocks()
            for step in pipeline().steps if loop.time() < teller_at else pipeline().functions:
                name = step.name
                if name not in self._processes or self._processes[name].exitcode is not None:
                    self._spawn(step)
                elif loop.time() >= next_kill[name] and (fault := self._faults.drawn(f"{name}-killed")):
                    next_kill[name] = loop.time() + fault.seconds
                    self.kill(name)


def _signal_group(process: BaseProcess, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid or 0, number)
    except (ProcessLookupError, PermissionError):  # already gone
        return
