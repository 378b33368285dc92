"""`python -m local ask`: one conversation through the whole stack, in the terminal."""

import asyncio
import json
import os
import re
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
from google.cloud.firestore import Client
from rich.console import Console
from rich.markdown import Markdown

from local.cloud import Cloud
from local.environment import own_key
from local.places import HOST, PROJECT, Places, free_port
from local.stack import running
from shared.chat import message_id
from shared.firestore import Fields, document_id
from shared.records import COLLECTION

SPACE = "spaces/AAAAhelpdesk"
#: Seconds to wait for an answer: the whole pipeline with a slow model.
PATIENCE = 90.0
LOOK_EVERY = 0.05
ANSWERED, NOT_IN_KNOWLEDGE_BASE, NO_ANSWER = 0, 3, 4

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True)
class Exchange:
    """One question and what became of it; `answer` None: there was none in time."""

    question: str
    search_query: str | None
    answer: str | None
    sources: list[dict[str, Any]]
    thread: str
    seconds: float


async def ask(questions: list[str], *, as_json: bool) -> int:
    """Ask the questions one after the other in one thread and print the answers.

    Returns ANSWERED, NOT_IN_KNOWLEDGE_BASE when a question got the honest fallback, or NO_ANSWER.
    """
    with tempfile.TemporaryDirectory(prefix="threadwise-") as folder:
        places = Places(state=None, logs=Path(folder), http=free_port())
        os.environ["FIRESTORE_EMULATOR_HOST"] = f"{HOST}:{places.firestore}"
        async with running(places, gemini_key=own_key(os.environ)) as (cloud, _):
            return await _converse(questions, cloud, places, as_json)


async def _converse(questions: list[str], cloud: Cloud, places: Places, as_json: bool) -> int:
    firestore = Client(project=PROJECT)
    outcome, thread = ANSWERED, None
    for question in questions:
        started = time.monotonic()
        locale = "ja" if _JAPANESE.search(question) else "en"
        asked = cloud.chat.post_as_person(SPACE, question, thread=thread, locale=locale)
        thread = str(asked["thread"]["name"])
        final = await _final(firestore, asked["name"])
        said = await _said(asked["name"], places) if final else None
        exchange = Exchange(
            question=question,
            search_query=final.get("search_query"),
            answer=said,
            sources=final.get("sources", []),
            thread=thread,
            seconds=round(time.monotonic() - started, 2),
        )
        _show(exchange, as_json)
        outcome = max(outcome, _outcome(final))
    return outcome


async def _final(firestore: Any, question_id: str) -> Fields:
    """The question's final message, once it is posted; {} when that did not happen in time."""
    reference = firestore.collection(COLLECTION).document(document_id(question_id))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        record = (await asyncio.to_thread(reference.get)).to_dict() or {}
        if record.get("posted"):
            return dict(record["final"])
        await asyncio.sleep(LOOK_EVERY)
    return {}


async def _said(question_id: str, places: Places) -> str:
    """What the person sees in Chat."""
    name = f"{SPACE}/messages/{message_id(question_id)}"
    async with httpx.AsyncClient(trust_env=False) as client:
        message = (await client.get(f"{places.url}/v1/{name}")).raise_for_status().json()
    return str(message["text"])


def _outcome(final: Fields) -> int:
    if not final:
        return NO_ANSWER
    return ANSWERED if final["answered"] else NOT_IN_KNOWLEDGE_BASE


def _show(exchange: Exchange, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(exchange), ensure_ascii=False), flush=True)
        return
    console = Console()
    console.print(f"\n[bold]❯ {exchange.question}[/bold]", highlight=False)
    if exchange.answer is None:
        console.print(f"No answer within {PATIENCE:.0f} s.", style="red")
        return
    if exchange.search_query != exchange.question:
        console.print(f"Searched for: {exchange.search_query}", style="dim", highlight=False)
    console.print(Markdown(exchange.answer))
    for source in exchange.sources:
        console.print(f"[{source['number']}] {source['title']}", style="cyan", markup=False)
    console.print(f"{exchange.seconds:.1f} s", style="dim", highlight=False)
