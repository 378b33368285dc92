"""Asks the local model or the real Gemini in the same way as the functions do.

Both are a `genai.Client`, so the prompts, the schema and the reading of a response are the product's own.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
from google import genai
from google.genai import types
from starlette.applications import Starlette

from answer_fn import prompts as answering
from answer_fn.prompts import RagAnswer
from evaluation.data import Task
from evaluation.recording import NOT_RECORDED
from local.stand_ins.faults import Faults
from local.stand_ins.gemini.service import Gemini
from local.stand_ins.rag.index import Hit, Index
from reformulate_fn.rewrite import Query, Rewriter, query
from shared.messages.envelope import Context, Envelope, Question, Turn
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from shared.runtime.gemini import generate
from shared.runtime.retry import Policy

#: An evaluation can wait longer than a person. The limits of one attempt, and of all attempts in seconds.
POLICY = Policy("gemini", 60, 4)
PATIENCE = 180.0
_SPACE = "spaces/evaluation"
_ASKED_AT = datetime(2026, 1, 1, tzinfo=UTC)


def local_client(index: Index) -> Any:
    """The local model over these passages, without a socket in between."""
    app = Starlette(routes=Gemini(index, Faults()).routes())
    http = httpx.Client(transport=_InProcess(app))
    options = types.HttpOptions(base_url="http://gemini.local", httpx_client=http)
    return genai.Client(vertexai=False, api_key="local", http_options=options)


class _InProcess(httpx.BaseTransport):
    """Calls an ASGI application as if it were a server."""

    def __init__(self, app: Starlette) -> None:
        self._transport = httpx.ASGITransport(app)
        self._runner = asyncio.Runner()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._runner.run(self._ask(request.method, request.url, request.headers, request.read()))

    async def _ask(self, method: str, url: httpx.URL, headers: httpx.Headers, body: bytes) -> httpx.Response:
        request = httpx.Request(method, url, headers=headers, content=body)
        response = await self._transport.handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

    def close(self) -> None:
        self._runner.close()


class Model:
    """A rewriting and an answering model behind one client; `served` says what is behind it."""

    def __init__(self, client: Any, served: str, rewrites: str, answers: str) -> None:
        self._client = client
        self.served = served
        self.rewrites = rewrites
        self.answers = answers

    def rewrite(self, task: Task) -> Query:
        """What `reformulate_fn` would search for. Raises Permanent when the response was not recorded."""
        found = query(
            envelope(task), Rewriter(self._client, self.rewrites, policy=POLICY), Deadline(PATIENCE)
        )
        if found.fault == NOT_RECORDED:
            raise Permanent(NOT_RECORDED, f"no response of {self.rewrites} to {task.id}. Record again.")
        return found

    def answer(self, task: Task, contexts: tuple[Context, ...]) -> RagAnswer:
        """The model's answer from these sources. Raises Permanent or Transient."""
        return generate(
            self._client,
            model=self.answers,
            prompt=answering.prompt(envelope(task, contexts=contexts)),
            config=answering.config(),
            parse=RagAnswer.model_validate_json,
            policy=POLICY,
            deadline=Deadline(PATIENCE),
        )


def context(hit: Hit) -> Context:
    """A passage as `retrieve_fn` passes it on."""
    chunk = hit.chunk
    return Context(id=chunk.uri, title=chunk.title, text=chunk.text, uri=chunk.uri, distance=hit.distance)


def envelope(task: Task, **fields: Any) -> Envelope:
    """A task as the functions would receive it. `fields` are the results of earlier steps."""
    name = f"{_SPACE}/messages/1.1"
    question = Question(
        id=name,
        conversation=_SPACE,
        space=_SPACE,
        person="users/1",
        text=task.question,
        language=task.language,
        asked_at=_ASKED_AT,
    )
    history = (Turn(role=r, text=t, timestamp=_ASKED_AT, question_id=name) for r, t in task.history)
    return Envelope(trace="evaluation", question=question, history=tuple(history), **fields)
