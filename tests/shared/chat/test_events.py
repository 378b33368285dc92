"""Chat's events, in both formats: what is understood, and what is not."""

import json
from typing import Any

import pytest

from shared.chat.events import (
    Added,
    Asked,
    Clicked,
    Commanded,
    Ignored,
    Mentioned,
    Removed,
    question_of,
    understand,
)
from shared.chat.payloads import storable
from shared.runtime.errors import Permanent
from tests.support.golden_events import NAMES, SHAPES, as_bytes, golden, message_of, with_message

#: What each golden event is, in both formats.
MEANING: dict[str, type] = {
    "added-by-mention-alone-1": Ignored,
    "added-by-mention-alone-2": Mentioned,
    "added-by-question-1": Ignored,
    "added-by-question-2": Asked,
    "added-by-mention-alone": Added,
    "added-by-question": Asked,
    "added-to-dm": Added,
    "added-to-space": Added,
    "app-home": Ignored,
    "attachment-alone": Mentioned,
    "attachment-with-words": Asked,
    "clicked": Clicked,
    "clicked-forget": Clicked,
    "clicked-not-meant": Clicked,
    "clicked-reason": Clicked,
    "clicked-thumb": Clicked,
    "clicked-try-again": Clicked,
    "mention-alone": Mentioned,
    "message-action": Commanded,
    "message-in-dm": Asked,
    "message-in-group-chat": Asked,
    "message-in-space": Asked,
    "message-in-space-over-https": Asked,
    "message-in-thread": Asked,
    "message-in-thread-of-dm": Asked,
    "message-in-unthreaded-space": Asked,
    "message-of-bot": Ignored,
    "message-without-locale": Asked,
    "quick-forget": Commanded,
    "quick-help": Commanded,
    "removed-from-space": Removed,
    "slash-ask": Asked,
    "slash-ask-alone": Mentioned,
    "slash-forget": Commanded,
    "slash-forget-yes": Commanded,
    "slash-help": Commanded,
    "slash-unknown": Commanded,
    "submit-form": Ignored,
    "widget-updated": Ignored,
}


def understood(event: dict[str, Any]) -> Any:
    return understand(as_bytes(event))


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_every_golden_event_is_what_it_is_in_either_format(name: str) -> None:
    event = understood(golden(name))

    assert type(event) is MEANING[name.removeprefix("classic-").removeprefix("add-on-")]


@pytest.mark.parametrize(
    "name, action, others",
    [
        ("thumb", "rate", {"verdict": "up"}),
        ("reason", "rate", {"verdict": "down", "reason": "outdated"}),
        ("not-meant", "literal", {}),
        ("try-again", "again", {}),
    ],
)
def test_a_click_on_a_button_tells_what_it_is_about_in_either_format(
    shape: str, name: str, action: str, others: dict[str, str]
) -> None:
    clicked = understood(golden(f"{shape}-clicked-{name}"))

    about = {"question": "spaces/AAAA/messages/TTTT.TTTT", "again": "0"}
    assert (clicked.action, clicked.parameters) == (action, {**about, **others})
    assert clicked.message == "spaces/AAAA/messages/TTTT.M2"


def test_a_mention_in_a_space_is_a_question_without_the_mention(shape: str) -> None:
    question = understood(golden(f"{shape}-message-in-space")).question

    assert question.text == "how do I rotate a key?"
    assert question.id == "spaces/AAAA/messages/TTTT.TTTT"
    assert question.person == "users/1111"
    assert question.language == "ja"
    assert question.asked_at.isoformat() == "2026-11-30T01:02:03.456789+00:00"


@pytest.mark.parametrize(
    "name, conversation, thread",
    [
        ("message-in-space", "spaces/AAAA/threads/TTTT", "spaces/AAAA/threads/TTTT"),
        ("message-in-thread", "spaces/AAAA/threads/TTTT", "spaces/AAAA/threads/TTTT"),
        ("message-in-dm", "spaces/DM1", None),
        ("message-in-thread-of-dm", "spaces/DM1/threads/D1", "spaces/DM1/threads/D1"),
        ("message-in-group-chat", "spaces/GGGG/threads/G1", "spaces/GGGG/threads/G1"),
        ("message-in-unthreaded-space", "spaces/UUUU", None),
    ],
)
def test_the_conversation_is_what_people_see_as_one(
    shape: str, name: str, conversation: str, thread: str | None
) -> None:
    question = understood(golden(f"{shape}-{name}")).question

    assert (question.conversation, question.thread) == (conversation, thread)


def test_a_mention_alone_is_not_a_question(shape: str) -> None:
    event = golden(f"{shape}-message-in-space")

    assert isinstance(understood(with_message(event, argumentText=None, text="@HelpBot")), Mentioned)
    for nothing in ("", "  \n "):
        assert isinstance(understood(with_message(event, argumentText=nothing)), Mentioned)


@pytest.mark.parametrize("locale, language", [("en-GB", "en"), (None, "en"), (7, "en"), ("ja", "ja")])
def test_a_missing_locale_leaves_it_to_the_script(shape: str, locale: Any, language: str) -> None:
    event = golden(f"{shape}-message-in-space")
    event["common" if shape == "classic" else "commonEventObject"] = {"userLocale": locale}

    assert understood(event).question.language == language


def test_without_a_locale_japanese_is_answered_in_japanese(shape: str) -> None:
    assert understood(golden(f"{shape}-message-without-locale")).question.language == "ja"


@pytest.mark.parametrize("given", [2, 2.0, "2", "2.0"])
def test_a_command_s_number_may_be_of_any_type(shape: str, given: Any) -> None:
    event = golden(f"{shape}-quick-forget")
    holder = event if shape == "classic" else event["chat"]["appCommandPayload"]
    holder["appCommandMetadata"]["appCommandId"] = given

    assert understood(event).command == "forget"


@pytest.mark.parametrize("given", [None, [], {}, "two", float("inf"), True])
def test_a_command_without_a_number_is_an_unknown_one(shape: str, given: Any) -> None:
    event = golden(f"{shape}-quick-forget")
    holder = event if shape == "classic" else event["chat"]["appCommandPayload"]
    holder["appCommandMetadata"]["appCommandId"] = given

    assert understood(event).command == "unknown"


def test_a_slash_command_is_known_by_its_name_whatever_its_number(shape: str) -> None:
    body = as_bytes(golden(f"{shape}-slash-help"))

    assert understand(body, {"3": "forget"}).command == "help"  # type: ignore[union-attr]


def test_a_command_of_another_name_is_known_by_its_number(shape: str) -> None:
    renamed = json.loads(json.dumps(golden(f"{shape}-slash-help")).replace("/help", "/tasukete"))

    assert understood(renamed).command == "help"


def test_the_words_after_ask_are_the_question(shape: str) -> None:
    assert understood(golden(f"{shape}-slash-ask")).question.text == "rotate a key"


@pytest.mark.parametrize(
    "typed, command, words",
    [("/forget", "forget", ""), ("/Forget  yes", "forget", "yes"), ("/help", "help", "")],
)
def test_a_command_that_is_only_text_is_a_command(shape: str, typed: str, command: str, words: str) -> None:
    event = understood(with_message(golden(f"{shape}-message-in-dm"), argumentText=typed, text=typed))

    assert (event.command, event.words) == (command, words)


def test_a_path_is_no_command(shape: str) -> None:
    event = with_message(golden(f"{shape}-message-in-dm"), argumentText="/helpdesk is down?")

    assert understood(event).question.text == "/helpdesk is down?"


def test_at_the_start_of_a_thread_nothing_was_said_before(shape: str) -> None:
    assert understood(golden(f"{shape}-message-in-space")).place.opens
    assert not understood(golden(f"{shape}-message-in-thread")).place.opens
    assert not understood(golden(f"{shape}-slash-forget")).place.opens
    assert not understood(golden(f"{shape}-message-in-dm")).place.opens


def test_a_click_has_its_action_parameters_and_inputs(shape: str) -> None:
    click = understood(golden(f"{shape}-clicked"))

    assert click.action == "feedback"
    assert click.parameters == {"rating": "up", "answerId": "a1"}
    assert click.inputs == {"reason": ("too long",)}
    assert click.message == "spaces/AAAA/messages/TTTT.M2"
    assert (click.place.person, click.place.conversation) == ("users/1111", "spaces/AAAA/threads/TTTT")


def test_a_classic_click_may_name_its_action_by_the_function_and_list_its_parameters() -> None:
    event = golden("classic-clicked")
    event["common"] = {}
    event["action"] = {"actionMethodName": "again", "parameters": [{"key": "id", "value": "a1"}, {"key": 3}]}

    click = understood(event)

    assert (click.action, click.parameters) == ("again", {"id": "a1"})


def test_files_are_counted(shape: str) -> None:
    assert understood(golden(f"{shape}-attachment-with-words")).files == 1
    assert understood(golden(f"{shape}-attachment-alone")).files == 2
    assert understood(golden(f"{shape}-mention-alone")).files == 0


def test_a_bot_is_not_answered_whichever_of_the_two_is_one(shape: str) -> None:
    bot = {"name": "users/9", "type": "BOT"}
    event = golden(f"{shape}-message-in-space")
    (event if shape == "classic" else event["chat"])["user"] = bot

    assert isinstance(understood(event), Ignored)
    assert isinstance(understood(with_message(golden(f"{shape}-message-in-space"), sender=bot)), Ignored)


def test_the_person_s_domain_is_that_of_the_address_or_google_s_id(shape: str) -> None:
    event = golden(f"{shape}-message-in-space")
    assert understood(event).place.domains == ("example.co.jp", "d0main")

    user = (event if shape == "classic" else event["chat"])["user"]
    for name in ("email", "domainId"):
        user.pop(name)
    assert understood(event).place.domains == ()


def test_the_same_event_has_the_same_key_and_another_one_another(shape: str) -> None:
    event = golden(f"{shape}-added-to-space")
    later = json.loads(json.dumps(event).replace("01:02:03", "01:02:04"))

    assert understood(event).place.key == understood(event).place.key
    assert understood(event).place.key != understood(later).place.key


def test_events_as_short_as_the_documentation_shows_them_are_understood() -> None:
    space, user = {"name": "spaces/AAAA"}, {"name": "users/1111"}

    assert isinstance(understood({"type": "REMOVED_FROM_SPACE", "space": space, "user": user}), Removed)
    assert isinstance(understood({"type": "WIDGET_UPDATED", "space": space}), Ignored)
    for payload, meaning in (
        ({"removedFromSpacePayload": {"space": space}}, Removed),
        ({"addedToSpacePayload": {"space": space}}, Added),
        ({"addedToSpacePayload": {"space": space, "interactionAdd": True}}, Ignored),
        ({"widgetUpdatedPayload": {"space": space}}, Ignored),
    ):
        assert isinstance(understood({"chat": {"user": user, **payload}}), meaning)


@pytest.mark.parametrize(
    "body, reason",
    [
        (b"", "event_malformed"),
        (b"null", "event_malformed"),
        (b"[]", "event_malformed"),
        (b"[" * 50_000, "event_malformed"),
        (b'{"type": "MESSAGE"}', "event_malformed"),
        (b'{"type": "MESSAGE", "message": {"name": "spaces/A/messages/B", "text": "x"}}', "event_malformed"),
        (
            b'{"type": "MESSAGE", "message": {"name": "../x", "thread": {"name": "spaces/A/threads/B"}}}',
            "event_malformed",
        ),
        (b'{"type": "MESSAGE", "message": {"name": ["spaces/A/messages/B"]}, "space": 3}', "event_malformed"),
        (b'{"chat": {"messagePayload": {"message": {"name": "x"}}}}', "event_malformed"),
        (b"{}", "event_unknown"),
        (b'{"type": 3}', "event_unknown"),
        (b'{"type": "MESSAGE_EDITED", "message": {}}', "event_unknown: neither format: MESSAGE_EDITED"),
        (b'{"chat": {}}', "event_unknown"),
        (b'{"chat": {"user": {}, "somePayload": {}}}', "event_unknown: .*somePayload, user"),
        (b'{"chat": {"messagePayload": {}, "addedToSpacePayload": {}}}', "event_unknown"),
        (b'{"message": {"name": "spaces/A/messages/B"}}', "event_unknown: neither format: message"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_what_is_no_event_is_named_and_permanent(body: bytes, reason: str) -> None:
    with pytest.raises(Permanent, match=reason):
        understand(body)
    assert question_of(body) is None


def test_what_a_person_may_have_written_is_in_no_error() -> None:
    with pytest.raises(Permanent) as refused:
        understand(b'{"type": "my password is x", "my password is x": 1, "chats": 2}')

    assert "password" not in str(refused.value)


@pytest.mark.parametrize("value", [None, 3, "yesterday", "2026-11-30T01:02:03", {}])
def test_an_unreadable_time_is_now(shape: str, value: Any) -> None:
    event = with_message(golden(f"{shape}-message-in-space"), createTime=value or 0)

    assert understood(event).question.asked_at.tzinfo is not None


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_not_kept_and_nothing_else_is_lost(name: str) -> None:
    event = golden(name)
    kept = storable(as_bytes(event))

    assert b"s3cret" not in kept
    assert understand(kept) == understood(event)
    assert storable(kept) == kept


def test_the_question_of_an_event_is_found_in_either_format(shape: str) -> None:
    event = golden(f"{shape}-message-in-space")

    found = question_of(as_bytes(event))

    assert found is not None
    assert found.id == message_of(event)["name"]
    assert question_of(as_bytes(golden(f"{shape}-mention-alone"))) is None
