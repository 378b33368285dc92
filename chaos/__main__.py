"""`python -m chaos`: ask while services fail, and check that no question is lost or answered twice."""

import asyncio
import fnmatch
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from local.runner.emulators import missing
from local.runner.environment import isolate

VIOLATED = 1


def chaos(
    questions: Annotated[int, typer.Option(min=1, help="Questions in all.")] = 600,
    threads: Annotated[int, typer.Option(min=1, help="Threads in spaces that they are spread over.")] = 180,
    seed: Annotated[int, typer.Option(help="The same seed: the same questions and faults.")] = 1,
    minutes: Annotated[float, typer.Option(min=0.1, help="Stop asking after this time.")] = 20.0,
    quotas: Annotated[bool, typer.Option(help="Enforce Chat's quota: a write a second in a space.")] = False,
    emulators: Annotated[
        bool,
        typer.Option(help="With Google's Pub/Sub and Firestore emulators; these two are not broken then."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out these faults, deeds and excesses; * stands for any text, as in *-refused."
        ),
    ] = None,
) -> None:
    """Ask questions while functions are killed and services fail; then check, replay and check again.

    Exit code 1 if a question was lost, answered twice or misplaced. State and logs are then kept.
    """
    isolate(os.environ)
    if emulators and (reason := missing("pubsub") or missing("firestore")):
        raise typer.BadParameter(f"Google's emulators cannot run here: {reason}")
    # gRPC reads its variables when it is imported.
    from chaos.report import show
    from chaos.run import Plan, run
    from chaos.script import DEEDS, EXCESSES
    from chaos.storm import blow_names

    left_out = {each: set(fnmatch.filter((*blow_names(), *DEEDS, *EXCESSES), each)) for each in without or ()}
    if unknown := [each for each, names in left_out.items() if not names]:
        raise typer.BadParameter(f"No fault and no deed is called {', '.join(unknown)}")

    folder = Path(tempfile.mkdtemp(prefix="threadwise-chaos-"))
    logging.basicConfig(filename=folder / "cloud.log")
    console = Console()
    plan = Plan(
        questions, threads, seed, minutes, quotas, emulators, frozenset[str]().union(*left_out.values())
    )
    figures = asyncio.run(run(plan, folder, console))
    show(figures, console)
    if figures.violations:
        console.print(f"State and logs: {folder}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(VIOLATED)
    shutil.rmtree(folder)


if __name__ == "__main__":
    typer.run(chaos)
