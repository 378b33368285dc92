"""Rewriting: a follow-up stands alone afterwards, and nothing stops the question."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from reformulate_fn.guard import fault
from reformulate_fn.reformulate import Services, reformulate, show_query
from reformulate_fn.rewrite import Rewriter, cleaned
from reformulate_fn.services import open_services
from reformulate_fn.settings import Settings
from shared.chat.cards import progress
from shared.chat.message import Chat, message_id
from shared.language.keywords import by_rule
from shared.messages.envelope import Envelope, Language
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.factories import envelope, question, turn
from tests.support.loopback import http

TIMES = {"ingest": 0.4, "reformulate": 1.0}
VPN = (
    turn("user", "How do I configure the VPN on Windows?"),
    turn("assistant", "Install the StarGate client for the VPN and sign in [1]."),
)
#: What the rule makes of "And on a Mac?" after these turns.
BY_RULE = "And on a Mac? (VPN, Windows, configure, StarGate)"


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_services(Settings(chat_endpoint=small_cloud.places.url))


class Saying:
    """A client whose model says one thing; it keeps what it is asked."""

    def __init__(self, text: str) -> None:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finish_reason": "STOP"}
        self._response = types.GenerateContentResponse.model_validate({"candidates": [candidate]})
        self.models = SimpleNamespace(generate_content=self._generate)
        self.asked: list[dict[str, Any]] = []

    def _generate(self, **asked: Any) -> types.GenerateContentResponse:
        self.asked.append(asked)
        return self._response


def saying(text: str, services: Services, **fields: Any) -> Services:
    return replace(services, rewriter=Rewriter(Saying(text), "gemini", **fields))


def asking(text: str, **fields: Any) -> Envelope:
    return envelope(question=question(text=text), **fields)


def search_query(sent: Envelope, services: Services, seconds: float = 30) -> str:
    query = reformulate(sent, services, Deadline(seconds)).search_query
    assert query is not None
    return query


def test_a_follow_up_is_rewritten_so_that_it_names_the_topic(services: Services) -> None:
    query = search_query(asking("Can you explain that in more detail?", history=VPN), services)

    assert "VPN" in query


def test_the_person_s_own_words_stay(services: Services) -> None:
    sent = asking("Can you explain that in more detail?", history=VPN)

    assert reformulate(sent, services, Deadline(30)).question == sent.question


def test_without_history_no_model_is_asked(services: Services, faults: Any) -> None:
    faults.switch_on("gemini-down")
    before = faults.hits.get("gemini-down", 0)

    assert search_query(asking("Can you explain?"), services) == "Can you explain?"
    assert faults.hits.get("gemini-down", 0) == before


@pytest.mark.parametrize("fault", ["gemini-down", "gemini-throttled", "gemini-blocked", "gemini-empty"])
def test_when_rewriting_fails_the_question_is_searched_for_with_its_topic(
    services: Services, faults: Any, fault: str
) -> None:
    faults.switch_on(fault)

    assert search_query(asking("And on a Mac?", history=VPN), services, 0.8) == BY_RULE
    assert faults.hits[fault] >= 1


@pytest.mark.slow
def test_a_model_that_hangs_costs_a_bounded_time(services: Services, faults: Any) -> None:
    faults.switch_on("gemini-hang")
    deadline = Deadline(1.5)

    assert reformulate(asking("And on a Mac?", history=VPN), services, deadline).search_query == BY_RULE


@pytest.mark.parametrize(
    "output, query",
    [
        ("How do I configure the VPN on a Mac?", "How do I configure the VPN on a Mac?"),
        ('  "How do I configure the VPN?"\n', "How do I configure the VPN?"),
        ("「VPNの設定方法は？」", "VPNの設定方法は？"),
        ("Rewritten question: How do I configure the VPN?", "How do I configure the VPN?"),
        ("Here is the standalone question: “VPN on a Mac?”", "VPN on a Mac?"),
        ("書き換え後の質問：VPNの設定方法は？", "VPNの設定方法は？"),
        ("What does error E305: device refused mean?", "What does error E305: device refused mean?"),
        ("`VPN`", "VPN"),
        ("**Rewritten question:** VPN on a Mac?", "VPN on a Mac?"),
        ("Search history in Outlook: how do I clear it?", "Search history in Outlook: how do I clear it?"),
        ("「VPN」と「Wi-Fi」", "「VPN」と「Wi-Fi」"),
    ],
)
def test_labels_and_quotes_are_taken_off(output: str, query: str) -> None:
    assert cleaned(output) == query


@pytest.mark.parametrize("output", ["", "  ", '""', "one line\nand another", "Question:\n\nVPN?"])
def test_anything_but_one_line_is_no_rewrite(output: str) -> None:
    with pytest.raises(ValueError, match="line"):
        cleaned(output)


@pytest.mark.parametrize(
    "rewrite, question, language, reason",
    [
        ("How do I configure the VPN on a Mac?", "And on a Mac?", "en", None),
        ("What does E203 of the VPN mean?", "what does E203 mean?", "en", None),
        ("What is due on 4 December?", "What is due on Friday?", "en", None),
        ("VPN", "VPN?", "ja", None),
        ("VPN " * 100, "And on a Mac?", "en", "too_long"),
        ("MacでのVPNの設定方法は？", "And on a Mac?", "en", "language"),
        ("How do I configure the VPN on a Mac?", "Macの場合は？", "ja", "language"),
        ("What does the error mean?", "what does E203 mean?", "en", "lost_entity"),
        ("アプリの設定方法は？", "StarKeyの設定は？", "ja", "lost_entity"),
        ("Does it work with a phone?", "does it work with my iPhone", "en", "lost_entity"),
        ("Is the VPN's port open?", "is port 8443 open?", "en", "lost_entity"),
        ("How do I update Windows?", "how do I update win11", "en", "lost_entity"),
        ("認証の設定方法は？", "スターキーの設定は？", "ja", "lost_entity"),
        ("スマートフォンでVPNを使うには？", "スマホでは？", "ja", None),
        ("What is due on 3 December for the mailbox?", "what is due in 3 days for the 2nd one?", "en", None),
    ],
)
def test_a_rewrite_that_lost_its_question_is_not_used(
    rewrite: str, question: str, language: Language, reason: str | None
) -> None:
    assert fault(rewrite, question, language) == reason


@pytest.mark.parametrize(
    "output, reason",
    [
        ("MacでのVPNの設定方法は？", "language"),
        ("How do I configure it there?", "lost_entity"),
        ("And on a Mac with the VPN? " * 20, "too_long"),
        ("How do I configure\nthe VPN on a Mac?", "gemini_invalid"),
        ("  ", "gemini_empty"),
    ],
)
def test_an_unusable_rewrite_gives_way_to_the_rule_and_the_reason_goes_with_it(
    services: Services, output: str, reason: str
) -> None:
    sent = asking("And with macOS on it?", history=VPN)

    done = reformulate(sent, saying(output, services), Deadline(5))

    assert (done.search_query, done.rewrite_fault) == (
        "And with macOS on it? (VPN, Windows, configure, StarGate)",
        reason,
    )


def test_a_usable_rewrite_has_no_fault(services: Services) -> None:
    rewriting = saying("How do I configure the VPN on a Mac?", services)

    done = reformulate(asking("And on a Mac?", history=VPN), rewriting, Deadline(5))

    assert (done.search_query, done.rewrite_fault) == ("How do I configure the VPN on a Mac?", None)


@pytest.mark.parametrize(
    "utc_offset, today", [(0, "Monday, 2026-11-30"), (9, "Tuesday, 2026-12-01"), (-8, "Monday, 2026-11-30")]
)
def test_the_model_is_told_what_day_it_is_for_the_asker(
    services: Services, utc_offset: float, today: str
) -> None:
    rewriting = saying("What is due on 1 December?", services, utc_offset=utc_offset)
    asked_at = datetime(2026, 11, 30, 22, 30, tzinfo=UTC)
    sent = envelope(question=question(text="What is due today?", asked_at=asked_at), history=VPN)

    reformulate(sent, rewriting, Deadline(5))

    (asked,) = rewriting.rewriter.gemini.asked
    assert json.loads(asked["contents"].splitlines()[1])["today"] == today


def test_the_model_is_asked_in_one_turn_of_the_user_s_with_the_least_thinking(services: Services) -> None:
    rewriting = saying("How do I configure the VPN on a Mac?", services)

    reformulate(asking("And on a Mac?", history=VPN), rewriting, Deadline(5))

    (asked,) = rewriting.rewriter.gemini.asked
    # Text alone is sent as one turn of the user's: models of the 3.5 family refuse a last turn of their own.
    assert isinstance(asked["contents"], str)
    assert asked["config"].thinking_config.thinking_level == types.ThinkingLevel.MINIMAL
    assert (asked["config"].temperature, asked["config"].thinking_config.thinking_budget) == (None, None)


@pytest.mark.parametrize("text", ["Thanks, that worked!", "ありがとうございます！", "ok"])
def test_small_talk_stays_as_it_is_and_no_model_is_asked(services: Services, text: str) -> None:
    rewriting = saying("How do I thank the VPN?", services)

    assert search_query(asking(text, history=VPN), rewriting) == text
    assert rewriting.rewriter.gemini.asked == []


@pytest.mark.parametrize("asks", ["Do you mean the VPN on a Mac?", "MacのVPNのことですか？", "VPNですか。"])
def test_yes_is_no_small_talk_after_a_question(services: Services, asks: str) -> None:
    history = (turn("user", "How do I configure it?"), turn("assistant", asks))

    assert "VPN" in search_query(asking("Yes", history=history), saying("VPN on a Mac", services))


@pytest.mark.parametrize(
    "text, query",
    [
        ("How long does\nit last?", "How long does it last? (VPN, Windows, configure)"),
        ("最長で何時間？", "最長で何時間？（VPN Windows configure）"),
    ],
)
def test_the_rule_keeps_the_question_on_one_line(text: str, query: str) -> None:
    assert by_rule(asking(text, history=VPN[:1])) == query


def test_the_rule_searches_for_the_item_of_a_list_that_is_pointed_at() -> None:
    history = (VPN[0], turn("assistant", "1. Install StarGate. [1]\n2. Accept the certificate. [1]"))

    assert by_rule(asking("And the second one?", history=history)).startswith("And Accept the certificate?")


def test_the_query_is_shown_in_the_card(services: Services, small_cloud: SmallCloud, chat: Chat) -> None:
    sent = asking("And on a Mac?", history=VPN)
    chat.post_progress(sent.question, progress("en", "understanding"), Deadline(5))

    show_query(sent.model_copy(update={"search_query": "VPN on a Mac"}), services, Deadline(5), TIMES)

    assert "VPN on a Mac" in shown(sent, small_cloud)
    assert "1.4 s" in shown(sent, small_cloud)


def shown(sent: Envelope, small_cloud: SmallCloud) -> str:
    """The question's message as JSON."""
    name = f"{sent.question.space}/messages/{message_id(sent.question.id)}"
    return http.get(f"{small_cloud.places.url}/v1/{name}").text
