"""A bot that does the same work in one process and one request, for the comparison in `bench.latency`.

It takes Chat's event over HTTPS and goes step by step: it posts a card, reads the history of the thread,
has a follow-up rewritten, searches, has the answer written, posts it, and writes the whole history back. It
updates the card before each step and waits for that. Its clients are made once; SDKs, prompts, cards and
final messages are those of the four functions. It has no queue, no record of a question, and no protection
against a second delivery or another writer. If its process ends, unfinished work is lost.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import functions_framework
from flask import Request
from google.apps.chat_v1.types import CreateMessageRequest, UpdateMessageRequest
from google.protobuf.field_mask_pb2 import FieldMask

from answer_fn import prompts as answering
from answer_fn.compose import compose
from answer_fn.reply import ending_of
from answer_fn.settings import Settings as AnswerSettings
from ingest_fn.auth import Verifier
from ingest_fn.settings import Settings as IngestSettings
from reformulate_fn import prompts as rewriting
from reformulate_fn.rewrite import cleaned
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.search import Corpus, search
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.chat.api import ALL, Content, Form, message_of
from shared.chat.cards import progress
from shared.chat.endings import contents_of
from shared.chat.events import question_of
from shared.chat.message import message_id
from shared.memory.firestore import Fields
from shared.messages.ending import Ending
from shared.messages.envelope import Envelope, Question, Turn
from shared.messages.names import document_id
from shared.runtime import clients
from shared.runtime.deadline import Deadline
from shared.runtime.gemini import generate
from shared.runtime.retry import Policy

COLLECTION = "monolith_threads"
SECONDS = 25.0
POLICY = Policy("gemini", SECONDS, 4)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_REPLY: Any = CreateMessageRequest.MessageReplyOption.REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD


@dataclass(frozen=True)
class Services:
    """Its clients, and what is searched."""

    verifier: Verifier
    chat: Any
    firestore: Any
    gemini: Any
    rag: Any
    corpus: Corpus
    rewrite_model: str
    answer_model: str


def open_services() -> Services:
    """Make the clients; called once, on the first request."""
    ingest, retrieve = IngestSettings(), RetrieveSettings()
    return Services(
        verifier=Verifier(
            ingest.trusted, certs_url=ingest.chat_certs_url, chat_certs_url=ingest.chat_own_certs_url
        ),
        chat=clients.chat(ingest.chat_endpoint),
        firestore=clients.firestore(ingest.google_cloud_project, ingest.firestore_database),
        gemini=clients.gemini(),
        rag=clients.rag(retrieve.rag_location, retrieve.rag_endpoint),
        corpus=Corpus(retrieve.rag_corpus, retrieve.rag_top_k, None, None, retrieve.source_links),
        rewrite_model=ReformulateSettings().rewrite_model,
        answer_model=AnswerSettings().answer_model,
    )


SERVICES = cache(open_services)


@functions_framework.http
def main(request: Request) -> dict[str, object]:
    """Take one event of Chat, and answer it before Chat is told that it was heard."""
    services = SERVICES()
    services.verifier.check(request.headers.get("authorization"))
    question = question_of(request.get_data())
    if question is not None:
        _answer(question, services, Deadline(SECONDS))
    return {}


def _answer(question: Question, services: Services, deadline: Deadline) -> None:
    _post(question, progress(question.language, "understanding"), services)
    reference = services.firestore.collection(COLLECTION).document(document_id(question.conversation))
    turns: list[Fields] = (reference.get().to_dict() or {}).get("turns", [])
    envelope = Envelope(trace=TRACE, question=question, history=tuple(map(Turn.model_validate, turns)))
    query = _rewritten(envelope, services, deadline) if turns else question.text

    _update(question, progress(question.language, "searching", query), services)
    found = search([query], services.corpus, services.rag, deadline)
    envelope = envelope.model_copy(update={"search_query": query, "contexts": tuple(found)})

    _update(question, progress(question.language, "writing", query), services)
    ending = _ending(envelope, services, deadline)
    _update(question, contents_of(ending, question)[0], services)
    said = {"timestamp": question.asked_at, "question_id": question.id}
    mine = [{**said, "role": "user", "text": question.text}]
    reference.set({"turns": [*turns, *mine, {**said, "role": "assistant", "text": ending.plain}]})


def _rewritten(envelope: Envelope, services: Services, deadline: Deadline) -> str:
    return generate(
        services.gemini,
        model=services.rewrite_model,
        prompt=rewriting.prompt(envelope),
        config=rewriting.config(),
        parse=cleaned,
        policy=POLICY,
        deadline=deadline,
    )


def _ending(envelope: Envelope, services: Services, deadline: Deadline) -> Ending:
    answer = generate(
        services.gemini,
        model=services.answer_model,
        prompt=answering.prompt(envelope),
        config=answering.config(),
        parse=answering.RagAnswer.model_validate_json,
        policy=POLICY,
        deadline=deadline,
    )
    return ending_of(compose(answer, envelope.contexts or ()), envelope, 24, None)


def _post(question: Question, content: Content, services: Services) -> None:
    services.chat.create_message(
        request=CreateMessageRequest(
            parent=question.space,
            message=message_of(Form(content, question.thread)),
            message_id=message_id(question.id),
            message_reply_option=_REPLY,
        )
    )


def _update(question: Question, content: Content, services: Services) -> None:
    message = message_of(Form(content))
    message.name = f"{question.space}/messages/{message_id(question.id)}"
    services.chat.update_message(
        request=UpdateMessageRequest(message=message, update_mask=FieldMask(paths=ALL))
    )
