"""What a person said in a message: their words, without mentions, commands and invisible characters."""

from typing import Any

import pytest

from shared.chat.events import Asked, Ignored, Mentioned, understand
from shared.chat.said import LONGEST_QUOTE, said_in
from tests.support.golden_events import SHAPES, as_bytes, golden, message_of, with_message

BOT = {"name": "users/9999", "displayName": "threadwise", "type": "BOT"}
RIN = {"name": "users/77", "displayName": "Rin Sato", "type": "HUMAN"}
KEN = {"name": "users/78", "displayName": "Rin", "type": "HUMAN"}


def mentioning(text: str, *people: dict[str, str], argument: str | None = None) -> dict[str, Any]:
    """A message with a text that mentions people, with their ranges as Chat gives them."""
    annotations, end = [], 0
    for each in people:
        written = f"@{each['displayName']}"
        end = text.index(written, end)
        start = len(text[:end].encode("utf-16-le")) // 2
        end += len(written)
        mention = {"type": "MENTION", "user": each}
        annotations.append(
            {"type": "USER_MENTION", "startIndex": start, "length": len(written), "userMention": mention}
        )
    message: dict[str, Any] = {"text": text, "annotations": annotations}
    return message if argument is None else {**message, "argumentText": argument}


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["with argumentText", "without argumentText"])
def argued(request: pytest.FixtureRequest) -> bool:
    return str(request.param) == "with argumentText"


@pytest.mark.parametrize(
    "text, people, words",
    [
        ("@threadwise How do I configure the VPN? cc @Rin Sato", [BOT, RIN], "How do I configure the VPN?"),
        ("@threadwise How do I print? CC: @Rin Sato @Rin", [BOT, RIN, KEN], "How do I print?"),
        ("@threadwise @Rin Sato さんにVPNの設定方法を", [BOT, RIN], "さんにVPNの設定方法を"),
        ("🙋🏽‍♀️ @threadwise what does @Rin Sato need?", [BOT, RIN], "🙋🏽‍♀️ what does need?"),
        ("how do I print, @threadwise?", [BOT], "how do I print, ?"),
        ("@threadwise, how do I print?", [BOT], "how do I print?"),
        ("@threadwise：印刷方法は？", [BOT], "印刷方法は？"),
        ("@threadwise thanks! @Rin Sato", [BOT, RIN], "thanks!"),
        ("@threadwise @Rin Sato", [BOT, RIN], ""),
        ("@threadwise ,", [BOT], ""),
        ("@threadwise", [BOT], ""),
        ("@threadwise write to rin@example.com", [BOT], "write to rin@example.com"),
    ],
)
def test_mentions_are_no_words(argued: bool, text: str, people: list[dict[str, str]], words: str) -> None:
    message = mentioning(text, *people, argument=text.replace("@threadwise", "") if argued else None)

    assert " ".join(said_in(message).words.split()) == words


def test_the_names_of_people_are_kept_beside_the_words(argued: bool) -> None:
    argument = " what does @Rin Sato need?" if argued else None
    said = said_in(mentioning("@threadwise what does @Rin Sato need?", BOT, RIN, argument=argument))

    assert said.as_written == "what does @Rin Sato need?"


def test_a_mention_is_found_by_its_name_if_its_range_is_wrong_or_missing(argued: bool) -> None:
    message = mentioning("@threadwise How do I print? cc @Rin Sato", BOT, RIN)
    message["annotations"][0].pop("startIndex")  # JSON leaves out a zero
    message["annotations"][1]["startIndex"] = 3
    if argued:
        message["argumentText"] = " How do I print? cc @Rin Sato"

    assert said_in(message).words == "How do I print?"


def test_without_argument_text_and_annotation_a_name_at_the_beginning_is_the_bot() -> None:
    message = {"text": "@threadwise How do I print? Ask @rin", "annotations": []}

    assert said_in(message).words == "How do I print? Ask @rin"


def test_without_argument_text_a_command_is_cut_out() -> None:
    command = {"commandName": "/ask", "commandId": "1", "type": "INVOKE"}
    annotation = {"type": "SLASH_COMMAND", "length": 4, "slashCommand": command}
    message = {"text": "/ask How do I print?", "annotations": [annotation]}

    assert said_in(message).words == "How do I print?"


@pytest.mark.parametrize(
    "written, words",
    [
        ("\u200b", ""),
        ("\u3164\u2800", ""),
        ("How do I configure the V\u200bP\u00adN\u2060?\ufeff", "How do I configure the VPN?"),
        ("VPN\u3164setup", "VPN setup"),
        ("!?…", ""),
        ("👩‍💻 print", "👩‍💻 print"),
        ("half \ud83d an emoji", "half \ufffd an emoji"),
        ("a\n  b", "a\n  b"),
    ],
    ids=ascii,
)
def test_what_nobody_sees_is_taken_out_of_the_words(written: str, words: str) -> None:
    assert said_in({"text": written, "argumentText": written}).words == words


@pytest.mark.parametrize(
    "annotation",
    [
        {"startIndex": -5, "length": 3},
        {"startIndex": 1e300, "length": 2},
        {"startIndex": 0, "length": 10**12},
        {"startIndex": "x", "length": None},
        {"userMention": {"user": {"displayName": 7, "type": "BOT"}}},
        {"userMention": "nobody", "slashCommand": []},
    ],
    ids=str,
)
def test_an_annotation_that_cannot_be_changes_nothing(annotation: dict[str, Any]) -> None:
    assert (
        said_in({"argumentText": "How do I print?", "annotations": [annotation]}).words == "How do I print?"
    )


@pytest.mark.parametrize(
    "metadata, quote",
    [
        ({"quotedMessageSnapshot": {"text": " Reset your pass\u200bword. "}}, "Reset your password."),
        ({"quotedMessageSnapshot": {"text": "x" * 9_000}}, "x" * LONGEST_QUOTE),
        ({"quotedMessageSnapshot": {"text": 7}}, ""),
        ({"name": "spaces/A/messages/B"}, ""),
        ("no object", ""),
    ],
)
def test_a_quoted_message_is_read_and_bounded(metadata: Any, quote: str) -> None:
    assert said_in({"text": "And this?", "quotedMessageMetadata": metadata}).quote == quote


def test_a_question_carries_the_names_and_the_quote(shape: str) -> None:
    changes = mentioning("@HelpBot what does @Rin Sato need?", {**BOT, "displayName": "HelpBot"}, RIN)
    quoted = {"quotedMessageSnapshot": {"text": "Reset it."}}
    event = with_message(golden(f"{shape}-message-in-space"), **changes, argumentText=None)
    message_of(event)["quotedMessageMetadata"] = quoted

    asked = understand(as_bytes(event))

    assert isinstance(asked, Asked)
    assert asked.question.text == "what does need?"
    assert asked.question.as_written == "what does @Rin Sato need?"
    assert asked.question.quote == "Reset it."


def test_a_question_that_names_nobody_is_carried_once(shape: str) -> None:
    asked = understand(as_bytes(golden(f"{shape}-message-in-space")))

    assert isinstance(asked, Asked)
    assert (asked.question.as_written, asked.question.quote) == (None, None)


def test_a_colleague_s_name_is_no_question(shape: str) -> None:
    changes = mentioning("@threadwise @Rin Sato", BOT, RIN, argument=" @Rin Sato")

    assert isinstance(
        understand(as_bytes(with_message(golden(f"{shape}-message-in-space"), **changes))), Mentioned
    )


@pytest.mark.parametrize("kind", [None, "HUMAN"])
def test_the_app_itself_is_not_answered_whatever_kind_it_is_said_to_be(shape: str, kind: str | None) -> None:
    event = golden(f"{shape}-message-in-space")
    user = {"name": "users/app", **({"type": kind} if kind else {})}
    (event if shape == "classic" else event["chat"])["user"] = user

    assert isinstance(understand(as_bytes(event)), Ignored)


@pytest.mark.parametrize("stated", ["outside", "in the message", "in both"])
@pytest.mark.parametrize(
    "space, kind",
    [
        ({"type": "DM"}, "DIRECT_MESSAGE"),
        ({"spaceType": "DIRECT_MESSAGE", "type": "ROOM"}, "DIRECT_MESSAGE"),
        ({"singleUserBotDm": True}, "DIRECT_MESSAGE"),
        ({"spaceType": "GROUP_CHAT", "type": "ROOM"}, "GROUP_CHAT"),
        ({"spaceType": "SPACE_TYPE_UNSPECIFIED", "type": "DM"}, "DIRECT_MESSAGE"),
        ({"spaceType": "SPACE", "singleUserBotDm": False}, "SPACE"),
        ({}, "SPACE"),
    ],
    ids=str,
)
def test_the_kind_of_a_space_is_read_wherever_the_event_states_it(
    shape: str, space: dict[str, Any], kind: str, stated: str
) -> None:
    event = golden(f"{shape}-message-in-dm")
    holder = event if shape == "classic" else event["chat"]["messagePayload"]
    name, message = {"name": "spaces/DM1"}, message_of(event)
    holder["space"] = {**name, **space} if stated != "in the message" else name
    message["space"] = {**name, **space} if stated != "outside" else name
    if stated == "in the message":
        del holder["space"]

    assert understand(as_bytes(event)).place.kind == kind  # type: ignore[union-attr]
