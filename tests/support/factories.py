"""Ready-made questions and envelopes; every argument overrides one field."""

import itertools
from datetime import UTC, datetime
from typing import Any

from answer_fn.prompts import RagAnswer
from shared.messages.ending import Ending, Source
from shared.messages.envelope import Context, Envelope, Question, Turn
from shared.runtime.cloudevent import message

SPACE = "spaces/AAAAhelpdesk"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ASKED_AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def question(**fields: Any) -> Question:
    """A question in a thread of its own."""
    number = next(_numbers)
    thread = f"{SPACE}/threads/T{number}"
    defaults: dict[str, Any] = {
        "id": f"{SPACE}/messages/T{number}.T{number}",
        "conversation": thread,
        "space": SPACE,
        "thread": thread,
        "person": "users/1001",
        "text": "How do I configure the VPN?",
        "language": "en",
        "asked_at": datetime.now(UTC),
    }
    return Question(**{**defaults, **fields})


def turn(role: str, text: str, **fields: Any) -> Turn:
    """One turn of a history."""
    defaults = {"timestamp": ASKED_AT, "question_id": f"{SPACE}/messages/EARLIER.EARLIER"}
    return Turn.model_validate({"role": role, "text": text, **defaults, **fields})


def context(**fields: Any) -> Context:
    """A passage about the VPN."""
    defaults: dict[str, Any] = {
        "id": "c1",
        "title": "How to configure the VPN",
        "text": "Install the StarGate client from the App Catalogue. Open it and sign in with your account.",
        "uri": "gs://kb/en/vpn.md",
        "link": "https://kb.example/en/vpn.md",
        "distance": 0.4,
    }
    return Context(**{**defaults, **fields})


def envelope(**fields: Any) -> Envelope:
    """An envelope as `ingest_fn` sends it."""
    return Envelope(**{"trace": TRACE, "question": question(), **fields})


def push(sent: Envelope, step: str = "ingest") -> tuple[dict[str, str], bytes]:
    """Headers and body of the push in which an envelope arrives."""
    data = sent.to_bytes()
    attributes = message(data, question_id=sent.question.id, step=step, trace=sent.trace).attributes
    return {name.title(): value for name, value in attributes.items()}, data


def ending(kind: str, text: str, **fields: Any) -> Ending:
    """An ending as it is recorded for a question."""
    defaults: dict[str, Any] = {
        "answered": kind == "answer",
        "plain": text,
        "search_query": "VPN",
        "sources": [],
    }
    return Ending(kind=kind, text=text, **{**defaults, **fields})


def source(id: str, number: int, title: str, link: str | None = None, quote: str = "") -> Source:
    """A cited source."""
    return Source(id=id, number=number, title=title, link=link, quote=quote)


def rag_answer(answer: str = "", sources: tuple[int, ...] = (), **fields: Any) -> RagAnswer:
    """What the answering model says."""
    defaults = {"status": "answered", "answer": answer, "sources": sources, "missing": "", "ask_back": ""}
    return RagAnswer.model_validate({**defaults, **fields})


def parked(sent: Envelope, *, number: int = 1, step: str = "retrieve") -> tuple[dict[str, str], bytes]:
    """A dead letter as a step parks it, as it is pushed to `tell`."""
    headers, body = push(sent, "reformulate")
    ours = {"Dead-Letter-Step": step, "Dead-Letter-Reason": "rag_refused"}
    return {**headers, **ours, "X-Goog-Pubsub-Message-Id": str(number)}, body


def forwarded(sent: Envelope, *, number: int = 1) -> tuple[dict[str, str], bytes]:
    """A dead letter as Pub/Sub forwards it."""
    headers, body = push(sent, "reformulate")
    theirs = {"Cloudpubsubdeadlettersourcesubscription": "queries-push"}
    return {**headers, **theirs, "X-Goog-Pubsub-Message-Id": str(number)}, body
