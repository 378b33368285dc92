"""The Chat stand-in in either format over either transport: what it sends, and what the page can do."""

from typing import Any

import pytest
from google.auth.transport.requests import Request as AuthRequest
from google.oauth2 import id_token

from local.places import ADD_ON_IDENTITY, CHAT_IDENTITY, PROJECT_NUMBER
from shared.chat.events import Added, Asked, Commanded, Ignored, Mentioned, Removed, understand
from tests.support.chat_stand_in import AIKO_DM, AUDIENCE, IT_SUPPORT
from tests.support.connecting import CONNECTIONS, GROUP, Json, Setting
from tests.support.waiting import until

pytest_plugins = ["tests.support.connection_fixtures"]


def test_a_message_is_a_question_however_it_is_connected(connected: Setting) -> None:
    message = connected.post("messages", space=IT_SUPPORT, text="How?", locale="ja")
    asked = connected.meaning()

    assert isinstance(asked, Asked)
    assert (asked.question.id, asked.question.text) == (message["name"], "How?")
    assert asked.question.language == "ja"


@pytest.mark.parametrize(
    "space, kind", [(IT_SUPPORT, "SPACE"), (GROUP, "GROUP_CHAT"), (AIKO_DM, "DIRECT_MESSAGE")]
)
def test_the_kinds_of_space_are_told_apart(connected: Setting, space: str, kind: str) -> None:
    connected.post("messages", space=space, text="How?")

    assert connected.meaning().place.kind == kind


@pytest.mark.parametrize(
    "number, words, meaning",
    [(1, "how?", Asked), (1, "", Mentioned), (2, "yes", Commanded), (3, "", Commanded), (5, "", Commanded)],
)
def test_a_command_arrives_as_it_is_given(connected: Setting, number: int, words: str, meaning: type) -> None:
    root = connected.post("messages", space=IT_SUPPORT, text="How?")["thread"]["name"]
    message = connected.post("commands", space=IT_SUPPORT, command=number, text=words, thread=root)
    given: Any = connected.meaning(2)

    assert type(given).__name__ == meaning.__name__
    assert given.place.conversation == root
    assert bool(message) == (number != 5)  # a quick command is no message


def test_adding_and_removing_the_bot_is_told(connected: Setting) -> None:
    connected.post("members", space=IT_SUPPORT, bot="remove")
    assert isinstance(connected.meaning(1), Removed)
    assert connected.page.get("/page/state").json()["withoutBot"] == [IT_SUPPORT]

    connected.post("members", space=IT_SUPPORT, bot="add")
    assert isinstance(connected.meaning(2), Added)


def test_adding_by_a_question_is_one_event_or_for_an_add_on_two(connected: Setting) -> None:
    shape = connected.page.get("/page/connection").json()["shape"]
    connected.post("members", space=IT_SUPPORT, bot="remove")
    connected.event(1)

    connected.post("members", space=IT_SUPPORT, bot="add", text="How?")

    expected: list[type] = [Asked] if shape == "classic" else [Ignored, Asked]
    until(lambda: len(connected.heard.events) == 1 + len(expected))
    assert [type(understand(event)) for event in connected.heard.events[1:]] == expected


def test_where_the_bot_is_not_it_can_do_nothing_and_hears_nothing(setting: Setting) -> None:
    setting.post("members", space=IT_SUPPORT, bot="remove")
    setting.event(1)

    assert "not a member" in setting.refused("messages", space=IT_SUPPORT, text="How?")
    assert "not a member" in setting.refused("commands", space=IT_SUPPORT, command=3)
    assert "not a member" in setting.refused("members", space=IT_SUPPORT, bot="remove")
    answer = setting.page.post(f"/v1/{IT_SUPPORT}/messages", json={"text": "x"})
    assert answer.status_code == 403
    assert len(setting.heard.events) == 1


def test_a_file_comes_with_its_words_or_alone(connected: Setting) -> None:
    file = {"name": "log.txt", "type": "text/plain"}
    connected.post("messages", space=IT_SUPPORT, text="what is it?", attachment=file)
    asked = connected.meaning(1)
    connected.post("messages", space=AIKO_DM, text="", attachment=file)
    alone = connected.meaning(2)

    assert (type(asked), asked.files) == (Asked, 1)
    assert (type(alone), alone.files) == (Mentioned, 1)


@pytest.mark.parametrize(
    "connection, issuer, audience, email, certs",
    [
        (CONNECTIONS[0], "https://accounts.google.com", AUDIENCE, CHAT_IDENTITY, "/certs"),
        (CONNECTIONS[1], CHAT_IDENTITY, PROJECT_NUMBER, None, "/certs/chat"),
        (CONNECTIONS[3], "https://accounts.google.com", AUDIENCE, ADD_ON_IDENTITY, "/certs"),
    ],
)
def test_each_kind_of_app_is_called_with_its_kind_of_token(
    setting: Setting, connection: Json, issuer: str, audience: str, email: str | None, certs: str
) -> None:
    setting.connect(**connection)
    setting.post("messages", space=IT_SUPPORT, text="How?")
    setting.event()

    claims = id_token.verify_token(
        setting.heard.tokens[0], AuthRequest(), audience=audience, certs_url=f"{setting.base}{certs}"
    )
    assert (claims["iss"], claims.get("email")) == (issuer, email)


def test_only_over_https_does_an_add_on_s_event_carry_tokens_and_floats(setting: Setting) -> None:
    for count, transport in enumerate(("https", "pubsub"), start=1):
        setting.connect(shape="add-on", transport=transport, audience="url")
        setting.post("messages", space=IT_SUPPORT, text="How?")
        until(lambda: len(setting.heard.events) >= count)  # noqa: B023 - called at once

    over_https, over_pubsub = (event.decode() for event in setting.heard.events)
    assert "systemIdToken" in over_https
    assert '"startIndex":0.0' in over_https.replace(" ", "")
    assert "Token" not in over_pubsub
    assert '"startIndex":0,' in over_pubsub.replace(" ", "")


def test_an_add_on_s_answer_is_wrapped_and_a_classic_app_s_is_not(setting: Setting) -> None:
    wrapped = {
        "hostAppDataAction": {"chatDataAction": {"createMessageAction": {"message": {"text": "pong"}}}}
    }

    def said(shape: str, answer: Json, count: int) -> bool:
        setting.connect(shape=shape, transport="https", audience="url")
        setting.heard.answer = answer
        setting.post("messages", space=IT_SUPPORT, text="ping")
        until(lambda: len(pongs()) == count)
        return True

    def pongs() -> list[Json]:
        state = setting.page.get("/page/state").json()
        return [each for each in state["messages"] if each.get("text") == "pong"]

    assert said("add-on", wrapped, 1)
    assert said("classic", {"text": "pong"}, 2)


@pytest.mark.parametrize(
    "connection",
    [
        {"shape": "add-on", "transport": "https", "audience": "number"},
        {"shape": "other", "transport": "https", "audience": "url"},
        {"shape": "classic", "transport": "carrier pigeon", "audience": "url"},
        {"extra": "x"},
    ],
    ids=str,
)
def test_a_connection_that_chat_does_not_offer_is_refused(setting: Setting, connection: Json) -> None:
    assert setting.page.post("/page/connection", json=connection).status_code == 400
    assert setting.page.get("/page/connection").json() == CONNECTIONS[0]


@pytest.mark.parametrize("path", ["commands", "clicks", "members", "connection"])
def test_another_site_can_do_none_of_it(setting: Setting, path: str) -> None:
    headers = {"Origin": "https://evil.example"}

    assert setting.page.post(f"/page/{path}", json={}, headers=headers).status_code == 403
