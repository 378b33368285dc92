"""`python -m ops` on the small cloud: commands, and the dead letters they work on."""

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.cloud.firestore import Client
from typer.testing import CliRunner

from ops.cli import app
from ops.errors import explained
from ops.reconcile import letter_from_pull
from ops.world import World
from shared.memory.cases import COLLECTION, Cases
from shared.memory.failures import Failures
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Envelope
from shared.runtime.cloudevent import REPLAY_COUNT, message
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests import ROOT
from tests.support import remembering
from tests.support.factories import ending, envelope
from tests.support.interrupting import interruptible

TROUBLE = Transient("gemini_unavailable", "503 ServerError")
_message_ids = map(str, itertools.count(1))


@dataclass(frozen=True)
class Ran:
    """What a command has left: its exit code, and what it has printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output, which must be JSON alone."""
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """All that a person has seen."""
        return self.out + self.err


def ran(*arguments: str, world: World | None = None) -> Ran:
    """Run a command in this process; errors are told as `main` tells them."""
    world = world or World()
    result = CliRunner().invoke(app, arguments, obj=world)
    if result.exception is None or isinstance(result.exception, SystemExit):
        return Ran(result.exit_code, result.stdout, result.stderr)
    assert isinstance(result.exception, Exception)
    told = explained(result.exception, world.where)
    return Ran(int(told.code), result.stdout, f"{result.stderr}{told}\n")


def started(
    *arguments: str, environment: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[str]":
    """The same in a process of its own."""
    return subprocess.Popen(
        interruptible(sys.executable, "-m", "ops", *arguments),
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]", seconds: float = 60) -> Ran:
    """Wait for such a process."""
    out, err = process.communicate(timeout=seconds)
    return Ran(process.returncode, out, err)


def letter(
    sent: Envelope | None = None, *, sender: str = "retrieve", parked: str | None = None, **attributes: str
) -> DeadLetter:
    """A dead letter as it is pulled; `parked` is the reason when a step of ours has parked it."""
    sent = sent or envelope(search_query="VPN", contexts=())
    data = sent.to_bytes()
    given = message(data, question_id=sent.question.id, step=sender, trace=sent.trace).attributes
    ours = {"dead-letter-reason": parked} if parked else {}
    return letter_from_pull({**given, **ours, **attributes}, data, next(_message_ids))


@dataclass
class Desk:
    """What operators work on, and how a test looks at it."""

    firestore: Client

    def stored(self, kept: DeadLetter, *, failed: bool = True, **fields: Any) -> dict[str, Any]:
        """Keep a letter as `tell` does, then overwrite some fields; returns the case."""
        if failed and kept.step and not kept.reason:
            Failures(self.firestore).record(
                kept.question_id, kept.step, TROUBLE, ["ValueError at a.py:1 f"], Deadline(5)
            )
        failure = Failures(self.firestore).find(kept.question_id, kept.step or "none", Deadline(5))
        Cases(self.firestore).store(kept, failure, Deadline(5))
        if fields:
            self.document(kept).update(fields)
        return self.case(kept)

    def document(self, kept: DeadLetter) -> Any:
        """The case's document."""
        return self.firestore.collection(COLLECTION).document(kept.case_id)

    def case(self, kept: DeadLetter) -> dict[str, Any]:
        """The case's fields."""
        return dict(self.document(kept).get().to_dict() or {})

    def audited(self) -> list[dict[str, Any]]:
        """All operations with their messages, the oldest first."""
        found = []
        for each in self.firestore.collection("audit").order_by("at").stream():
            messages = each.reference.collection("messages").stream()
            found.append({**(each.to_dict() or {}), "messages": [entry.to_dict() for entry in messages]})
        return found

    def clear(self) -> None:
        """Leave nothing to the next test."""
        for name in (COLLECTION, "audit"):
            for document in self.firestore.collection(name).stream():
                document.reference.delete()


def hours_ago(hours: float) -> datetime:
    """A time in the past."""
    return datetime.fromtimestamp(datetime.now(UTC).timestamp() - hours * 3600, UTC)


def answer(desk: Desk, kept: DeadLetter) -> None:
    """An answer to its question is posted."""
    assert kept.question is not None
    remembering.end(desk.firestore, kept.question, ending("answer", "Install it [1]."))


@contextmanager
def coming_back(desk: Desk, kept: list[DeadLetter]) -> Iterator[None]:
    """Each replayed question comes back as a dead letter, as if the cause were not mended."""
    over = threading.Event()

    def bring_back() -> None:
        waiting = list(kept)
        while not over.wait(0.05):
            for each in waiting:
                if desk.case(each).get("state") == "replayed":
                    again = {**each.attributes, REPLAY_COUNT: "1"}
                    back = letter_from_pull(again, each.data, f"{each.message_id}-back")
                    Cases(desk.firestore).store(back, None, Deadline(5))
            waiting = [each for each in waiting if not desk.case(each).get("returned")]

    thread = threading.Thread(target=bring_back)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
