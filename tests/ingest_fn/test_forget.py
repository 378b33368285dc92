"""Forgetting: after `/forget yes`, or when the bot is removed, nothing that was written is kept anywhere."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Services as TellServices
from answer_fn.tell import Teller
from ingest_fn.forget import AUDIT
from local.places import PROJECT
from ops.audit import Audit
from ops.reconcile import reconcile
from ops.settings import Settings as OpsSettings
from ops.world import World
from shared.chat.letters import letter_from_push
from shared.chat.message import message_id
from shared.language.catalogue import text
from shared.memory import cases, conversations, failures, records
from shared.memory.cases import Cases
from shared.memory.failures import Failures
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.memory.forgotten import COLLECTION as FORGOTTEN
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.runtime.cloudevent import message
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from tests.conftest import SmallCloud
from tests.support import remembering
from tests.support.factories import ending, envelope, push, question, turn
from tests.support.golden_events import golden, with_message
from tests.support.ingest_side import BENS_DM, GROUP, Ingest, anew

pytest_plugins = ["tests.support.event_fixtures"]


KEPT_IN = (conversations.COLLECTION, records.COLLECTION, failures.COLLECTION, cases.COLLECTION, FEEDBACK)
_numbers = iter(range(10_000))


@pytest.fixture(scope="module")
def tell(small_cloud: SmallCloud) -> TellServices:
    return open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))


def asked_in(conversation: str, space: str, *, named_after_thread: bool = True, **fields: Any) -> Question:
    """A question of a conversation, with words that are nowhere else."""
    number = next(_numbers)
    thread = conversation.rsplit("/", maxsplit=1)[-1] if named_after_thread else f"other{number}"
    given = {
        "id": f"{space}/messages/{thread}.Q{number}",
        "conversation": conversation,
        "space": space,
        "thread": conversation if "/threads/" in conversation else None,
        "text": f"the words of {conversation} number {number}",
    }
    return question(**{**given, **fields})


@pytest.fixture
def remember(firestore: Any) -> Callable[..., list[Question]]:
    """Everything that can be kept for a conversation: an answered, a waiting, an unanswerable question."""

    def keep(conversation: str, space: str, **how: Any) -> list[Question]:
        answered, waiting, lost = (asked_in(conversation, space, **how) for _ in range(3))
        deadline = Deadline(20)
        for each in (answered, lost, waiting):
            remembering.wait_for(firestore, each)
        said = ending("answer", f"an answer to {answered.text}", search_query=answered.text)
        remembering.end(firestore, answered, said)
        Failures(firestore).record(lost.id, "retrieve", Transient("rag_unavailable"), [], deadline)
        Cases(firestore).store(letter_of(lost), None, deadline)
        firestore.collection(FEEDBACK).document(document_id(answered.id)).set(
            {"conversation": conversation, "space": space, "question_id": answered.id, "text": answered.text}
        )
        return [answered, waiting, lost]

    return keep


def letter_of(asked: Question) -> DeadLetter:
    headers, body = push(envelope(question=asked))
    return letter_from_push({**headers, "X-Goog-Pubsub-Message-Id": asked.id}, body)


@pytest.fixture
def kept(firestore: Any) -> Callable[[str], list[str]]:
    """The collections in which anything names, or holds words of, a conversation."""

    def find(conversation: str) -> list[str]:
        names = (conversation, conversation.replace("/threads/", "/messages/"))
        found = [
            collection
            for collection in KEPT_IN
            for document in firestore.collection(collection).stream()
            if any(name in f"{document.to_dict()}" for name in names)
        ]
        return sorted(set(found))

    return find


def forget(shape: str, conversation: str, words: str = "yes") -> dict[str, Any]:
    """The event of `/forget` in a conversation."""
    if conversation == BENS_DM:
        return with_message(anew(golden(f"{shape}-slash-forget-yes")), argumentText=f" {words}")
    event = anew(golden(f"{shape}-slash-forget"))
    changed = with_message(event, argumentText=f" {words}", thread={"name": conversation})
    return {**changed, "thread": {"name": conversation}} if shape == "classic" else changed


def new_thread(space: str = GROUP) -> str:
    return f"{space}/threads/thread{next(_numbers)}"


def test_all_of_a_conversation_is_forgotten_and_nothing_of_another(
    ingest: Ingest, remember: Any, kept: Any, shape: str, transport: str
) -> None:
    mine, another = new_thread(), new_thread()
    remember(mine, GROUP)
    remember(another, GROUP)
    assert kept(mine) == sorted(KEPT_IN)
    event = forget(shape, mine)

    assert ingest.by(transport)(event) == ({}, 200)

    assert kept(mine) == []
    assert kept(another) == sorted(KEPT_IN)
    said = ingest.said(event)
    assert said is not None
    assert said["text"] == text("ja", "notice", "forgotten")


def test_what_is_not_named_after_its_thread_is_forgotten_too(
    ingest: Ingest, remember: Any, firestore: Any, shape: str
) -> None:
    thread = new_thread()
    asked = remember(thread, GROUP, named_after_thread=False)

    ingest.over_https(forget(shape, thread))

    for each in asked:
        for collection in (records.COLLECTION, cases.COLLECTION, FEEDBACK):
            assert not firestore.collection(collection).document(document_id(each.id)).get().exists
        failed = firestore.collection(failures.COLLECTION).document(f"{document_id(each.id)}.retrieve")
        assert not failed.get().exists


def test_a_question_that_is_no_turn_and_waits_no_more_is_forgotten(
    ingest: Ingest, firestore: Any, shape: str
) -> None:
    thread, deadline = new_thread(), Deadline(20)
    long_ago = datetime.now(UTC) - timedelta(minutes=6)
    earlier = asked_in(thread, GROUP, named_after_thread=False, asked_at=long_ago)
    record = Records(firestore, 24)
    remembering.wait_for(firestore, earlier)
    remembering.end(firestore, earlier, ending("fallback", f"nothing found for {earlier.text}"))
    remembering.wait_for(firestore, asked_in(thread, GROUP))

    ingest.over_https(forget(shape, thread))

    assert record.ending(earlier.id, deadline) is None


def test_a_dead_letter_of_before_cases_had_a_conversation_is_forgotten(
    ingest: Ingest, firestore: Any, kept: Any, shape: str
) -> None:
    thread = new_thread()
    lost = asked_in(thread, GROUP, named_after_thread=False)
    Cases(firestore).store(letter_of(lost), None, Deadline(5))
    case = firestore.collection(cases.COLLECTION).document(document_id(lost.id))
    case.update({"conversation": None})

    ingest.over_https(forget(shape, thread))

    assert not case.get().exists


def test_a_direct_message_is_forgotten_with_its_threads(
    ingest: Ingest, remember: Any, kept: Any, shape: str, transport: str
) -> None:
    thread = new_thread(BENS_DM)
    remember(BENS_DM, BENS_DM)
    remember(thread, BENS_DM)

    ingest.by(transport)(forget(shape, BENS_DM))

    assert kept(BENS_DM) == []


def test_a_space_that_the_bot_is_removed_from_is_forgotten_and_no_other(
    ingest: Ingest, remember: Any, kept: Any, shape: str, transport: str
) -> None:
    space = f"spaces/Left{next(_numbers)}"
    alike = [f"{space}x", f"{space}-1"]
    for each in (space, *alike):
        remember(f"{each}/threads/T1", each)
        remember(f"{each}/threads/T2", each)

    ingest.by(transport)(anew(golden(f"{shape}-removed-from-space"), space=space))

    assert kept(f"{space}/") == []
    assert all(kept(f"{each}/") == sorted(KEPT_IN) for each in alike)


@pytest.mark.parametrize("words", ["", "no", "the VPN", "yes please do not"])
def test_without_a_confirmation_nothing_is_forgotten(
    ingest: Ingest, remember: Any, kept: Any, shape: str, words: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread, words)

    ingest.over_https(event)

    assert kept(thread) == sorted(KEPT_IN)
    said = ingest.said(event)
    assert said is not None
    assert said["text"] == text("ja", "forget", "thread")


@pytest.mark.parametrize("words", ["yes", "Yes!", "はい", "はい。"])
def test_a_confirmation_is_understood(
    ingest: Ingest, remember: Any, kept: Any, shape: str, words: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)

    ingest.over_https(forget(shape, thread, words))

    assert kept(thread) == []


def test_at_the_start_of_a_thread_the_person_is_told_where_to_forget(ingest: Ingest, shape: str) -> None:
    event = anew(golden(f"{shape}-slash-ask"))
    renamed = json.loads(json.dumps(event).replace("/ask", "/forget"))

    ingest.over_https(renamed)

    said = ingest.said(renamed)
    assert said is not None
    assert said["text"] == text("en", "notice", "forget_where")


def test_a_line_of_the_audit_remains_without_text(
    ingest: Ingest, remember: Any, firestore: Any, shape: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread)

    ingest.over_https(event)
    ingest.over_https(event)  # as when Chat repeats itself

    lines = [line for line in Audit(firestore).latest(1000) if line["selection"] == thread]
    assert len(lines) == 1
    assert (lines[0]["action"], lines[0]["by"]) == ("forget", "users/1111")
    assert lines[0]["finished_at"] >= lines[0]["at"]
    assert "the words" not in str(lines)
    documents = firestore.collection(AUDIT).stream()
    assert all("the words" not in str(document.to_dict()) for document in documents)


def test_the_audit_counts_what_was_deleted(ingest: Ingest, remember: Any, firestore: Any, shape: str) -> None:
    thread = new_thread()
    remember(thread, GROUP)

    ingest.over_https(forget(shape, thread))

    [line] = [line for line in Audit(firestore).latest(1000) if line["selection"] == thread]
    assert line["counts"] == dict.fromkeys(KEPT_IN, 1)


def test_when_chat_repeats_itself_what_was_asked_since_stays(
    ingest: Ingest, remember: Any, firestore: Any, kept: Any, shape: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread)
    ingest.over_https(event)
    since = remember(thread, GROUP, asked_at=datetime.now(UTC))

    ingest.over_https(event)

    assert kept(thread) == sorted(KEPT_IN)
    assert Forgotten(firestore).among(since, Deadline(5)) == set()
    [line] = [line for line in Audit(firestore).latest(1000) if line["selection"] == thread]
    assert line["counts"] == dict.fromkeys(KEPT_IN, 1)


def test_a_turn_that_is_under_way_does_not_come_back(
    ingest: Ingest, remember: Any, firestore: Any, kept: Any, shape: str
) -> None:
    thread = new_thread()
    _, waiting, _ = remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))

    remembering.answer(firestore, waiting)

    assert kept(thread) == []


def test_what_is_asked_afterwards_is_remembered_again(
    ingest: Ingest, remember: Any, firestore: Any, shape: str
) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))
    again = asked_in(thread, GROUP)

    before = remembering.wait_for(firestore, again)
    remembering.answer(firestore, again, "an answer")

    document = firestore.collection(conversations.COLLECTION).document(document_id(thread)).get().to_dict()
    assert before.history == ()
    assert [turn["text"] for turn in document["turns"]] == [again.text, "an answer"]


def test_a_dead_letter_that_is_under_way_is_not_kept_and_says_only_that(
    ingest: Ingest, remember: Any, kept: Any, tell: TellServices, shape: str
) -> None:
    thread = new_thread()
    _, waiting, _ = remember(thread, GROUP)
    ingest.over_https(forget(shape, thread))
    headers, body = push(envelope(question=waiting))

    assert Teller(lambda: tell).receive(headers, body) == ("", 204)

    assert kept(thread) == []
    said = ingest.read(f"{GROUP}/messages/{message_id(waiting.id)}")
    assert said and said["text"] == text("en", "notice", "forgotten_question")


def test_a_question_of_afterwards_is_kept_without_what_was_forgotten(
    ingest: Ingest, firestore: Any, tell: TellServices, shape: str
) -> None:
    thread = new_thread()
    ingest.over_https(forget(shape, thread))
    asked = question(conversation=thread, space=GROUP, asked_at=datetime.now(UTC) + timedelta(seconds=5))
    before, after = turn("user", "What is my salary?"), turn("user", "Hello", timestamp=asked.asked_at)
    headers, body = push(envelope(question=asked, history=(before, after)))

    assert Teller(lambda: tell).receive(headers, body) == ("", 204)

    case = firestore.collection(cases.COLLECTION).document(document_id(asked.id)).get().to_dict()
    assert Envelope.from_bytes(case["data"]).history == (after,)


def test_the_operators_copy_of_a_dead_letter_does_not_bring_it_back(
    ingest: Ingest, remember: Any, kept: Any, small_cloud: SmallCloud, outbox: Any, shape: str, inbox: Any
) -> None:
    thread = new_thread()
    _, _, lost = remember(thread, GROUP)
    backup = inbox("dead-letters")
    sent = envelope(question=lost)
    letter = message(sent.to_bytes(), question_id=lost.id, step="ingest", trace=sent.trace)
    outbox.send("dead-letters", letter, Deadline(5))
    ingest.over_https(forget(shape, thread))

    settings = OpsSettings(google_cloud_project=PROJECT, dead_letter_backup=backup.path.split("/")[-1])
    done = reconcile(World(settings), lambda _: None)

    assert (done.read, done.stored, done.left) == (1, 0, [])
    assert kept(thread) == []


def button_of(said: dict[str, Any]) -> dict[str, Any]:
    """The action of the one button in a message."""
    [section] = said["cardsV2"][0]["card"]["sections"]
    action: dict[str, Any] = section["widgets"][0]["buttonList"]["buttons"][0]["onClick"]["action"]
    return action


def click(shape: str, said: dict[str, Any], **changed: str) -> dict[str, Any]:
    """The event of a click on that button."""
    action = button_of(said)
    parameters = {each["key"]: each["value"] for each in action["parameters"]} | changed
    event = with_message(anew(golden(f"{shape}-clicked")), name=said["name"], thread=said["thread"])
    if shape == "classic":
        event["common"] |= {"invokedFunction": action["function"], "parameters": parameters}
        event["thread"] = said["thread"]
    else:
        event["commonEventObject"]["parameters"] = parameters
    return event


def test_a_click_confirms_in_place_of_the_words(ingest: Ingest, remember: Any, kept: Any, shape: str) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread, "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None

    assert ingest.over_https(click(shape, said)) == ({}, 200)

    assert kept(thread) == []
    after = ingest.said(event)
    assert after is not None
    assert after["text"] == text("ja", "notice", "forgotten")
    assert not after.get("cardsV2")


def test_an_add_on_s_button_calls_our_url(ingest: Ingest) -> None:
    event = forget("add-on", new_thread(), "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None

    assert button_of(said)["function"] == "https://example.com/ingest"


def test_where_clicks_may_not_arrive_there_is_no_button(ingest: Ingest, shape: str) -> None:
    event = forget(shape, new_thread(), "")
    ingest.over_pubsub(event)
    said = ingest.said(event)

    assert said is not None
    assert "/forget" in said["text"]
    assert not said.get("cardsV2")


@pytest.mark.parametrize("other", ["spaces/AAAAsalestyo/threads/T", "spaces/AAAAsalestyo", "", f"{GROUP}x"])
def test_a_button_forgets_nothing_of_another_space(
    ingest: Ingest, remember: Any, firestore: Any, shape: str, other: str
) -> None:
    event = forget(shape, new_thread(), "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None
    clicked = click(shape, said, conversation=other)

    ingest.over_https(clicked)

    recorded = [each.to_dict()["name"] for each in firestore.collection(FORGOTTEN).stream()]
    assert other not in recorded
    told = ingest.said(clicked)
    assert told is not None
    assert told["text"] == text("ja", "notice", "old_button")


def test_when_it_cannot_be_forgotten_nobody_is_told_that_it_was(
    small_cloud: SmallCloud, remember: Any, kept: Any, faults: Any, shape: str, transport: str
) -> None:
    ingest = Ingest(small_cloud)
    ingest.door.seconds = 2
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread)
    faults.switch_on("firestore-down")

    assert ingest.by(transport)(event)[1] == 503

    faults.switch_off()
    assert ingest.said(event) is None
    ingest.door.seconds = 25
    assert ingest.by(transport)(event) == ({}, 200)
    assert kept(thread) == []


def test_more_than_one_commit_can_delete_is_forgotten(ingest: Ingest, firestore: Any, kept: Any) -> None:
    thread = new_thread()
    batch = firestore.batch()
    for number in range(400):
        document = firestore.collection(FEEDBACK).document(f"many-{thread.split('/')[-1]}-{number}")
        batch.set(document, {"conversation": thread, "space": GROUP, "question_id": f"{thread}{number}"})
    batch.commit()

    ingest.over_https(forget("classic", thread))

    assert kept(thread) == []
