"""The pipeline, read from `pipeline.json` beside this module: the functions, their topics and time limits.

Terraform reads the same file. This module needs only the standard library, so that the tools, which run
before anything is installed, can use it too.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("pipeline.json")
#: The sender of the messages for the first step. Every other sender is a step.
CHAT = "chat"


@dataclass(frozen=True)
class Seconds:
    """Time limits: the longest attempt of one call < the deadline of the step < the time-out of the function
    < the ack deadline of its subscription. So Pub/Sub delivers a message again only after the work has
    ended."""

    attempt: int
    step: int
    function: int
    ack: int


@dataclass(frozen=True)
class Row:
    """One function of the pipeline.

    `takes` and `gives` are topics; the last step has no `gives`. `adds` names the fields of the envelope that
    the step fills in. `calls` names the services that it calls. `stage` is the row of the progress card that
    the step belongs to (a key in the catalogues); it is empty for the function that takes the dead letters.
    `concurrency` is how many messages one instance handles at once.
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
        """The path of its `main.py` from the root of the repository."""
        return f"{self.folder}/main.py"

    @property
    def subscription(self) -> str:
        """The name of its push subscription."""
        return f"{self.takes}-push"


@dataclass(frozen=True)
class Sweep:
    """The path at which the teller runs the sweep (`answer_fn/sweep.py`), and how often it is called."""

    path: str
    minutes: int


@dataclass(frozen=True)
class Pipeline:
    """The whole table.

    A question passes through the `steps` in order: each publishes to the topic that the next one takes.
    `teller` takes the dead letters. The topic `chat_events` exists even if Chat calls the first step
    directly, because operators replay events to it. `dead_letters_backup` is the operators' own subscription.
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
        """The steps and the teller."""
        return (*self.steps, self.teller)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the functions, without duplicates."""
        return tuple(dict.fromkeys(row.folder for row in self.functions))

    @property
    def topics(self) -> tuple[str, ...]:
        """Every topic. One subscription pushes each topic to its function."""
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
        """The function with this name. Raises KeyError."""
        return {row.name: row for row in self.functions}[name]

    def since(self, name: str) -> tuple[Row, ...]:
        """The step with this name and all later steps, in order. Raises ValueError."""
        return self.steps[self.steps.index(self.step(name)) :]

    @property
    def takers(self) -> dict[str, Row]:
        """Sender → the step that takes its messages. A sender is Chat or a step."""
        return dict(zip((CHAT, *(row.name for row in self.steps)), self.steps, strict=False))

    def sender(self, name: str) -> str:
        """The sender of the messages that the step with this name takes. Raises ValueError."""
        position = self.steps.index(self.step(name))
        return self.steps[position - 1].name if position else CHAT

    def after(self, name: str) -> Row:
        """The step after the step with this name. Raises KeyError for the last one."""
        return self.takers[name]


@cache
def pipeline() -> Pipeline:
    """The table. The file is read once. Raises OSError, or ValueError or TypeError if the file is wrong."""
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
    """The function with this name. Raises KeyError."""
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
