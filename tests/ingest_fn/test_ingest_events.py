"""Every golden event through the real `ingest_fn`, over HTTPS and pushed from the topic of Chat's events."""

import base64
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingest_fn.commands import help_text
from ingest_fn.forget import AUDIT
from ingest_fn.notices import addressed
from ingest_fn.pace import Pace
from local.places import ADD_ON_IDENTITY
from shared.chat.events import Asked, Ignored, Removed, question_of, understand
from shared.chat.message import message_id
from shared.chat.payloads import storable
from shared.language.catalogue import text
from shared.memory.failures import Failures
from shared.messages.dead_letter import unknown_id
from shared.messages.envelope import Envelope
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.factories import question
from tests.support.golden_events import NAMES, SHAPES, as_bytes, golden, message_of, with_message
from tests.support.ingest_side import GROUP, Ingest, anew

pytest_plugins = ["tests.support.event_fixtures"]


WELCOME = {language: help_text(language, 24, "welcome") for language in ("en", "ja")}
HELP = {language: help_text(language, 24) for language in ("en", "ja")}
MENTION = {language: text(language, "help", "mention") for language in ("en", "ja")}


def sentence(key: str, language: str = "en", **values: Any) -> str:
    return text(language, "notice", key, **values)


#: What the bot says at once to those that lead to no question. (Without a locale it is English, for add-ons
#: that are added to a space.)
SAID = {
    "classic-added-by-mention-alone": WELCOME["ja"],
    "add-on-added-by-mention-alone-2": MENTION["ja"],
    "classic-added-to-dm": WELCOME["en"],
    "add-on-added-to-dm": WELCOME["en"],
    "classic-added-to-space": WELCOME["ja"],
    "add-on-added-to-space": WELCOME["en"],
    **{
        f"{shape}-{name}": said
        for shape in SHAPES
        for name, said in {
            "attachment-alone": sentence("files_alone"),
            "clicked": sentence("old_button", "ja"),
            "clicked-forget": text("ja", "forget", "thread"),
            # What they are about is not kept any more.
            "clicked-not-meant": sentence("old_button", "ja"),
            "clicked-reason": sentence("old_button", "ja"),
            "clicked-thumb": sentence("old_button", "ja"),
            "clicked-try-again": sentence("old_button", "ja"),
            "mention-alone": MENTION["ja"],
            "message-action": sentence("unknown_command"),
            # "and on a Mac?", in a thread of which nothing is remembered.
            "message-in-thread": sentence("unclear", hours="24"),
            "quick-forget": text("en", "forget", "thread"),
            "quick-help": HELP["en"],
            "slash-ask-alone": MENTION["en"],
            "slash-forget": text("ja", "forget", "thread"),
            "slash-forget-yes": sentence("forgotten"),
            "slash-help": HELP["en"],
            "slash-unknown": sentence("unknown_command"),
        }.items()
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_every_event_leads_to_a_question_or_a_sentence_or_nothing(
    ingest: Ingest, inbox: Any, name: str, transport: str
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    event = anew(golden(name))
    meaning = understand(as_bytes(event))
    before = len(ingest.of_the_bot())

    assert ingest.by(transport)(event) == ({}, 200)

    assert dead_letters.is_empty()
    if isinstance(meaning, Asked) and name not in SAID:
        [published] = questions.messages()
        assert Envelope.from_bytes(published.data).question == meaning.question
        return
    assert questions.is_empty()
    if isinstance(meaning, Ignored | Removed):
        assert len(ingest.of_the_bot()) == before
        return
    said = ingest.said(event)
    assert said is not None
    assert said["text"] == SAID[name]


@pytest.mark.parametrize(
    "names",
    [
        ["classic-added-to-space"],
        ["classic-added-to-dm"],
        ["classic-added-by-mention-alone"],
        ["add-on-added-to-space"],
        ["add-on-added-by-mention-alone-1", "add-on-added-by-mention-alone-2"],
    ],
    ids=lambda names: names[0],
)
def test_one_greeting_however_the_bot_is_added_and_however_often_it_is_told(
    ingest: Ingest, transport: str, names: list[str]
) -> None:
    together = anew({"events": [golden(name) for name in names]})["events"]
    before = len(ingest.of_the_bot())

    for event in (*together, *together):
        ingest.by(transport)(event)

    assert len(ingest.of_the_bot()) == before + 1


@pytest.mark.parametrize(
    "names", [["classic-added-by-question"], ["add-on-added-by-question-1", "add-on-added-by-question-2"]]
)
def test_added_with_a_question_the_bot_answers_it_once_and_does_not_greet_besides(
    ingest: Ingest, inbox: Any, transport: str, names: list[str]
) -> None:
    questions = inbox("questions")
    together = anew({"events": [golden(name) for name in names]})["events"]
    before = len(ingest.of_the_bot())

    for event in together:
        ingest.by(transport)(event)

    assert len(questions.messages()) == 1
    assert questions.is_empty()
    assert len(ingest.of_the_bot()) == before + 1  # its progress


def test_a_reply_to_a_mention_stands_in_its_thread(
    ingest: Ingest, shape: str, small_cloud: SmallCloud
) -> None:
    async def say() -> Any:
        return small_cloud.cloud.chat.post_as_person(GROUP, "", mention=True)

    # The stand-in tells its own bot of it, which is not there; this one is told by the test.
    posted = small_cloud.run(say())
    thread = posted["thread"]["name"]
    event = with_message(anew(golden(f"{shape}-mention-alone")), name=posted["name"], thread=posted["thread"])
    if shape == "classic":
        event["thread"] = posted["thread"]

    ingest.over_https(event)

    said = ingest.said(event)
    assert said is not None
    assert said["thread"]["name"] == thread


def test_words_that_come_with_a_file_are_answered_and_the_file_is_owned_up_to(
    ingest: Ingest, inbox: Any, shape: str, transport: str
) -> None:
    questions = inbox("questions")
    event = anew(golden(f"{shape}-attachment-with-words"))
    ingest.by(transport)(event)
    ingest.by(transport)(event)  # sent twice, told once

    assert Envelope.from_bytes(questions.messages()[0].data).question.text == "what does this log mean?"
    place = understand(as_bytes(event)).place  # type: ignore[union-attr]
    beside = message_id(addressed(place, beside=True).id)
    told = ingest.read(f"{place.space}/messages/{beside}")
    assert told is not None
    assert told["text"] == sentence("files_too")
    assert sum(message["name"] == told["name"] for message in ingest.of_the_bot()) == 1


def test_a_question_that_is_too_long_gets_a_sentence_and_no_dead_letter(
    small_cloud: SmallCloud, inbox: Any, shape: str, transport: str
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    ingest = Ingest(small_cloud, {"longest_question": 50})
    event = anew(with_message(golden(f"{shape}-message-in-space"), argumentText="VPN?" * 20))

    assert ingest.by(transport)(event) == ({}, 200)

    said = ingest.said(event)
    assert said is not None
    assert said["text"] == sentence("too_long", "ja", length=80, most=50)
    assert questions.is_empty()
    assert dead_letters.is_empty()


def test_too_many_questions_of_one_person_get_a_sentence_and_another_person_s_do_not(
    small_cloud: SmallCloud, inbox: Any, shape: str
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    ingest = Ingest(small_cloud, {"questions_per_minute": 2})
    person = f'"users/{shape}-{id(questions)}"'
    mine = [
        json.loads(json.dumps(anew(golden(f"{shape}-message-in-space"))).replace('"users/1111"', person))
        for _ in range(3)
    ]

    for event in (*mine, mine[0]):  # the first one again, as when Chat repeats itself
        assert ingest.over_https(event) == ({}, 200)
    ingest.over_https(json.loads(json.dumps(mine[0]).replace(person, f'{person[:-1]}-other"')))

    asked = [Envelope.from_bytes(message.data).question.id for message in questions.messages(4)]
    assert asked == [message_of(event)["name"] for event in (mine[0], mine[1], mine[0], mine[0])]
    said = ingest.said(mine[2])
    assert said is not None
    assert said["text"] == sentence("too_many", "ja", most=2)
    assert dead_letters.is_empty()


def test_who_cannot_be_told_that_a_question_is_too_long_is_told_when_the_event_comes_again(
    small_cloud: SmallCloud, faults: Any, shape: str
) -> None:
    ingest = Ingest(small_cloud, {"longest_question": 10})
    ingest.door.seconds = 1
    event = anew(golden(f"{shape}-message-in-space"))
    faults.switch_on("chat-down")

    assert ingest.over_https(event)[1] == 503
    faults.switch_off()

    assert ingest.over_https(event)[1] == 200
    assert ingest.said(event) is not None


def test_questions_are_counted_for_a_minute(small_cloud: SmallCloud, firestore: Any) -> None:
    pace, person = Pace(firestore, 1), f"users/{id(object())}"
    assert pace.allows(person, question().id, Deadline(5))
    assert not pace.allows(person, question().id, Deadline(5))

    counted = firestore.collection("askers").document(hashlib.sha256(person.encode()).hexdigest()[:40])
    [entry] = counted.get().to_dict()["asked"]
    counted.update({"asked": [{**entry, "at": datetime.now(UTC) - timedelta(minutes=1)}]})

    assert pace.allows(person, question().id, Deadline(5))


def test_without_firestore_nobody_is_counted(ingest: Ingest, faults: Any, firestore: Any) -> None:
    faults.switch_on("firestore-down")

    assert Pace(firestore, 1).allows("users/1", question().id, Deadline(5))
    assert Pace(firestore, 1).allows("users/1", question().id, Deadline(5))


@pytest.mark.parametrize(
    "settings, taken",
    [
        ({"allowed_domains": "example.co.jp"}, True),
        ({"allowed_domains": "EXAMPLE.co.jp,other.example"}, True),
        ({"allowed_domains": "d0main"}, True),
        ({"allowed_domains": "co.jp"}, False),
        ({"allowed_domains": "example.co.jp.evil.example"}, False),
        ({"allowed_spaces": GROUP}, True),
        ({"allowed_spaces": "SPACE,DIRECT_MESSAGE"}, True),
        ({"allowed_spaces": "spaces/AAAAgroup"}, False),
        ({"allowed_spaces": "GROUP_CHAT"}, False),
        ({"allowed_spaces": GROUP, "allowed_domains": "other.example"}, False),
    ],
    ids=str,
)
def test_only_allowed_people_in_allowed_places_are_answered(
    small_cloud: SmallCloud, inbox: Any, shape: str, settings: dict[str, Any], taken: bool
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    event = anew(golden(f"{shape}-message-in-space"))
    ingest = Ingest(small_cloud, settings)

    assert ingest.over_https(event) == ({}, 200)

    assert questions.is_empty() is not taken
    assert dead_letters.is_empty()
    if not taken:
        said = ingest.said(event)
        assert said is not None
        assert said["text"] == sentence("not_allowed", "ja")


def test_a_person_of_no_known_domain_is_not_of_an_allowed_one(
    small_cloud: SmallCloud, inbox: Any, shape: str
) -> None:
    questions = inbox("questions")
    event = anew(golden(f"{shape}-message-in-space"))
    user = (event if shape == "classic" else event["chat"])["user"]
    user.pop("email")
    user.pop("domainId")

    Ingest(small_cloud, {"allowed_domains": "example.co.jp"}).over_https(event)

    assert questions.is_empty()


def test_a_sentence_that_cannot_be_said_is_no_dead_letter(
    small_cloud: SmallCloud, inbox: Any, shape: str, transport: str
) -> None:
    dead_letters = inbox("dead-letters")
    event = anew(golden(f"{shape}-mention-alone"), space="spaces/AAAAnowhere")

    assert Ingest(small_cloud).by(transport)(event) == ({}, 200)
    assert dead_letters.is_empty()


def test_an_event_is_understood_whoever_of_chat_s_identities_calls(
    ingest: Ingest, inbox: Any, shape: str
) -> None:
    questions = inbox("questions")
    event = anew(golden(f"{shape}-message-in-space"))

    assert ingest.over_https(event, ADD_ON_IDENTITY) == ({}, 200)
    assert len(questions.messages()) == 1


def test_a_push_that_is_not_wrapped_is_understood_too(ingest: Ingest, inbox: Any, shape: str) -> None:
    questions = inbox("questions")
    body = as_bytes(anew(golden(f"{shape}-message-in-space")))

    assert ingest.pushed({"X-Goog-Pubsub-Message-Id": "1", "Replay-Count": "2"}, body) == ({}, 200)
    assert questions.messages()[0].attributes["replay-count"] == "2"


def test_only_pub_sub_may_wrap_an_event(ingest: Ingest, inbox: Any) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    event = as_bytes(anew(golden("classic-message-in-space")))
    data = base64.b64encode(event).decode()
    wrapped = {"message": {"data": data}, "subscription": "projects/p/subscriptions/s"}

    assert ingest.over_https(wrapped) == ({}, 200)

    assert questions.is_empty()
    assert dead_letters.messages()[0].attributes["dead-letter-reason"] == "event_unknown"


def test_a_replay_goes_on_as_one(ingest: Ingest, inbox: Any, shape: str) -> None:
    questions = inbox("questions")
    event = anew(golden(f"{shape}-message-in-space"))
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    ingest.over_pubsub(event, replay_count="3", replay_name="after-the-fix", traceparent=trace)

    [published] = questions.messages()
    assert published.attributes["replay-count"] == "3"
    assert published.attributes["replay-name"] == "after-the-fix"
    assert Envelope.from_bytes(published.data).trace == trace


@pytest.mark.parametrize(
    "body",
    [
        b"\x00 no JSON",
        b"{}",
        b'{"type": "MESSAGE_EDITED"}',
        b'{"chat": {"x": {"text": "my secret"}}, "authorizationEventObject": {"userIdToken": "s3cret"}}',
        b'{"chat": {"messagePayload": {"message": {}, "configCompleteRedirectUri": "https://x/?token=s3cret"}}}',
    ],
    ids=lambda body: repr(body[:30]),
)
def test_what_is_not_understood_is_kept_and_named_without_tokens(
    ingest: Ingest, inbox: Any, firestore: Any, transport: str, body: bytes
) -> None:
    dead_letters = inbox("dead-letters")

    assert ingest.by(transport)(body) == ({}, 200)

    [kept] = dead_letters.messages()
    assert kept.data == storable(body)
    assert b"s3cret" not in kept.data
    assert kept.attributes["dead-letter-step"] == "ingest"
    assert kept.attributes["dead-letter-reason"] in {"event_malformed", "event_unknown"}
    recorded = Failures(firestore).find(unknown_id(kept.data), "ingest", Deadline(5))
    assert recorded is not None
    assert "secret" not in str(recorded)


def test_events_of_another_product_on_the_topic_are_kept_and_named(
    ingest: Ingest, inbox: Any, firestore: Any
) -> None:
    dead_letters = inbox("dead-letters")
    created = {"message": {"name": "spaces/A/messages/B", "text": "not for the bot"}}
    kind = "google.workspace.chat.message.v1.created"

    assert ingest.over_pubsub(created, ce_type=kind, ce_specversion="1.0") == ({}, 200)

    [kept] = dead_letters.messages()
    recorded = Failures(firestore).find(unknown_id(kept.data), "ingest", Deadline(5))
    assert recorded is not None
    assert kind in recorded["error"]


def test_trouble_that_passes_is_recorded_for_the_question_and_the_event_comes_again(
    small_cloud: SmallCloud, faults: Any, firestore: Any, shape: str
) -> None:
    ingest = Ingest(small_cloud)
    event = anew(golden(f"{shape}-message-in-space"))
    faults.switch_on("pubsub-down")

    assert ingest.over_pubsub(event)[1] == 503

    asked = question_of(as_bytes(event))
    assert asked is not None
    recorded = Failures(firestore).find(asked.id, "ingest", Deadline(5))
    assert recorded is not None
    assert recorded["reason"] == "pubsub_unavailable"


def test_a_removed_bot_says_nothing_and_purges(ingest: Ingest, firestore: Any, shape: str) -> None:
    event = anew(golden(f"{shape}-removed-from-space"))
    before = len(ingest.of_the_bot())

    assert ingest.over_pubsub(event) == ({}, 200)

    assert len(ingest.of_the_bot()) == before
    purged = [line.to_dict() for line in firestore.collection(AUDIT).stream()]
    assert any(line["selection"] == GROUP and line["action"] == "forget" for line in purged)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_help_says_how_long_questions_and_ratings_are_kept(language: str) -> None:
    said = HELP[language].replace(" ", "")

    assert re.search("24(hours|時間)", said)
    assert re.search("31(days|日間)", said)
    assert re.search("90(days|日間)", said)
