"""A replay that runs in the background while the page looks at it."""

import threading
import time
from collections import Counter
from typing import Any

from ops.bulk import ANSWERED, RETURNED, UNDER_WAY, Ends, Run
from ops.case import Case
from ops.errors import explained
from ops.replay import Order
from ops.world import World

Json = dict[str, Any]
#: As of `dead replay`: the share of returned ones that stops it, and seconds to wait for the answers.
STOP_AT, WAIT = 0.2, 60.0
#: Messages that the page lists; all of them are counted.
MOST_SHOWN = 200
#: Seconds between two pictures of a replay: to make one takes a look at all of its messages.
DRAW_EVERY = 0.25
#: Seconds that its end is waited for when everything stops.
PATIENCE = 5.0
#: How the ends are named for the page.
_ENDS = {ANSWERED: "answered", RETURNED: "returned", UNDER_WAY: "under_way"}


class _Stopped(Exception):
    """Somebody has stopped the replay."""


class Replay:
    """A replay of some cases. `progress()` may be called from any thread: it gives the latest picture."""

    def __init__(self, world: World, cases: list[Case], order: Order, *, rate: float, selected: str) -> None:
        self._world = world
        self._cases = cases
        self._order = order
        self._selected = selected
        self._run = Run(
            world,
            order,
            rate,
            Ends(world, STOP_AT),
            on_result=lambda _: self._look(),
            on_look=lambda _: self._look(),
        )
        self._stop = threading.Event()
        self._trouble: Json | None = None
        self._drawn = 0.0
        self._picture = self._draw(running=True)
        # A daemon: nobody may have to wait for it when the process is to end.
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def running(self) -> bool:
        """Whether it is not over yet."""
        return bool(self._picture["running"])

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop before the next message; those that are sent are on their way."""
        self._stop.set()

    def wait(self) -> None:
        """Wait for the end, for a few seconds at most."""
        self._thread.join(PATIENCE)

    def progress(self) -> Json:
        """How it stands: what became of each message, in numbers and for the first ones by name."""
        return self._picture

    def _work(self) -> None:
        try:
            self._replay()
        except _Stopped:
            pass
        except Exception as error:  # whatever it is, the person who watches is told
            told = explained(error, self._world.where)
            self._trouble = {"status": told.code.name, "message": str(told)}
        self._picture = self._draw(running=False)

    def _replay(self) -> None:
        audit, operation = self._world.audit, self._order.operation
        audit.begin(operation, self._selected)
        try:
            self._run.send(self._cases)
            self._run.follow(WAIT)
        finally:
            audit.finish(operation, Counter(str(result.outcome) for result in self._run.results))

    def _look(self) -> None:
        if self._stop.is_set():
            raise _Stopped
        if time.monotonic() - self._drawn >= DRAW_EVERY:
            self._picture = self._draw(running=True)
            self._drawn = time.monotonic()

    def _draw(self, *, running: bool) -> Json:
        results = {result.case.id: result for result in self._run.results}
        ends = self._run.ends
        return {
            "name": self._order.operation.name,
            "running": running,
            "total": len(self._cases),
            "done": len(results),
            "too_many_returned": self._run.stopped,
            "stopped": self._stop.is_set(),
            "trouble": self._trouble,
            "outcomes": Counter(result.outcome.name for result in results.values()),
            "ends": {_ENDS[end]: count for end, count in ends.counts.items()},
            "messages": [
                {
                    "case": case.id,
                    "reference": case.reference,
                    "outcome": results[case.id].outcome.name if case.id in results else None,
                    "detail": results[case.id].detail if case.id in results else "",
                    "end": _ENDS.get(ends.of(case)),
                }
                for case in self._cases[:MOST_SHOWN]
            ],
        }
