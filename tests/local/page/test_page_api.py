"""What the chat page asks of the Chat stand-in."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.page.live import stream
from local.page.markdown import text_html
from local.stand_ins.chat.service import Chat
from local.stand_ins.chat.store import Changes, MessageStore
from local.stand_ins.faults import Faults, fault_names
from local.stand_ins.tokens import Signer
from tests.support.chat_stand_in import IT_SUPPORT, chat_serving

MARKDOWN = "MARKUP_SYNTAX_MARKDOWN"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def chat(signer: Signer) -> Chat:
    return Chat(None, Faults(), signer, quotas=False)


@pytest.fixture(scope="module")
def page(chat: Chat) -> Iterator[httpx.Client]:
    with chat_serving(chat, model_note="rules") as base, httpx.Client(base_url=base) as client:
        yield client


def post(page: httpx.Client, text: str, **fields: Any) -> Json:
    body = {"space": IT_SUPPORT, "text": text, "person": "users/1001", "mention": False, **fields}
    response = page.post("/page/messages", json=body)
    assert response.status_code == 200, response.text
    message: Json = response.json()
    return message


def read(lines: Iterator[str], count: int) -> list[tuple[str, str]]:
    """Kind and text of the next changes."""
    found: list[tuple[str, str]] = []
    while len(found) < count:
        line = next(lines)
        if line.startswith("data: "):
            change = json.loads(line.removeprefix("data: "))
            found.append((change["kind"], change["message"].get("text", "")))
    return found


def test_the_state_has_everything_the_page_draws(page: httpx.Client) -> None:
    message = post(page, "a <b>\nc")
    state = page.get("/page/state").json()
    assert [one["displayName"] for one in state["people"]] == ["Aiko Tanaka", "Ben Miller"]
    assert state["spaces"][0] == {"name": IT_SUPPORT, "displayName": "IT support", "spaceType": "SPACE"}
    direct = [one["person"] for one in state["spaces"] if one["spaceType"] == "DIRECT_MESSAGE"]
    assert direct == ["users/1001", "users/1002"]
    assert (state["bot"]["displayName"], state["model"]) == ("threadwise", "rules")
    assert state["messages"][-1] == message
    assert message["html"] == "a &lt;b&gt;<br>\nc"
    assert message["sender"]["displayName"] == "Aiko Tanaka"


def test_changes_arrive_live_and_in_order(page: httpx.Client) -> None:
    with page.stream("GET", "/page/events", timeout=5) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        next(lines)
        name = page.post(f"/v1/{IT_SUPPORT}/messages", json={"text": "one"}).json()["name"]
        assert read(lines, 1) == [("created", "one")]
        page.patch(f"/v1/{name}", params={"updateMask": "text"}, json={"text": "two"})
        assert read(lines, 1) == [("updated", "two")]
        page.post("/page/delete", json={"name": name})
        assert read(lines, 1) == [("deleted", "two")]
    assert name not in {message["name"] for message in page.get("/page/state").json()["messages"]}


def test_a_page_that_reconnects_gets_what_it_missed_across_a_restart(signer: Signer, tmp_path: Path) -> None:
    state = tmp_path / "chat.sqlite"
    with chat_serving(Chat(state, Faults(), signer)) as base, httpx.Client(base_url=base) as page:
        name = post(page, "seen")["name"]
        with page.stream("GET", "/page/events", timeout=5) as response:
            seen = next(response.iter_lines()).removeprefix("id: ")
        post(page, "missed")
        page.post("/page/delete", json={"name": name})
    with (
        chat_serving(Chat(state, Faults(), signer)) as base,
        httpx.stream("GET", f"{base}/page/events", headers={"Last-Event-ID": seen}, timeout=5) as response,
    ):
        assert read(response.iter_lines(), 2) == [("created", "missed"), ("deleted", "seen")]


async def test_a_quiet_stream_is_kept_alive() -> None:
    changes = Changes()
    events = stream(MessageStore(None), changes, 0, dict, quiet_seconds=0.01)
    assert await anext(events) == "id: 0\n\n"
    assert (await anext(events)).startswith(":")
    changes.end()
    assert [event async for event in events] == []


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"space": "spaces/nowhere"}, 404),
        ({"person": "users/7"}, 404),
        ({"space": "spaces/dmBenAAAAAE"}, 404),
        ({"thread": f"{IT_SUPPORT}/threads/gone"}, 404),
        ({"text": ""}, 400),
        ({"text": "x" * 4097}, 400),
        ({"locale": "fr"}, 400),
        ({"mention": "yes"}, 400),
        ({"extra": 1}, 400),
    ],
)
def test_bad_input_is_refused(page: httpx.Client, change: Json, status: int) -> None:
    body = {"space": IT_SUPPORT, "text": "x", "person": "users/1001", "mention": False, **change}
    response = page.post("/page/messages", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (status, status)


@pytest.mark.parametrize(("name", "status"), [("x", 400), (f"{IT_SUPPORT}/messages/gone", 404)])
def test_only_a_message_that_exists_can_be_deleted(page: httpx.Client, name: str, status: int) -> None:
    assert page.post("/page/delete", json={"name": name}).status_code == status


def test_faults_are_switched_by_name(page: httpx.Client) -> None:
    switched = page.post("/page/faults", json={"on": ["gemini-down", "rag-slow"], "share": 0.5, "seconds": 1})
    assert switched.json() == {"active": ["gemini-down", "rag-slow"], "names": list(fault_names())}
    assert page.post("/page/faults", json={"off": []}).json()["active"] == ["gemini-down", "rag-slow"]
    assert page.post("/page/faults", json={"off": ["rag-slow"]}).json()["active"] == ["gemini-down"]
    assert page.post("/page/faults", json={"on": ["rag-slow", "no-such"]}).status_code == 400
    assert page.get("/page/faults").json()["active"] == ["gemini-down"]
    assert page.post("/page/faults", json={"off": ["gemini-down"]}).json()["active"] == []


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "evil.example:8080"}]
)
@pytest.mark.parametrize("path", ["messages", "delete", "faults"])
def test_another_site_cannot_use_the_page(page: httpx.Client, headers: Json, path: str) -> None:
    assert page.post(f"/page/{path}", json={}, headers=headers).status_code == 403


def test_the_page_itself_can(page: httpx.Client) -> None:
    origin = {"Origin": str(page.base_url).rstrip("/")}
    assert page.post("/page/faults", json={"off": []}, headers=origin).status_code == 200


def test_markdown_becomes_html() -> None:
    text = "**b** ~~s~~ `c`\n\n1. one\n\n[t](https://example.com/a)"
    html = text_html({"text": text, "markupSyntax": MARKDOWN})
    assert "<strong>b</strong> <s>s</s> <code>c</code>" in html
    assert "<ol>\n<li>one</li>" in html
    assert '<a href="https://example.com/a" target="_blank" rel="noopener">t</a>' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "<b onclick=x>",
        "[t](javascript:x)",
        "[t](data:text/html,x)",
        "[t](ftp://example.com/x)",
        "[t](/page/state)",
        "![t](https://example.com/x.png)",
        "<javascript:x>",
    ],
)
def test_text_cannot_bring_markup_into_the_page(text: str) -> None:
    html = text_html({"text": text, "markupSyntax": MARKDOWN})
    links = re.findall('href="([^"]*)"', html)
    assert all(link.startswith("https://") for link in links)
    assert not any(part in html for part in ("<script", "<b ", "<img"))
    assert "<script" not in text_html({"text": text})
