"""The events that the Chat stand-in sends to a bot: their form, their token, and its patience."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import google.auth.exceptions
import httpx
import pytest
from google.auth.transport.requests import Request as AuthRequest
from google.oauth2 import id_token
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.tokens import CHAT_EMAIL, GOOGLE_ISSUER, Signer
from tests.support.chat_stand_in import AIKO_DM, AUDIENCE, IT_SUPPORT, chat_serving
from tests.support.http_serving import http_serving
from tests.support.waiting import until

AIKO = "users/1001"
BEN = "users/1002"
Json = dict[str, Any]
EMPTY = JSONResponse({})


@dataclass
class Bot:
    """Records what it is sent, and answers with `answers` in turn, then `{}`; None answers too late."""

    answers: list[Response | None] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def forget(self) -> None:
        for each in (self.answers, self.events, self.headers, self.times):
            each.clear()

    async def hear(self, request: Request) -> Response:
        event = await request.json()
        answer = self.answers.pop(0) if self.answers else EMPTY
        self.headers.append(request.headers)
        self.times.append(time.monotonic())
        self.events.append(event)
        if answer is None:
            await asyncio.sleep(1.5)
        return answer or EMPTY


@dataclass
class Setting:
    """A bot, Chat in front of it, and the page to post from."""

    bot: Bot
    page: httpx.Client
    base: str
    earlier: set[str] = field(default_factory=set)
    to_be_heard: set[str] = field(default_factory=set)

    def ask(self, text: str, space: str = IT_SUPPORT, *, mention: bool = True, **fields: Any) -> Json:
        body = {"space": space, "text": text, "person": AIKO, "mention": mention, **fields}
        response = self.page.post("/page/messages", json=body)
        assert response.status_code == 200, response.text
        message: Json = response.json()
        del message["html"]
        if mention or space == AIKO_DM:
            self.to_be_heard.add(message["name"])
        return message

    def messages(self) -> list[Json]:
        """What was posted in this test."""
        state: Json = self.page.get("/page/state").json()
        return [message for message in state["messages"] if message["name"] not in self.earlier]

    def all_heard(self) -> bool:
        return self.to_be_heard <= {event["message"]["name"] for event in self.bot.events}


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def serving(signer: Signer) -> Iterator[Setting]:
    bot = Bot()
    chat = Chat(None, Faults(), signer, window_seconds=1, retry_seconds=(0.05, 0.1))
    with (
        http_serving([Route("/", bot.hear, methods=["POST"])]) as bot_url,
        chat_serving(chat, bot_url) as base,
        httpx.Client(base_url=base) as page,
    ):
        yield Setting(bot, page, base)


@pytest.fixture
def setting(serving: Setting) -> Iterator[Setting]:
    """The servers run once for all tests; each test sees only its own events and messages."""
    serving.bot.forget()
    serving.earlier = {message["name"] for message in serving.page.get("/page/state").json()["messages"]}
    serving.to_be_heard = set()
    yield serving
    until(serving.all_heard)


@contextlib.contextmanager
def changes(setting: Setting) -> Iterator[Iterator[str]]:
    """The lines of the page's live stream, once it is open."""
    with setting.page.stream("GET", "/page/events", timeout=5) as response:
        lines = response.iter_lines()
        assert next(lines).startswith("id:")
        yield lines


# The event


def test_a_mention_arrives_as_a_classic_message_event(setting: Setting) -> None:
    message = setting.ask("How do I configure the VPN?", locale="ja")
    until(lambda: setting.bot.events)
    event = setting.bot.events[0]
    assert (event["type"], event["eventTime"]) == ("MESSAGE", message["createTime"])
    assert event["message"] == message
    assert event["thread"] == message["thread"]
    assert message["text"] == "@threadwise How do I configure the VPN?"
    assert message["argumentText"] == " How do I configure the VPN?"
    mention = message["annotations"][0]
    assert (mention["type"], mention["startIndex"], mention["length"]) == ("USER_MENTION", 0, 11)
    assert mention["userMention"]["user"]["type"] == "BOT"
    assert event["user"]["email"] == "aiko.tanaka@example.com"
    assert event["space"]["spaceThreadingState"] == "THREADED_MESSAGES"
    assert (event["space"]["spaceType"], event["space"]["displayName"]) == ("SPACE", "IT support")
    assert event["common"] == {"hostApp": "CHAT", "userLocale": "ja"}
    assert "threadReply" not in message


def test_a_reply_in_a_thread_says_so(setting: Setting) -> None:
    root = setting.ask("How?")
    reply = setting.ask("Explain.", thread=root["thread"]["name"], person=BEN)
    assert reply["thread"] == root["thread"]
    until(lambda: len(setting.bot.events) == 2)
    heard = next(event for event in setting.bot.events if event["message"]["name"] == reply["name"])
    assert heard["message"]["threadReply"] is True
    assert heard["user"]["name"] == BEN


def test_every_message_in_a_direct_message_is_heard_and_has_its_own_thread(setting: Setting) -> None:
    first = setting.ask("How?", AIKO_DM, mention=False)
    second = setting.ask("And on a Mac?", AIKO_DM)
    until(lambda: len(setting.bot.events) == 2)
    assert first["thread"] != second["thread"]
    assert (second["text"], second["argumentText"]) == ("And on a Mac?", "And on a Mac?")
    space = setting.bot.events[0]["space"]
    assert (space["spaceType"], space["singleUserBotDm"]) == ("DIRECT_MESSAGE", True)
    assert "displayName" not in space


def test_a_message_without_a_mention_is_not_heard_in_a_space(setting: Setting) -> None:
    setting.ask("lunch?", mention=False)
    mentioned = setting.ask("How?")
    until(lambda: setting.bot.events)
    assert [event["message"]["name"] for event in setting.bot.events] == [mentioned["name"]]


def test_a_bare_mention_has_no_argument_text(setting: Setting) -> None:
    message = setting.ask("")
    assert message["text"] == "@threadwise"
    assert "argumentText" not in message


def test_a_mention_that_was_typed_is_not_repeated(setting: Setting) -> None:
    assert setting.ask("@threadwise VPNの設定は?")["text"] == "@threadwise VPNの設定は?"


# The token


def test_the_token_verifies_against_the_certificates(setting: Setting) -> None:
    setting.ask("How?")
    until(lambda: setting.bot.events)
    headers = setting.bot.headers[0]
    assert headers["user-agent"] == "Google-Dynamite"
    kind, _, token = headers["authorization"].partition(" ")
    assert kind == "Bearer"
    certificates = f"{setting.base}/certs"
    claims = id_token.verify_token(token, AuthRequest(), audience=AUDIENCE, certs_url=certificates)
    assert (claims["email"], claims["iss"], claims["email_verified"]) == (CHAT_EMAIL, GOOGLE_ISSUER, True)
    forged = Signer().mint(audience=AUDIENCE)
    with pytest.raises(google.auth.exceptions.GoogleAuthError):
        id_token.verify_token(forged, AuthRequest(), audience=AUDIENCE, certs_url=certificates)


# Chat's patience


@pytest.mark.slow
@pytest.mark.parametrize(
    "failure", [Response(status_code=503), Response(status_code=401), None], ids=["503", "401", "too late"]
)
def test_an_event_that_was_not_taken_is_sent_again(setting: Setting, failure: Response | None) -> None:
    setting.bot.answers = [failure]
    setting.ask("How?")
    until(lambda: len(setting.bot.events) == 2)
    assert setting.bot.events[0] == setting.bot.events[1]
    assert setting.bot.times[1] - setting.bot.times[0] >= 0.05


def test_an_event_that_was_taken_is_not_sent_again(setting: Setting) -> None:
    setting.ask("How?")
    until(lambda: setting.bot.events)
    setting.bot.answers = [Response(status_code=503)]
    setting.ask("And now?")
    until(lambda: len(setting.bot.events) == 3)
    assert sum("How?" in event["message"]["text"] for event in setting.bot.events) == 1


@pytest.mark.parametrize(
    ("answers", "tries"),
    [([Response(status_code=500)] * 9, 3), ([Response("no JSON")], 1), ([JSONResponse({"txet": "x"})], 1)],
    ids=["never 2xx", "2xx with no JSON", "2xx with no Message"],
)
def test_the_page_learns_that_the_bot_is_not_responding(
    setting: Setting, answers: list[Response | None], tries: int
) -> None:
    setting.bot.answers = answers
    with changes(setting) as lines:
        message = setting.ask("How?")
        seen = next(line for line in lines if "not_responding" in line)
    assert message["name"] in seen
    assert len(setting.bot.events) == tries


def test_an_empty_answer_posts_nothing(setting: Setting) -> None:
    message = setting.ask("How?")
    until(setting.all_heard)
    setting.bot.answers = [JSONResponse({"text": "pong"})]
    setting.ask("ping", thread=message["thread"]["name"])
    until(lambda: len(setting.messages()) == 3)
    assert [one["text"] for one in setting.messages()][2] == "pong"


def test_an_answer_with_a_message_is_posted_in_the_thread_of_a_reply(setting: Setting) -> None:
    root = setting.ask("lunch?", mention=False)
    setting.bot.answers = [JSONResponse({"text": "pong"}), JSONResponse({"text": "pong"})]
    setting.ask("ping", thread=root["thread"]["name"])
    until(lambda: len(setting.messages()) == 3)
    setting.ask("ping")
    until(lambda: len(setting.messages()) == 5)
    in_thread, at_top = (one for one in setting.messages() if one["sender"]["type"] == "BOT")
    assert (in_thread["thread"], in_thread["threadReply"]) == (root["thread"], True)
    assert "threadReply" not in at_top
