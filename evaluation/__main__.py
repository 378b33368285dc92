"""`python -m evaluation`: measure rewriting, search and answers, on our own or a folder's conversations."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import track

from local.runner.environment import isolate, own_key

FELL = 1
UNUSABLE = 2
PAGE = Path(__file__).resolve().parent.parent / "docs" / "quality.md"
_console = Console()
_trouble = Console(stderr=True)

Folder = Annotated[Path | None, typer.Option(help="Folder of the data. Default: our own conversations.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")]
Gate = Annotated[Path | None, typer.Option(help="Fail if a figure is worse than the one in this file.")]
Keep = Annotated[Path | None, typer.Option(help="Write the figures that the gate watches to this file.")]
Page = Annotated[bool, typer.Option(help="Write the tables to docs/quality.md (our own conversations).")]
Answers = Annotated[bool, typer.Option(help="Also answer the questions.")]
Online = Annotated[bool, typer.Option(help="Ask real Gemini (needs GEMINI_API_KEY, costs money).")]
Record = Annotated[Path | None, typer.Option(help="Write the model's responses to this file.")]
Replay = Annotated[Path | None, typer.Option(help="Take the model's responses from this file.")]
RewriteModel = Annotated[str, typer.Option(help="Model that rewrites, instead of the local one.")]
AnswerModel = Annotated[str, typer.Option(help="Model that answers, instead of the local one.")]


def evaluate(
    data: Folder = None,
    json_file: Json = None,
    gate: Gate = None,
    keep: Keep = None,
    page: Page = False,
    answers: Answers = True,
    online: Online = False,
    record: Record = None,
    replay: Replay = None,
    rewrite_model: RewriteModel = "gemini-3.5-flash-lite",
    answer_model: AnswerModel = "gemini-3.5-flash",
) -> None:
    """Measure how well questions are rewritten, found and answered. Offline unless --online is given.

    Exit code 1 if a figure is worse than in the gate's file, 2 if the data or the model cannot be used.
    """
    gemini_key = own_key(os.environ)
    isolate(os.environ)
    from evaluation.data import Unreadable, read
    from evaluation.gate import fallen, figures
    from evaluation.own import read_own
    from evaluation.report import tables, write_between
    from evaluation.run import evaluate as measure
    from evaluation.search import Engine
    from shared.runtime.errors import Permanent, Transient

    if page and data:
        raise _unusable("--page writes the figures of our own conversations; leave out --data.")
    for path in (json_file, keep):
        if path and not path.parent.is_dir():  # told before the work, not after it
            raise _unusable(f"There is no folder {path.parent} to write {path.name} to.")
    try:
        watched = json.loads(gate.read_text(encoding="utf-8")) if gate else None
        with _trouble.status("Reading and indexing the passages"):
            chosen = read(data) if data else read_own()
            engine = Engine(chosen.passages) if chosen.passages else None
        with ExitStack() as stack:
            if engine:
                key = _key(gemini_key) if online else None
                model = _model(engine, stack, key, record, replay, (rewrite_model, answer_model))
                report = measure(chosen, engine, model, _tracked, with_answers=answers)
            else:
                report = _of_people(chosen, in_vain=any((gate, keep, online, record, replay)))
    except (Unreadable, OSError, json.JSONDecodeError) as error:
        raise _unusable(str(error)) from None
    except (Permanent, Transient) as error:
        raise _unusable(f"The model did not answer: {error}") from None
    text = tables(report)
    _console.print(Markdown(text))
    if json_file:
        json_file.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if page:
        write_between(PAGE, "figures of our own conversations", text)
    if keep:
        keep.write_text(json.dumps(figures(report), indent=2) + "\n", encoding="utf-8")
    if watched is not None and (worse := fallen(figures(report), watched)):
        for line in worse:
            _trouble.print(line, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(FELL)


def _of_people(chosen: Any, *, in_vain: bool) -> dict[str, Any]:
    """The figures of people's rewrites; `in_vain`: options were given that they have no use for."""
    from evaluation.rewrites import evaluate as measure

    if in_vain:
        raise _unusable(
            "There are only people's rewrites in the folder: without passages no model is asked, and nothing "
            "is measured that the gate watches. Leave out --gate, --keep, --online, --record and --replay."
        )
    return measure(chosen, _tracked)


def _model(
    engine: Any,
    stack: ExitStack,
    gemini_key: str | None,
    record: Path | None,
    replay: Path | None,
    names: tuple[str, str],
) -> Any:
    """The real model with a key, else a recorded or the local one; closes what it opens with the stack."""
    from evaluation.model import Model, local_client
    from evaluation.recording import Recorder, Replay

    if replay:
        if gemini_key or record:
            raise _unusable("--replay takes recorded responses: leave out --online and --record.")
        return Model(Replay(replay), "recorded", *names)
    client = _gemini(gemini_key) if gemini_key else local_client(engine.index)
    if record:
        client = Recorder(client, stack.enter_context(record.open("w", encoding="utf-8")))
    return Model(client, "Gemini" if gemini_key else "the local model", *names)


def _key(gemini_key: str | None) -> str:
    if not gemini_key:
        raise _unusable("Set GEMINI_API_KEY to ask real Gemini.")
    return gemini_key


def _gemini(gemini_key: str) -> Any:
    from google import genai

    return genai.Client(vertexai=False, api_key=gemini_key)


def _tracked(tasks: Iterable[Any]) -> Iterator[Any]:
    yield from track(list(tasks), description="Measuring", console=_trouble)


def _unusable(text: str) -> typer.Exit:
    _trouble.print(text, markup=False, highlight=False, soft_wrap=True)
    return typer.Exit(UNUSABLE)


if __name__ == "__main__":
    typer.run(evaluate)
