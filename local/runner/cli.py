"""threadwise on one machine: `python -m local` serves the chat page, `python -m local ask` asks."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from local.places import CannotStart, PortTaken
from local.runner.ask import ANSWERED, ask
from local.runner.environment import isolate
from local.runner.functions import FunctionFailed
from local.runner.serve import serve

STATE = Path(__file__).resolve().parents[2] / ".local"
FAILED = 1

app = typer.Typer(add_completion=False, help=__doc__, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def serve_command(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the chat page.")] = 8080,
    state: Annotated[Path, typer.Option(help="Folder for conversations and logs.")] = STATE,
) -> None:
    """Serve the chat page and everything behind it on this machine, until Ctrl-C."""
    if context.invoked_subcommand is None:
        try:
            state.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _fail(f"{state} cannot hold the state: {error.strerror}")
        _run(serve(port, state.resolve()))


@app.command("ask")
def ask_command(
    questions: Annotated[list[str], typer.Argument(help="Questions of one conversation, in order.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per question.")] = False,
) -> None:
    """Ask the questions of one conversation and print the answers.

    Exit codes: 0 every question got an answer; 3 the knowledge base has no answer to one of them; 4 one of
    them got no answer in time; 1 the functions or the stand-ins could not start.

    Example: python -m local ask "How do I configure the VPN?" "Can you explain in more detail?"
    """
    if not all(question.strip() for question in questions):
        _fail("A question is empty.")
    code = _run(ask(questions, as_json=as_json, logs=STATE / "ask"))
    if code != ANSWERED:
        print(f"Logs of the functions: {STATE / 'ask'}", file=sys.stderr)
    raise typer.Exit(code)


def _run(work: Coroutine[Any, Any, int | None]) -> int:
    isolate(os.environ)
    try:
        return asyncio.run(work) or 0
    except PortTaken as error:
        _fail(
            f"{error}. Stop the program that uses it, or choose another port: make run PORT={error.port + 1}"
        )
    except FunctionFailed as error:
        _fail(str(error))
    except CannotStart as error:
        _fail(
            f"{error}\nYou can choose another folder for the state: make run ARGS='--state /tmp/threadwise'"
        )
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    return FAILED


def _fail(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    raise typer.Exit(FAILED)
