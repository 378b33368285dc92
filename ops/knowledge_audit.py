"""The audit of changes to a corpus.

A corpus can be created and filled before a deployment exists. Then there is no database for the audit yet.
The operator is told that the audit cannot be written, and the work goes on.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ops.audit import Operation
from ops.console import note
from ops.world import World
from shared.runtime.errors import StepError


@contextmanager
def audited(world: World, operation: Operation, selection: str) -> Iterator[Counter[str]]:
    """Record the start of an operation, and its end with the counts that the caller fills in."""
    counts = Counter[str]()
    written = _written(lambda: world.audit.begin(operation, selection), world.where)
    yield counts
    if written:
        _written(lambda: world.audit.finish(operation, +counts), world.where)


def _written(write: Callable[[], None], where: str) -> bool:
    try:
        write()
    except StepError as error:
        note(f"The audit in {where} cannot be written ({error.reason}). Continuing without it.")
        return False
    return True
