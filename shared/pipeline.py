"""The pipeline, read from `pipeline.json` beside this module: which function takes what, and for how long.

Terraform reads the same file. This module needs the standard library alone, so that the tools, which run
before anything is installed, can use it too.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("pipeline.json")
#: Who sends what the first step takes; every other sender is a step.
CHAT = "chat"


@dataclass(frozen=True)
class Seconds:
    """The longest attempt of one call < the deadline of the step < the time-out of the function < the ack
    deadline of its subscription: Pub/Sub delivers a message again only when nobody works on it any more."""

    attempt: int
    step: int
    function: int
    ack: int


@dataclass(frozen=True)
class Row:
    """One function of the pipeline.

    `takes` and `gives` are topics; the last step gives to none. `adds` names the fields of the envelope that
    the step fills in, `calls` the services that it asks. `stage` is the row of the progress card that the
    step belongs to (a key in the catalogues); empty for who takes the dead letters. `concurrency` is
    how many messages one instance takes at once.
    """

    name: str
    folder: str
    entry_point: str
    takes: str
    gives: str | None
    adds: tuple[str, ...]
    stage: str
    calls: tuple[str, ...]
    seconds: Seconds
    memory: str
    concurrency: int
    max_instances: int

    @property
    def source(self) -> str:
        """Its `main.py`, from the root of the repository."""
        return f"{self.folder}/main.py"

    @property
    def subscription(self) -> str:
        """The name of its push subscription."""
        return f"{self.takes}-push"


@dataclass(frozen=True)
class Sweep:
    """The path of the teller that sets right what nobody works on any more, and how often it is called."""

    path: str
    minutes: int


@dataclass(frozen=True)
class Pipeline:
    """The whole table.

    `steps` are what a question passes through, in order: each gives to the topic that the next one takes.
    `teller` takes the dead letters. Where Chat calls the first step itself, `chat_events` is there all the
    same: operators replay events to it. `dead_letters_backup` is the operators' own subscription.
    """

    steps: tuple[Row, ...]
    teller: Row
    chat_events: str
    dead_letters: str
    dead_letters_backup: str
    delivery_attempts: int
    sweep: Sweep

    @property
    def functions(self) -> tuple[Row, ...]:
        """The steps, and who takes the dead letters."""
        return (*self.steps, self.teller)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the functions, each once."""
        return tuple(dict.fromkeys(row.folder for row in self.functions))

    @property
    def topics(self) -> tuple[str, ...]:
        """Every topic; one subscription pushes each to the function that takes it."""
        return tuple(row.takes for row in self.functions)

    @property
    def stages(self) -> tuple[str, ...]:
        """The rows of the progress card, in order."""
        return tuple(dict.fromkeys(row.stage for row in self.steps))

    @property
    def first(self) -> Row:
        """The step that takes Chat's events."""
        return self.steps[0]

    @property
    def last(self) -> Row:
        """The step that ends a question."""
        return self.steps[-1]

    def step(self, name: str) -> Row:
        """The function of this name. Raises KeyError."""
        return {row.name: row for row in self.functions}[name]

    def since(self, name: str) -> tuple[Row, ...]:
        """The step of this name and all after it, in order. Raises ValueError."""
        return self.steps[self.steps.index(self.step(name)) :]

    @property
    def takers(self) -> dict[str, Row]:
        """Sender → the step that takes what it sends; a sender is Chat or a step."""
        return dict(zip((CHAT, *(row.name for row in self.steps)), self.steps, strict=False))

    def sender(self, name: str) -> str:
        """Who sends what the step of this name takes. Raises ValueError."""
        position = self.steps.index(self.step(name))
        return self.steps[position - 1].name if position else CHAT

    def after(self, name: str) -> Row:
        """The step that takes what the step of this name gives. Raises KeyError for the last one."""
        return self.takers[name]


@cache
def pipeline() -> Pipeline:
    """The table; the file is read once. Raises OSError, and ValueError or TypeError for a wrong one."""
    table: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = table.pop("steps")
    if len({row["takes"] for row in rows}) < len(rows):
        raise ValueError("shared/pipeline.json: two rows take the same topic")
    way = [row for row in rows if row["takes"] != table["dead_letters"]]
    [teller] = [row for row in rows if row not in way]
    gives = [row["takes"] for row in way[1:]] + [None]
    steps = tuple(_row(row, topic) for row, topic in zip(way, gives, strict=True))
    sweep = Sweep(**table.pop("sweep"))
    return Pipeline(steps=steps, teller=_row(teller, None), sweep=sweep, **table)


def step(name: str) -> Row:
    """The function of this name. Raises KeyError."""
    return pipeline().step(name)


def _row(row: dict[str, Any], gives: str | None) -> Row:
    read: dict[str, Any] = {
        **row,
        "gives": gives,
        "seconds": Seconds(**row["seconds"]),
        "adds": tuple(row["adds"]),
        "calls": tuple(row["calls"]),
    }
    return Row(**read)
