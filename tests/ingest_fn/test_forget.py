"""Forgetting: after `/forget yes`, or when the bot is removed, nothing that was written is kept anywhere."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingest_fn.forget import AUDIT
from ops.audit import Audit
from shared.language.catalogue import text
from shared.memory import cases, failures, records
from shared.memory.cases import Cases
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.memory.records import Records
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from tests.support import remembering
from tests.support.factories import ending
from tests.support.forgetting import KEPT_IN, asked_in, forget, letter_of, new_thread, numbers
from tests.support.golden_events import golden
from tests.support.ingest_side import BENS_DM, GROUP, Ingest, anew

pytest_plugins = ["tests.support.event_fixtures", "tests.support.forget_fixtures"]


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
    space = f"spaces/Left{next(numbers)}"
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


def test_more_than_one_commit_can_delete_is_forgotten(ingest: Ingest, firestore: Any, kept: Any) -> None:
    thread = new_thread()
    batch = firestore.batch()
    for number in range(400):
        document = firestore.collection(FEEDBACK).document(f"many-{thread.split('/')[-1]}-{number}")
        batch.set(document, {"conversation": thread, "space": GROUP, "question_id": f"{thread}{number}"})
    batch.commit()

    ingest.over_https(forget("classic", thread))

    assert kept(thread) == []
