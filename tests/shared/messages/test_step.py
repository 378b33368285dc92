"""The Step decides the fate of a message; each test is one fate."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from shared.chat.cards import progress
from shared.chat.display import Display
from shared.chat.message import Chat, Content, message_id
from shared.language.catalogue import text
from shared.memory.failures import COLLECTION, Failures
from shared.memory.records import Records
from shared.messages.dead_letter import unknown_id
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.messages.step import Step
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from shared.runtime.outbox import Outbox
from tests.conftest import SmallCloud
from tests.support.factories import ending, envelope, push
from tests.support.loopback import http


@dataclass(frozen=True)
class Services:
    """Real ones, on the stand-ins."""

    outbox: Outbox
    failures: Failures
    display: Display


def passes_on(sent: Envelope, services: Services, deadline: Deadline) -> Envelope:
    return sent.model_copy(update={"search_query": "found"})


def failure(firestore: Any, sent: Envelope) -> dict[str, Any]:
    """What is recorded of the failed attempts of `reformulate`."""
    name = f"{document_id(sent.question.id)}.reformulate"
    return dict(firestore.collection(COLLECTION).document(name).get().to_dict())


def raises(error: Exception) -> Any:
    def work(sent: Envelope, services: Services, deadline: Deadline) -> Envelope:
        raise error

    return work


@pytest.fixture
def make_step(outbox: Outbox, firestore: Any, chat: Chat) -> Any:
    display = Display(chat, Records(firestore, 24))

    def make(work: Any, **options: Any) -> Step[Services]:
        settings: dict[str, Any] = {
            "name": "reformulate",
            "stage": "understanding",
            "seconds": 25,
            "services": lambda: Services(outbox, Failures(firestore), display),
            "dead_letter_topic": "dead-letters",
            "publishes_to": "queries",
        }
        return Step(work=work, **{**settings, **options})

    return make


def test_the_follow_up_is_published_and_the_message_acknowledged(make_step: Any, inbox: Any) -> None:
    queries = inbox("queries")
    sent = envelope()

    assert make_step(passes_on).receive(*push(sent)) == ("", 204)
    [published] = queries.messages()
    assert Envelope.from_bytes(published.data).search_query == "found"
    assert published.attributes["ce-source"] == "//threadwise/reformulate"


def test_a_follow_up_tells_the_replay_it_belongs_to_and_the_way_so_far(make_step: Any, inbox: Any) -> None:
    queries = inbox("queries")
    headers, body = push(envelope())
    replayed = {"Replay-Count": "2", "Replay-Name": "after-the-fix", "Way": "ingest@1764500581+0.2"}

    make_step(passes_on).receive({**headers, **replayed}, body)

    [published] = queries.messages()
    assert published.attributes["replay-count"] == "2"
    assert published.attributes["replay-name"] == "after-the-fix"
    assert published.attributes["way"].startswith("ingest@1764500581+0.2 reformulate@")


def test_what_names_no_question_leaves_a_failure_record_too(make_step: Any, firestore: Any) -> None:
    body = b"not an envelope at all"

    assert make_step(passes_on).receive({"Content-Type": "text/plain"}, body) == ("", 204)

    [record] = [
        one.to_dict()
        for one in firestore.collection(COLLECTION).stream()
        if one.id.startswith(unknown_id(body))
    ]
    assert record["reason"] == "not_a_cloudevent"


def test_a_message_that_was_cut_off_comes_again_with_its_reason_recorded_and_is_no_dead_letter(
    make_step: Any, inbox: Any, firestore: Any
) -> None:
    letters = inbox("dead-letters")
    sent = envelope()
    headers, body = push(sent)
    cut = {**headers, "Content-Length": str(len(body))}

    assert make_step(passes_on).receive(cut, body[:300]) == ("", 503)
    assert make_step(passes_on).receive(cut, b"") == ("", 503)
    assert letters.is_empty()
    assert failure(firestore, sent)["reason"] == "cut_off"


def test_a_redelivered_message_yields_the_same_follow_up_id(make_step: Any, inbox: Any) -> None:
    queries = inbox("queries")
    sent = push(envelope())
    step = make_step(passes_on)

    step.receive(*sent)
    step.receive(*sent)

    first, second = queries.messages(2)
    assert first.attributes["ce-id"] == second.attributes["ce-id"]


def test_it_is_not_acknowledged_before_the_follow_up_is_stored(
    make_step: Any, inbox: Any, faults: Any
) -> None:
    faults.switch_on("pubsub-down")

    assert make_step(passes_on, seconds=0.5).receive(*push(envelope())) == ("", 503)


def test_a_permanent_failure_is_parked_with_its_reason_and_acknowledged(make_step: Any, inbox: Any) -> None:
    dead_letters = inbox("dead-letters")
    headers, body = push(envelope())

    answer = make_step(raises(Permanent("gemini_blocked", "SAFETY"))).receive(headers, body)

    [parked] = dead_letters.messages()
    assert answer == ("", 204)
    assert parked.data == body
    assert parked.attributes["ce-id"] == headers["Ce-Id"]
    assert parked.attributes["dead-letter-step"] == "reformulate"
    assert parked.attributes["dead-letter-reason"] == "gemini_blocked"


def test_a_permanent_failure_that_cannot_be_parked_comes_again(make_step: Any, faults: Any) -> None:
    faults.switch_on("pubsub-down")

    assert make_step(raises(Permanent("gemini_blocked")), seconds=0.5).receive(*push(envelope())) == ("", 503)


def test_a_transient_failure_comes_again_and_is_not_parked(make_step: Any, inbox: Any) -> None:
    dead_letters = inbox("dead-letters")

    assert make_step(raises(Transient("rag_unavailable"))).receive(*push(envelope())) == ("", 503)
    assert dead_letters.is_empty()


def test_every_failed_attempt_is_counted_with_its_error_and_place(make_step: Any, firestore: Any) -> None:
    sent = envelope()
    step = make_step(raises(Transient("rag_unavailable", "503 ServiceUnavailable")))

    step.receive(*push(sent))
    step.receive(*push(sent))

    record = firestore.document(f"{COLLECTION}/{document_id(sent.question.id)}.reformulate").get().to_dict()
    assert record["count"] == 2
    assert record["reason"] == "rag_unavailable"
    assert record["error"] == "rag_unavailable: 503 ServiceUnavailable"
    assert any("test_step.py" in frame for frame in record["stack"])
    assert record["first_at"] <= record["last_at"] < record["expired_at"]


def test_a_failure_that_cannot_be_recorded_is_still_a_failure(make_step: Any, faults: Any) -> None:
    faults.switch_on("firestore-down")

    assert make_step(raises(Transient("rag_unavailable"))).receive(*push(envelope())) == ("", 503)


@pytest.mark.parametrize("body", [b"", b"not json", b'{"version": 1}', b"\xff"])
def test_what_cannot_be_opened_is_parked_as_it_is(make_step: Any, inbox: Any, body: bytes) -> None:
    dead_letters = inbox("dead-letters")

    answer = make_step(passes_on).receive({"User-Agent": "APIs-Google"}, body)

    [parked] = dead_letters.messages()
    assert answer == ("", 204)
    assert parked.data == body
    assert parked.attributes["dead-letter-reason"] == "not_a_cloudevent"


def test_a_newer_envelope_waits_for_its_deployment_with_its_reason_recorded(
    make_step: Any, inbox: Any, firestore: Any
) -> None:
    dead_letters = inbox("dead-letters")
    sent = envelope()
    headers, body = push(sent)
    newer = json.dumps({**json.loads(body), "version": 99}).encode()

    assert make_step(passes_on).receive(headers, newer) == ("", 503)
    assert dead_letters.is_empty()
    assert failure(firestore, sent)["reason"] == "envelope_newer"


def test_no_exception_leaves_the_step_and_none_of_its_words_is_logged(
    make_step: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = make_step(raises(ValueError("the password is hunter2"))).receive(*push(envelope()))

    assert answer == ("", 503)
    assert "hunter2" not in "".join(capfd.readouterr())


def test_services_that_cannot_be_made_are_a_transient_failure(make_step: Any) -> None:
    def broken() -> Services:
        raise OSError("no credentials")

    assert make_step(passes_on, services=broken).receive(*push(envelope())) == ("", 503)


def test_what_comes_afterwards_runs_after_publishing_and_again_when_it_fails(
    make_step: Any, inbox: Any
) -> None:
    queries = inbox("queries")
    seen: list[bool] = []

    def afterwards(
        sent: Envelope, services: Services, deadline: Deadline, times: Mapping[str, float]
    ) -> None:
        seen.append(bool(queries.messages()) and list(times) == ["reformulate"])
        raise TimeoutError("the card is slow")

    assert make_step(passes_on, afterwards=afterwards).receive(*push(envelope())) == ("", 503)
    assert seen == [True]


def test_the_work_leaves_time_for_publishing(make_step: Any) -> None:
    left: list[float] = []

    def work(sent: Envelope, services: Services, deadline: Deadline) -> None:
        left.append(deadline.remaining)

    make_step(work, seconds=20).receive(*push(envelope()))

    assert 4 < left[0] <= 5


@pytest.fixture
def shown(small_cloud: SmallCloud) -> Any:
    """The question's message as JSON text."""

    def read(asked: Question) -> str:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return http.get(f"{small_cloud.places.url}/v1/{name}").text

    return read


def test_a_step_that_will_be_tried_again_says_so(
    make_step: Any, chat: Chat, asked: Question, shown: Any
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))

    make_step(raises(Transient("rag_unavailable"))).receive(*push(envelope(question=asked)))

    assert text("en", "progress", "trying_again") in shown(asked)


def test_a_step_that_takes_long_says_so_while_it_is_running(
    make_step: Any, chat: Chat, asked: Question, shown: Any
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    seen: list[str] = []

    def work(sent: Envelope, services: Services, deadline: Deadline) -> None:
        until = time.monotonic() + 5
        while time.monotonic() < until and text("en", "progress", "still_working") not in shown(asked):
            time.sleep(0.02)
        seen.append(shown(asked))

    make_step(work, slow_after=0.1).receive(*push(envelope(question=asked)))

    assert text("en", "progress", "still_working") in seen[0]


def test_neither_is_said_any_more_once_there_is_an_answer(
    make_step: Any, chat: Chat, asked: Question, shown: Any, firestore: Any
) -> None:
    Records(firestore, 24).end(asked, ending("answer", "Done."), Deadline(5))
    chat.put_final(asked, Content("Done."), Deadline(5))

    make_step(raises(Transient("rag_unavailable"))).receive(*push(envelope(question=asked)))

    assert "Done." in shown(asked)
    assert text("en", "progress", "trying_again") not in shown(asked)
