"""`python -m local ask`: asks the questions of one conversation and prints the answers."""

import json
import os
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.places import HOST, Places, free_port
from local.runner.environment import own_key
from local.runner.stack import running

if TYPE_CHECKING:
    from local.stand_ins.chat.service import Chat

SPACE = "spaces/AAAAhelpdesk"
SHOWN = ("number", "title", "link", "id")
ANSWERED, NOT_IN_KNOWLEDGE_BASE, NO_ANSWER = 0, 3, 4

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True)
class Exchange:
    """One question and its answer; `answer` is None if none came in time. `seconds` is the whole time."""

    question: str
    search_query: str | None
    answer: str | None
    sources: list[dict[str, Any]]
    thread: str
    seconds: float


async def ask(questions: list[str], *, as_json: bool, logs: Path) -> int:
    """Ask the questions one after the other in one thread and print the answers; `logs` is a folder.

    Returns the worst result: ANSWERED (also if the bot asked a question back), NOT_IN_KNOWLEDGE_BASE or
    NO_ANSWER.
    """
    places = Places(state=None, logs=logs, http=free_port())
    os.environ["FIRESTORE_EMULATOR_HOST"] = f"{HOST}:{places.firestore}"
    async with running(places, gemini_key=own_key(os.environ)) as (cloud, _):
        return await _converse(questions, cloud.chat, places, as_json)


async def _converse(questions: list[str], chat: "Chat", places: Places, as_json: bool) -> int:
    from local.runner.outcome import (
        Outcomes,  # late, as in local/runner/stack.py: the functions start meanwhile
    )

    outcomes, worst, thread = Outcomes(places), ANSWERED, None
    for question in questions:
        started = time.monotonic()
        locale = "ja" if _JAPANESE.search(question) else "en"
        asked = chat.post_as_person(SPACE, question, thread=thread, locale=locale)
        thread = str(asked["thread"]["name"])
        final = await outcomes.final(asked["name"])
        exchange = Exchange(
            question=question,
            search_query=final.get("search_query"),
            answer=await outcomes.said(asked["name"], 1 + len(final.get("more", []))) if final else None,
            sources=[{key: source[key] for key in SHOWN} for source in final.get("sources", [])],
            thread=thread,
            seconds=round(time.monotonic() - started, 2),
        )
        _show(exchange, as_json)
        worst = max(worst, _outcome(final))
        if _outcome(final) == NOT_IN_KNOWLEDGE_BASE:
            print(f"Not in the knowledge base: {question}", file=sys.stderr)
    return worst


def _outcome(final: dict[str, Any]) -> int:
    if not final:
        return NO_ANSWER
    return ANSWERED if final["kind"] in {"answer", "clarification", "courtesy"} else NOT_IN_KNOWLEDGE_BASE


def _show(exchange: Exchange, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(exchange), ensure_ascii=False), flush=True)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(f"\n❯ {exchange.question}", style="bold", highlight=False, markup=False)
    if exchange.answer is None:
        console.print("No answer in time.", style="red")
        return
    if exchange.search_query != exchange.question:
        console.print(f"Searched for: {exchange.search_query}", style="dim", highlight=False, markup=False)
    console.print(Markdown(exchange.answer))
    for source in exchange.sources:
        console.print(f"[{source['number']}] {source['title']}", style="cyan", markup=False, highlight=False)
    console.print(f"{exchange.seconds:.1f} s", style="dim", highlight=False)
