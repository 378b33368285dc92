"""Runs the operators' code on the small cloud. It is synchronous: call it in a thread."""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from starlette.responses import Response

from local.page.operator.replays import MOST_SHOWN, Replay
from local.page.operator.requests import ReplayRequest
from local.places import PROJECT, Places
from local.stand_ins.http_gate import google_error
from ops.audit import new_operation
from ops.bulk_replay import canary
from ops.case import Case, grouped
from ops.console import as_fields
from ops.detail import failures_of, in_full
from ops.errors import Exit, OpsError, explained
from ops.replay import Order, outlooks
from ops.selection import Selection
from ops.settings import Settings
from ops.world import World
from shared.pipeline import pipeline

Json = dict[str, Any]
#: The HTTP status for each exit code; any other code gives 500.
STATUSES = {Exit.NOT_FOUND: 404, Exit.INVALID: 400, Exit.DECLINED: 409, Exit.UNREACHABLE: 503}
_creating_clients = threading.Lock()


class Desk:
    """The dead letters of one small cloud, and the latest replay."""

    def __init__(self, places: Places) -> None:
        self._logs = places.logs
        self._world = _world(places)
        self._latest: Replay | None = None
        self._starting = threading.Lock()

    def answer(self, work: Callable[["Desk"], Json]) -> Response:
        """The answer of `work` as JSON, or its error in the shape of Google's REST APIs."""
        try:
            answer = work(self)
        except Exception as error:
            told = explained(error, self._world.where)
            return google_error(STATUSES.get(told.code, 500), told.code.name, str(told))
        body = json.dumps(answer, ensure_ascii=False, default=datetime.isoformat)
        return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

    def groups(self) -> Json:
        """The open cases by cause, and the number of cases in each state."""
        cases = self._world.store.select(Selection(state="any"))
        groups = grouped(filter(Selection().takes, cases))
        counts = Counter(case.status for case in cases)
        return {"counts": counts, "groups": [group.as_fields() for group in groups]}

    def cases(self, group: str | None, state: str, limit: int) -> Json:
        """The latest `limit` cases of a group (None: all groups) in a state, and the total number."""
        found = self._world.store.select(Selection(group=group, state=state))
        return {"total": len(found), "cases": [as_fields(case) for case in found[:limit]]}

    def case(self, name: str, *, with_text: bool) -> Json:
        """Everything about one case, with the path of its step's log. Raises OpsError if there is none."""
        case = self._world.store.find(name)
        log = self._logs / f"{case.step}.log" if case.step else self._logs
        full = in_full(case, failures_of(case, self._world), with_text=with_text)
        return {**full, "log": str(log), "with_text": with_text}

    def preview(self, asked: ReplayRequest) -> Json:
        """What a replay would do. It sends nothing."""
        cases, order = self._chosen(asked), self._order(asked)
        expected = outlooks(cases, order, self._world)
        return {
            "total": len(cases),
            "outcomes": Counter(result.outcome.name for result in expected),
            "messages": [
                {"case": each.case.id, "reference": each.case.reference, "outcome": each.outcome.name}
                for each in expected[:MOST_SHOWN]
            ],
        }

    def replay(self, asked: ReplayRequest) -> Json:
        """Start a replay and return its progress. Raises OpsError if none is chosen, or a replay runs."""
        with self._starting:
            if self._latest is not None and self._latest.running:
                raise OpsError("A replay is already running. Wait until it ends, or stop it.", Exit.DECLINED)
            cases, order = self._chosen(asked), self._order(asked)
            if not cases:
                raise OpsError("None of these dead letters is still waiting.", Exit.NOT_FOUND)
            self._latest = Replay(self._world, cases, order, rate=asked.rate, selected=_selected(asked))
            self._latest.start()
        return self.progress()

    def progress(self) -> Json:
        """The progress of the latest replay; `replay` is None if there was none."""
        return {"replay": self._latest.progress() if self._latest else None}

    def stop_replay(self) -> Json:
        """Make the running replay stop before its next message."""
        if self._latest is not None:
            self._latest.stop()
        return self.progress()

    def close(self) -> None:
        """End all work and cut off running calls."""
        self.stop_replay()
        self._world.firestore.close()
        if self._latest is not None:
            self._latest.wait()

    def _chosen(self, asked: ReplayRequest) -> list[Case]:
        chosen = self._world.store.select(Selection(ids=tuple(asked.ids), group=asked.group))
        oldest_first = list(reversed(chosen))
        if asked.limit is None:
            return oldest_first
        return canary(oldest_first, asked.limit, self._world, stale=asked.even_stale)

    def _order(self, asked: ReplayRequest) -> Order:
        return Order(new_operation("replay", asked.by, "from the chat page"), even_stale=asked.even_stale)


def _selected(asked: ReplayRequest) -> str:
    return str(Selection(ids=tuple(asked.ids), group=asked.group))


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


@contextmanager
def clients_of(places: Places) -> Iterator[None]:
    """Clients of Pub/Sub and Firestore that are created inside belong to this small cloud.

    The SDKs read their variables when a client is created, so this process has them only for that moment.
    """
    variables = places.emulators
    with _creating_clients:
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
