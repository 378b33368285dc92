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
    """Serve the chat page on this machine, with everything behind it, until Ctrl-C."""
    if context.invoked_subcommand is None:
        try:
            state.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _fail(f"{state} cannot be the folder for the state: {error.strerror}")
        _run(serve(port, state.resolve()))


@app.command("ask")
def ask_command(
    questions: Annotated[list[str], typer.Argument(help="Questions of one conversation, in order.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a question.")] = False,
) -> None:
    """Ask one conversation through the whole stack and print the answers.

    Exit codes: 0 every question was answered; 3 one of them is not in the knowledge base; 4 one of them
    got no answer in time; 1 the stack could not start.

    Example: python -m local ask "How do I configure the VPN?" "Can you explain in more detail?"
    """
    if not all(question.strip() for question in questions):
        _fail("A question has no words.")
    code = _run(ask(questions, as_json=as_json, logs=STATE / "ask"))
    if code != ANSWERED:
        print(f"The functions' logs: {STATE / 'ask'}", file=sys.stderr)
    raise typer.Exit(code)


def _run(work: Coroutine[Any, Any, int | None]) -> int:
    isolate(os.environ)
    try:
        return asyncio.run(work) or 0
    except PortTaken as error:
        _fail(f"{error}. Stop what uses it, or choose another port: make run PORT={error.port + 1}")
    except FunctionFailed as error:
        _fail(str(error))
    except CannotStart as error:
        _fail(f"{error}\nAnother folder for its state can be chosen: make run ARGS='--state /tmp/threadwise'")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    return FAILED


def _fail(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    raise typer.Exit(FAILED)
