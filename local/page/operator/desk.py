"""The operators' code at work on the small cloud. Synchronous: it is called in threads."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from starlette.responses import Response

from local.page.operator.replays import MOST_SHOWN, Replay
from local.page.operator.wishes import ReplayWish
from local.places import PROJECT, Places
from local.runner.environment import clients_of
from local.stand_ins.http_gate import google_error
from ops.audit import new_operation
from ops.bulk import canary
from ops.case import Case
from ops.console import as_fields
from ops.detail import failures_of, in_full
from ops.errors import Exit, OpsError, explained
from ops.groups import grouped
from ops.replay import Order, outlooks
from ops.selection import Selection
from ops.settings import Settings
from ops.world import World
from shared.pipeline import pipeline

Json = dict[str, Any]
#: HTTP statuses of the exit codes; what is not here is 500.
STATUSES = {Exit.NOT_FOUND: 404, Exit.INVALID: 400, Exit.DECLINED: 409, Exit.UNREACHABLE: 503}


class Desk:
    """Dead letters of one small cloud, and its latest replay."""

    def __init__(self, places: Places) -> None:
        self._logs = places.logs
        self._world = _world(places)
        self._latest: Replay | None = None
        self._starting = threading.Lock()

    def answer(self, work: Callable[["Desk"], Json]) -> Response:
        """The answer of `work`, or the sentence that its error deserves."""
        try:
            answer = work(self)
        except Exception as error:
            told = explained(error, self._world.where)
            return google_error(STATUSES.get(told.code, 500), told.code.name, str(told))
        body = json.dumps(answer, ensure_ascii=False, default=datetime.isoformat)
        return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

    def groups(self) -> Json:
        """The open cases by cause, and how many cases there are in which state."""
        cases = self._world.store.select(Selection(state="any"))
        groups = grouped(filter(Selection().takes, cases))
        counts = Counter(case.status for case in cases)
        return {"counts": counts, "groups": [group.as_fields() for group in groups]}

    def cases(self, group: str | None, state: str, limit: int) -> Json:
        """The latest `limit` cases of a group or all groups, in a state or any, and how many there are."""
        found = self._world.store.select(Selection(group=group, state=state))
        return {"total": len(found), "cases": [as_fields(case) for case in found[:limit]]}

    def case(self, name: str, *, with_text: bool) -> Json:
        """Everything about one case, and where its step's log is. Raises OpsError."""
        case = self._world.store.find(name)
        log = self._logs / f"{case.step}.log" if case.step else self._logs
        full = in_full(case, failures_of(case, self._world), with_text=with_text)
        return {**full, "log": str(log), "with_text": with_text}

    def preview(self, wish: ReplayWish) -> Json:
        """What a replay would do. Nothing is sent."""
        cases, order = self._chosen(wish), self._order(wish)
        expected = outlooks(cases, order, self._world)
        return {
            "total": len(cases),
            "outcomes": Counter(result.outcome.name for result in expected),
            "messages": [
                {"case": each.case.id, "reference": each.case.reference, "outcome": each.outcome.name}
                for each in expected[:MOST_SHOWN]
            ],
        }

    def replay(self, wish: ReplayWish) -> Json:
        """Begin a replay; returns its progress. Raises OpsError if nothing is chosen, or one is under way."""
        with self._starting:
            if self._latest is not None and self._latest.running:
                raise OpsError("A replay is under way: wait for its end, or stop it.", Exit.DECLINED)
            cases, order = self._chosen(wish), self._order(wish)
            if not cases:
                raise OpsError("None of these is an open dead letter.", Exit.NOT_FOUND)
            self._latest = Replay(self._world, cases, order, rate=wish.rate, selected=_selected(wish))
            self._latest.start()
        return self.progress()

    def progress(self) -> Json:
        """How the latest replay stands; `replay` is None when there was none."""
        return {"replay": self._latest.progress() if self._latest else None}

    def stop_replay(self) -> Json:
        """Have the replay under way stop before its next message."""
        if self._latest is not None:
            self._latest.stop()
        return self.progress()

    def close(self) -> None:
        """End all work: calls under way are cut off."""
        self.stop_replay()
        self._world.firestore.close()
        if self._latest is not None:
            self._latest.wait()

    def _chosen(self, wish: ReplayWish) -> list[Case]:
        chosen = self._world.store.select(Selection(ids=tuple(wish.ids), group=wish.group))
        oldest_first = list(reversed(chosen))
        if wish.limit is None:
            return oldest_first
        return canary(oldest_first, wish.limit, self._world, stale=wish.even_stale)

    def _order(self, wish: ReplayWish) -> Order:
        return Order(new_operation("replay", wish.by, "from the chat page"), even_stale=wish.even_stale)


def _selected(wish: ReplayWish) -> str:
    return str(Selection(ids=tuple(wish.ids), group=wish.group))


def _world(places: Places) -> World:
    settings = Settings(
        google_cloud_project=PROJECT,
        firestore_database="(default)",
        name_prefix="",
        dead_letter_topic=pipeline().dead_letters,
        operator="chat page",
    )
    world = World(settings)
    with clients_of(places):
        _ = world.firestore, world.outbox
    return world
