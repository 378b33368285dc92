"""`dead reconcile`: move the backup subscription's messages into the store."""

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ops.audit import new_operation
from ops.console import note, notes
from ops.errors import Exit
from ops.options import Note
from ops.reconcile import Reconciled, reconcile
from ops.world import World


def dead_reconcile(context: typer.Context, why: Note = "") -> None:
    """Store dead letters from the backup subscription.

    Every dead letter in it that has no case yet gets one. Use it when `tell` was down for a long time, or
    when cases were lost. You may interrupt it and run it again.

    \b
    Example:
      python -m ops dead reconcile
    """
    world: World = context.obj
    operation = new_operation("reconcile", world.settings.operator, why)
    world.audit.begin(operation, world.settings.named(world.settings.dead_letter_backup))
    # The bar has no total, because Pub/Sub does not say how many messages there are.
    columns = BarColumn(bar_width=20), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=notes) as progress:
        bar = progress.add_task("reading the backup", total=None)
        done = reconcile(world, lambda so_far: progress.update(bar, description=_said(so_far)))
    world.audit.finish(operation, {"read": done.read, "stored": done.stored, "left": len(done.left)})
    note(f"{_said(done)}. Audit: python -m ops audit {operation.name}")
    for line in done.left[:10]:
        note(f"still in the backup: {line}")
    if done.left:
        raise typer.Exit(Exit.FAILED)


def _said(done: Reconciled) -> str:
    return f"{done.read} read, {done.stored} newly stored, {len(done.left)} left"
