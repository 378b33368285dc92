"""The audit of what changes a corpus.

A corpus can be made and filled before there is a deployment, and so before there is a database for the audit:
what cannot be written is said, and the work goes on.
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
    """Note that an operation begins and, with the counts that are filled in, that it is done."""
    counts = Counter[str]()
    written = _written(lambda: world.audit.begin(operation, selection), world.where)
    yield counts
    if written:
        _written(lambda: world.audit.finish(operation, +counts), world.where)


def _written(write: Callable[[], None], where: str) -> bool:
    try:
        write()
    except StepError as error:
        note(f"The audit in {where} cannot be written ({error.reason}); going on without it.")
        return False
    return True
