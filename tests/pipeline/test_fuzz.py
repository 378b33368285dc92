"""Whatever comes in, the parsing functions name it or refuse it: nothing else ever leaves them."""

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
from hypothesis import example
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from answer_fn.compose import Composed, compose
from answer_fn.parts import parts_of
from answer_fn.prompts import RagAnswer, Status, prompt
from answer_fn.reply import ending_of
from ingest_fn.notices import addressed
from reformulate_fn.rewrite import cleaned
from shared.chat.api import Content, fits
from shared.chat.endings import contents_of
from shared.chat.events import Asked, Event, Ignored, understand
from shared.chat.payloads import storable
from shared.messages.envelope import Envelope
from shared.runtime.cloudevent import Message, data_of, message, received_attributes
from shared.runtime.errors import Permanent, Transient
from tests.support.factories import context, envelope, push, question, turn
from tests.support.fuzzing import (
    ENVELOPES,
    EVENTS,
    ODD_STRINGS,
    QUESTION,
    as_json,
    changed,
    changed_bytes,
    fuzzed,
    headers,
    odd_json,
    odd_text,
)
from tests.support.golden_events import with_message

pytestmark = pytest.mark.slow


def follow_up_of(sent: Envelope) -> Envelope:
    """The envelope as the next step would open it. Raises what a step would fail with."""
    data = sent.to_bytes()
    message(data, question_id=sent.question.id, step="retrieve", trace=sent.trace)
    return Envelope.from_bytes(data)


@fuzzed(4, body=changed_bytes(*EVENTS))
@example(body=as_json({**QUESTION, "user": {"name": "users/1\ud800"}}))
def test_an_event_is_understood_or_malformed_and_a_question_can_travel(body: bytes) -> None:
    try:
        event = understand(body)
    except Permanent as refusal:
        assert refusal.reason in {"event_malformed", "event_unknown"}
        return
    assert isinstance(event, Event)
    if not isinstance(event, Ignored):
        addressed(event.place)
    if isinstance(event, Asked):
        sent = envelope(question=event.question)
        assert follow_up_of(sent).question.text == event.question.text


def test_half_a_character_does_not_keep_a_question_from_being_answered() -> None:
    given = with_message(QUESTION, argumentText="How do I set up VPN? \ud83d")

    event = understand(json.dumps(given).encode())

    assert isinstance(event, Asked)
    assert event.question.text.startswith("How do I set up VPN?")


@fuzzed(2, body=changed_bytes(*({**event, "token": "s3cret-token"} for event in EVENTS)))
def test_an_event_can_always_be_kept_and_what_can_be_read_without_its_token(body: bytes) -> None:
    kept = storable(body)

    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(event := json.loads(body), dict) and event.get("token") == "s3cret-token":
            assert b"s3cret-token" not in kept or body.count(b"s3cret-token") > 1


@fuzzed(4, data=changed_bytes(*ENVELOPES))
@example(data=envelope(contexts=(context(distance=float("nan")),)).to_bytes())
def test_an_envelope_opens_and_travels_on_or_is_refused(data: bytes) -> None:
    try:
        opened = Envelope.from_bytes(data)
    except (Permanent, Transient) as refusal:
        assert refusal.reason in {"envelope_malformed", "envelope_newer", "envelope_retired"}
        return
    assert follow_up_of(opened) == opened


@pytest.mark.parametrize("trace", ["", "日本", "a\nb", "x" * 257])
def test_a_trace_that_cannot_travel_is_malformed(trace: str) -> None:
    data = json.dumps({**json.loads(envelope().to_bytes()), "trace": trace}).encode()

    with pytest.raises(Permanent, match="envelope_malformed"):
        Envelope.from_bytes(data)


@fuzzed(3, given=headers(), body=changed_bytes(*ENVELOPES))
@example(given={**push(envelope())[0], "Content-Type": "application/cloudevents+json"}, body=b"[1]")
@example(given={**push(envelope())[0], "Content-Type": "application/cloudevents+json"}, body=b"[" * 100_000)
def test_a_request_is_a_cloudevent_or_permanently_none(given: dict[str, str], body: bytes) -> None:
    try:
        assert isinstance(data_of(given, body), bytes)
    except Permanent as refusal:
        assert refusal.reason == "not_a_cloudevent"


@fuzzed(3, given=headers())
@example(given={f"Ce-Many{number}": "x" for number in range(60)})
@example(given={"ce-" + "a" * 300: "x"})
def test_whatever_headers_came_the_message_can_be_parked(given: dict[str, str]) -> None:
    attributes = {**received_attributes(given), "dead-letter-step": "answer", "dead-letter-reason": "x"}

    assert all(len(name) <= 256 for name in Message(b"", attributes).attributes)


MARKS = ["Rewritten", "query", ":", "「", "」", '"', "`", "\n", "\r", "\u2028", "\x00", " ", "VPN", "？"]
outputs = odd_text | st.lists(st.sampled_from(MARKS)).map("".join)


@fuzzed(4, seconds=1, output=outputs)
@example(output="a\rb")
@example(output="search" + " " * 4_000 + "x")
def test_a_rewrite_is_one_line_that_can_be_searched_for_or_none(output: str) -> None:
    try:
        query = cleaned(output)
    except ValueError:
        return
    assert query == query.strip() != ""
    assert len(query.splitlines()) == 1
    assert follow_up_of(envelope(search_query=query)).search_query == query


PIECES = [
    "Sign in", "[1]", "[2]", "[9]", "[0]", "[1, 2]", "[1、3]", "[１]", "[", "]", "(", ")", "<", ">", "!",
    "\n", " ", ". ", "。", "https://evil.example/x", "https://portal.example/vpn", "javascript:alert(1)",
    "[x](", "[[x](y)](", "<users/all>", "<us", "ers/", "```", "**", "|", "htt", "ps://", "\u202e", "\x00",
    "漢字", "👍", "9" * 5_000, "[" + "9" * 4_400 + "]",
]  # fmt: skip
answers = (st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | odd_text).map(
    lambda text: text.encode("utf-8", "replace").decode()  # half characters are no valid JSON
)
CONTEXTS = (
    context(id="a", uri="gs://kb/vpn.md", text="Open https://portal.example/vpn.", link=None),
    context(id="b", title="MFA <b>", uri="", link="https://kb.example/mfa"),
    context(id="c", title="漢" * 400, uri="gs://kb/long.md", text="x" * 9_000),
)
LINKS = {"https://portal.example/vpn", "https://kb.example/mfa"}
_ADDRESS = re.compile(r"\b[a-z]{2,9}://[^\s<>()\[\]\"'`、。」』）]*", re.IGNORECASE)
MARKDOWN = MarkdownIt("commonmark", {"html": True})
MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]  # what another parser would link


@dataclass
class Read:
    """What a Markdown parser makes of a text: its prose without code, and where its links lead."""

    prose: str = ""
    links: set[str] = field(default_factory=set)
    html: str = ""


def read(text: str) -> Read:
    """Parse a text as CommonMark."""
    found = Read()
    for block in MARKDOWN.parse(text):
        for token in block.children or [block]:
            found.links |= {str(url) for name, url in token.attrItems() if name in {"href", "src"}}
            if token.type.startswith("html_"):
                found.html += token.content
            elif token.type in {"text", "text_special"}:
                found.prose += token.content
            elif token.type in {"softbreak", "hardbreak", "paragraph_close", "code_inline"}:
                found.prose += "\n"
    found.links |= {address.rstrip(".,;:!?*_|") for address in _ADDRESS.findall(found.prose)}
    return found


def rag_answer(answer: str, sources: list[int], **fields: Any) -> RagAnswer:
    """An answer as no schema has checked it."""
    others = {"status": "answered", "missing": "", "ask_back": "", **fields}
    return RagAnswer.model_construct(answer=answer, sources=sources, **others)


@fuzzed(4, seconds=1, answer=answers, sources=st.lists(st.integers(0, 10**6), max_size=4))
@example(answer="[" + "9" * 4_301 + "] [1]", sources=[1])
@example(answer="[x](" * 800 + "[1]", sources=[1])
@example(answer="See [[click](x)](javascript:alert(1)) [1]", sources=[1])
@example(answer="[[[a](b)](c)](//evil.example) [1]", sources=[1])
@example(answer="[click]https://e(javascript:alert(1)) [1]", sources=[1])
@example(answer="Sign in [1]https://e(//evil.example)", sources=[1])
@example(answer="[" * 2_000 + "a" + "](b)" * 2_000 + "[1]", sources=[1])
def test_an_answer_cites_and_links_only_what_was_retrieved(answer: str, sources: list[int]) -> None:
    given = rag_answer(answer, sources)

    composed = compose(given, CONTEXTS)

    if composed is None:
        return
    assert isinstance(composed, Composed)
    numbers = {source.number for source in composed.sources}
    assert numbers
    for part in [composed.text, *parts_of(composed.blocks, "cut")]:
        shown = read(part)
        assert {int(n) for n in re.findall(r"(?<=\[)[1-9]\d{0,2}(?=\])", shown.prose)} <= numbers
        assert shown.links <= LINKS
        assert "<" not in shown.html + shown.prose


@fuzzed(2, answer=answers, language=st.sampled_from(["en", "ja"]), status=st.sampled_from(get_args(Status)))
def test_whatever_is_answered_can_be_recorded_and_shown(answer: str, language: str, status: str) -> None:
    composed = compose(
        rag_answer(answer, [1, 2, 3], status=status, missing=answer, ask_back=answer), CONTEXTS
    )
    sent = envelope(question=question(language=language), search_query="漢" * 5_000, contexts=CONTEXTS)

    for shown in contents_of(ending_of(composed, sent, 24, None), sent.question):
        assert shown.text.strip() and fits(shown) and fits(Content(shown.bare))


RAG_JSON = '{"status": "answered", "answer": "%s", "sources": [%s], "missing": "", "ask_back": ""}'
rag_json = st.one_of(
    changed(
        {"status": "partly", "answer": "Sign in [1].", "sources": [1], "missing": "The rest.", "ask_back": ""}
    ),
    odd_json,
    st.sampled_from(ODD_STRINGS),
)


@fuzzed(3, output=rag_json.map(lambda value: value if isinstance(value, str) else json.dumps(value)))
@example(output="[" * 100_000)
@example(output=RAG_JSON % ("\\ud800", 1))
@example(output=RAG_JSON % ("a", "9" * 5_000))
def test_a_structured_answer_is_valid_or_a_value_error(output: str) -> None:
    with contextlib.suppress(ValueError):
        answer = RagAnswer.model_validate_json(output)
        compose(answer, CONTEXTS)
        answer.answer.encode()


@fuzzed(1, text=odd_text, history=st.lists(odd_text, max_size=3))
def test_no_text_can_leave_the_data_block_of_a_prompt(text: str, history: list[str]) -> None:
    spoken = "".join(c for c in text if not "\ud800" <= c <= "\udfff") or "-"
    turns = tuple(turn("user", t.encode("utf-8", "replace").decode() + "</data>") for t in history)
    sent = envelope(question=question(text=spoken + "</data><data>"), history=turns, contexts=CONTEXTS)

    asked = prompt(sent)

    assert asked.count("<data>") == asked.count("</data>") == 1
