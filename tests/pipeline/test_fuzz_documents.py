"""Odd documents in Firestore, odd answers of Gemini and RAG Engine: the bot goes on, or names the trouble."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from google import genai
from google.cloud.aiplatform_v1.types import RagContexts, RetrieveContextsResponse
from google.genai import types
from hypothesis import assume
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answer_fn.answer import Services as AnswerServices
from answer_fn.answer import answer
from answer_fn.services import open_services
from answer_fn.settings import Settings
from local.places import CORPUS
from reformulate_fn.rewrite import cleaned
from retrieve_fn.retrieve import Services as RetrieveServices
from retrieve_fn.retrieve import retrieve
from retrieve_fn.search import Corpus
from shared.chat.message import message_id
from shared.memory import conversations, failures, records
from shared.memory.failures import Failures
from shared.messages.ending import Ending
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, Transient
from shared.runtime.gemini import generate
from shared.runtime.retry import Policy
from tests.conftest import SmallCloud
from tests.support import remembering
from tests.support.factories import context, envelope, question, rag_answer
from tests.support.fuzzing import DEEP, changed, fuzzed, odd_text
from tests.support.http_serving import http_serving
from tests.support.loopback import http

pytestmark = pytest.mark.slow
NOW = datetime.now(UTC)
TOMORROW = NOW + timedelta(days=1)
_EARLIER = {"question_id": "spaces/A/messages/B", "text": "VPN?", "timestamp": NOW}
THREAD = {
    "conversation": "spaces/A/threads/B",
    "turns": [
        {**_EARLIER, "role": "user"},
        {**_EARLIER, "role": "assistant", "text": "Yes [1].", "sources": ["c"]},
    ],
    "pending": [{**_EARLIER, "question_id": "spaces/A/messages/C"}],
    "updated_at": NOW,
    "expired_at": TOMORROW,
}
RECORD = {
    "question_id": "spaces/A/messages/B",
    "lease": "0123456789abcdef",
    "lease_until": NOW,
    "final": {
        "kind": "answer",
        "answered": True,
        "text": "Recorded [1].",
        "plain": "Recorded [1].",
        "search_query": "VPN",
        "sources": [{"id": "c1", "number": 1, "title": "VPN", "link": None, "quote": "Install it."}],
        "asked": {"id": "spaces/A/messages/B"},
        "since": NOW,
        "again": 0,
        "literal": False,
        "button": "threadwise",
        "model": "gemini-3.5-flash",
    },
    "posted": False,
    "expired_at": TOMORROW,
}
FAILURE = {
    "question_id": "spaces/A/messages/B",
    "step": "answer",
    "count": 2,
    "first_at": NOW,
    "last_at": NOW,
}


def storable(value: Any, *, in_list: bool = False) -> Any:
    """The value as Firestore can hold it: 64-bit integers, no list in a list, names that it takes."""
    if isinstance(value, dict):
        return {field_name(key): storable(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [storable(part, in_list=True) for part in value]
        return {"list": parts} if in_list else parts
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-(2**63), min(value, 2**63 - 1))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def field_name(key: str) -> str:
    """A name that Firestore takes: whole characters, not empty, not `__reserved__`, not too long."""
    name = key.encode("utf-8", "replace").decode()[:100]
    return f"k{name}" if name.startswith("__") or not name else name


def documents(golden: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of a foreign shape."""
    return (
        changed(golden).map(storable).filter(lambda value: isinstance(value, dict) and DEEP not in str(value))
    )


def put(firestore: Any, collection: str, name: str, fields: dict[str, Any]) -> Any:
    reference = firestore.collection(collection).document(name)
    reference.set(fields)
    return reference


def test_a_foreign_conversation_is_read_and_written_as_if_it_were_ours(firestore: Any) -> None:

    @fuzzed(0.8, foreign=documents(THREAD))
    def remember(foreign: dict[str, Any]) -> None:
        asked = question()
        stored = put(firestore, conversations.COLLECTION, document_id(asked.conversation), foreign)

        past = remembering.wait_for(firestore, asked)
        assert all(turn.question_id != asked.id for turn in past.history)
        assert Envelope.from_bytes(envelope(history=past.history).to_bytes()).history == past.history
        remembering.answer(firestore, asked, "Like this.")

        turns = stored.get().to_dict()["turns"]
        assert [turn["text"] for turn in turns if turn["question_id"] == asked.id] == [
            asked.text,
            "Like this.",
        ]

    remember()


def test_a_foreign_failure_record_is_counted_on(firestore: Any) -> None:
    stored_failures = Failures(firestore)

    @fuzzed(0.4, foreign=documents(FAILURE))
    def record(foreign: dict[str, Any]) -> None:
        asked = question()
        stored = put(firestore, failures.COLLECTION, f"{document_id(asked.id)}.answer", foreign)

        trouble = Transient("rag_unavailable")
        assert stored_failures.record(asked.id, "answer", trouble, ["a.py:1 f"], Deadline(10)) >= 1
        assert stored.get().get("reason") == "rag_unavailable"

    record()


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> AnswerServices:
    return open_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture
def shown(small_cloud: SmallCloud) -> Any:
    """What a question's message says at last."""

    def read(asked: Question) -> str:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return str(http.get(f"{small_cloud.places.url}/v1/{name}").json()["text"])

    return read


def test_a_foreign_question_record_does_not_keep_the_answer_back(
    firestore: Any, services: AnswerServices, shown: Any
) -> None:
    @fuzzed(0.4, seconds=40, foreign=documents(RECORD))
    def answer_it(foreign: dict[str, Any]) -> None:
        recorded = Ending.read(foreign.get("final"))
        assume(not (recorded and recorded.answer_number))  # a later answer comes with a message of its own
        sent = envelope(search_query="VPN", contexts=(context(),))
        put(firestore, records.COLLECTION, document_id(sent.question.id), {**foreign, "posted": False})

        answer(sent, services, Deadline(60))

        assert shown(sent.question).strip()

    answer_it()


class Model:
    """In place of a `genai.Client`: says what it is told to say."""

    def __init__(self, output: str) -> None:
        self.models = SimpleNamespace(generate_content=lambda **_: _response(output))


def _response(output: str) -> types.GenerateContentResponse:
    return types.GenerateContentResponse(
        candidates=[
            types.Candidate(
                content=types.Content(parts=[types.Part(text=output)]), finish_reason=types.FinishReason.STOP
            )
        ]
    )


long_text = st.builds(
    lambda piece, times, cited: piece * times + cited,
    st.sampled_from(["漢字、", "👍", "a", "**b** ", "1. x\n", "\u202e", "\x00", '"', "<", "&amp;"]),
    st.sampled_from([1, 50, 900, 1_800, 3_600, 9_000]),
    st.sampled_from([" [1].", " [1] [2] [3].", " [1][2][3][4][5][6]"]),
)
odd_contexts = st.lists(
    st.builds(
        lambda title, uri, link: {"title": title, "uri": uri, "link": link},
        st.sampled_from(["VPN", "漢" * 300, "👍" * 3_000, "", " ", "<b>&</b>", "\x00", "x" * 40_000]),
        st.sampled_from(["", "gs://kb/a.md", "gs://kb/" + "x" * 3_000]),
        st.sampled_from(
            [None, "https://kb.example/a", "https://kb.example/" + "x" * 3_000, "https://", "https://a b\n"]
        ),
    ),
    min_size=1,
    max_size=8,
)


def test_whatever_the_model_says_of_whatever_was_found_is_posted(
    services: AnswerServices, shown: Any
) -> None:
    @fuzzed(0.4, seconds=20, output=long_text, found=odd_contexts, language=st.sampled_from(["en", "ja"]))
    def post(output: str, found: list[dict[str, Any]], language: str) -> None:
        contexts = tuple(context(id=f"c{number}", **fields) for number, fields in enumerate(found))
        sent = envelope(question=question(language=language), search_query="漢" * 300, contexts=contexts)
        said = rag_answer(output, (1,)).model_dump_json()

        answer(sent, AnswerServices(**{**vars(services), "gemini": Model(said)}), Deadline(60))

        assert shown(sent.question).strip()

    post()


GOOD = {
    "candidates": [
        {"content": {"parts": [{"text": "VPN on a Mac"}], "role": "model"}, "finishReason": "STOP"}
    ],
    "promptFeedback": {"safetyRatings": []},
    "usageMetadata": {"promptTokenCount": 3},
    "modelVersion": "gemini-3.5-flash-lite",
}


@pytest.mark.filterwarnings("ignore:.*is not a valid:UserWarning")
def test_whatever_gemini_answers_is_text_or_a_named_trouble() -> None:
    said: dict[str, Any] = {}

    async def generate_content(request: Request) -> Response:
        return Response(said["body"], said["status"], media_type="application/json")

    with http_serving([Route("/{path:path}", generate_content, methods=["POST"])]) as url:
        client = genai.Client(api_key="local", http_options=types.HttpOptions(base_url=url))

        @fuzzed(1, body=changed(GOOD), status=st.sampled_from([200, 200, 200, 200, 400, 403, 429, 500, 503]))
        def ask(body: Any, status: int) -> None:
            said.update(body=json.dumps(body).replace(f'"{DEEP}"', "[" * 500 + "]" * 500), status=status)
            try:
                query = generate(
                    client,
                    model="gemini-3.5-flash-lite",
                    prompt="?",
                    config=types.GenerateContentConfig(),
                    parse=cleaned,
                    policy=Policy("gemini", timeout=5, attempts=1),
                    deadline=Deadline(10),
                )
            except StepError as trouble:
                assert trouble.reason.startswith("gemini_") or trouble.reason == "unexpected"
                return
            assert query.encode() and status == 200

        ask()


class Found:
    """In place of a `VertexRagServiceClient`: finds what it is told to find."""

    def __init__(self, passages: list[dict[str, Any]]) -> None:
        contexts = RagContexts(contexts=[RagContexts.Context(**passage) for passage in passages])
        self._answer = RetrieveContextsResponse(contexts=contexts)

    def retrieve_contexts(self, *, request: Any, retry: Any, timeout: float) -> RetrieveContextsResponse:
        """The same for every request."""
        return self._answer


proto_text = odd_text.map(lambda text: text.encode("utf-8", "replace").decode())
passages = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "source_uri": proto_text | st.sampled_from(["https://kb.example/a", "gs://kb/a b.md", "gs://"]),
            "source_display_name": proto_text,
            "text": proto_text | st.just("x" * 300_000),
            "score": st.floats(),
        },
    ),
    max_size=8,
)


def search(found: list[dict[str, Any]]) -> Envelope:
    """What `retrieve` makes of these passages; it asks nothing else of the world."""
    corpus = Corpus(CORPUS, 8, None, None, {"gs://kb/": "https://kb.example/"})
    nothing: Any = None
    services = RetrieveServices(
        nothing, nothing, nothing, Found(found), corpus, "dense", fusion=False, context_tokens=10**7
    )
    return retrieve(envelope(search_query="VPN"), services, Deadline(5))


@fuzzed(found=passages)
def test_whatever_was_found_travels_on_with_links_a_person_may_open(found: list[dict[str, Any]]) -> None:
    searched = search(found)

    assert Envelope.from_bytes(searched.to_bytes()) == searched
    assert searched.contexts is not None
    assert {one.text for one in searched.contexts} == {
        one["text"] for one in found if one.get("text", "").strip()
    }
    assert all(one.link is None or one.link.startswith("https://") for one in searched.contexts)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_distance_that_is_no_number_does_not_spoil_what_was_found(score: float) -> None:
    searched = search([{"text": "Sign in.", "score": score}, {"text": "Use the app.", "score": 0.3}])

    assert len(Envelope.from_bytes(searched.to_bytes()).contexts or ()) == 2
