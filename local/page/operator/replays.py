"""A replay that runs in the background while the page shows its progress."""

import threading
import time
from collections import Counter
from typing import Any

from ops.bulk_replay import ANSWERED, RETURNED, UNDER_WAY, Ends, Run
from ops.case import Case
from ops.errors import explained
from ops.replay import Order
from ops.world import World

Json = dict[str, Any]
#: As in `dead replay`: the share of returned messages that stops it, and how many seconds it waits for
#: answers.
STOP_AT, WAIT = 0.2, 60.0
#: How many messages the page lists. All of them are counted.
MOST_SHOWN = 200
#: Seconds between two progress reports. Each one looks at all messages.
DRAW_EVERY = 0.25
#: How many seconds to wait for its end when everything stops.
PATIENCE = 5.0
#: The page's names for the ends.
_ENDS = {ANSWERED: "answered", RETURNED: "returned", UNDER_WAY: "under_way"}


class _Stopped(Exception):
    """A person has stopped the replay."""


class Replay:
    """A replay of some cases. Any thread may call `progress()`, which returns the latest report."""

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
        # A daemon thread, so that the process can end without waiting for it.
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return bool(self._picture["running"])

    def start(self) -> None:
        """Start the replay."""
        self._thread.start()

    def stop(self) -> None:
        """Stop before the next message. Messages that were already sent stay sent."""
        self._stop.set()

    def wait(self) -> None:
        """Wait a few seconds for the end."""
        self._thread.join(PATIENCE)

    def progress(self) -> Json:
        """What has become of the messages: the numbers, and the details of the first ones."""
        return self._picture

    def _work(self) -> None:
        try:
            self._replay()
        except _Stopped:
            pass
        except Exception as error:  # whatever it is, the person must see it
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
