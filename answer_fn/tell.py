"""`tell`: takes dead letters, keeps each as a case, and tells the asker in the question's own message."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from answer_fn.compose import Source
from answer_fn.deliver import deliver, mark_case
from answer_fn.reply import contents_of, noted, with_contact
from answer_fn.settings import Settings
from shared.chat.message import Chat, open_chat
from shared.language.catalogue import text
from shared.memory.cases import Cases
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.firestore import Fields
from shared.memory.records import Records
from shared.messages.dead_letter import DeadLetter, reference
from shared.messages.ending import APOLOGY, origin
from shared.messages.envelope import Context, Envelope, Language, Question
from shared.pipeline import step
from shared.runtime import clients, logs
from shared.runtime.cloudevent import is_whole
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, classify, in_one_line
from shared.runtime.once import Once

STEP = "tell"
#: Seconds for writing the apology: shorter than its lease (APOLOGY_LEASE in shared/memory/records.py).
WAIT_FOR_APOLOGY = 9.0
#: Seconds for reading why the step failed: the case is worth keeping without it.
WAIT_FOR_FAILURE = 5.0
#: More sources than this are no help.
MOST_SOURCES = 3
DONE, AGAIN = ("", 204), ("", 503)


@dataclass(frozen=True)
class Services:
    """What telling asks of the world."""

    cases: Cases
    failures: Failures
    records: Records
    chat: Chat
    conversations: Conversations
    contact: str | None


def open_services(settings: Settings) -> Services:
    """Make the clients; called once, on the first message."""
    firestore = clients.firestore(settings.google_cloud_project, settings.firestore_database)
    return Services(
        cases=Cases(firestore),
        failures=Failures(firestore),
        records=Records(firestore, settings.history_hours),
        chat=open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second),
        conversations=Conversations(firestore, settings.history_hours),
        contact=settings.human_contact,
    )


@dataclass
class Teller:
    """Receives the dead-letter topic's pushes: 503 only for trouble that passes, so that nothing loops.

    `seconds` is for all of it: a push that is not answered in time comes again. `spoken` are the languages
    that the bot speaks (None: all).
    """

    services: Callable[[], Services]
    seconds: float = field(default_factory=lambda: step(STEP).seconds.step)
    spoken: tuple[Language, ...] | None = None

    def __post_init__(self) -> None:
        self._made = Once(self.services)

    @property
    def _services(self) -> Services:
        return self._made()

    def receive(self, headers: Mapping[str, str], body: bytes) -> tuple[str, int]:
        """Handle one dead letter; no exception leaves this method."""
        if not is_whole(headers, body):
            logs.warning("Cut off on the way; it will be delivered again", step=STEP)
            return AGAIN
        letter = DeadLetter.from_push(headers, body, self.spoken)
        deadline = Deadline(self.seconds)
        trace = letter.attributes.get("traceparent", "")
        with logs.context(step=STEP, question=letter.question.id if letter.question else "", trace=trace):
            try:
                kept = keep(letter, self._services, deadline)
            except Exception as error:
                logs.error("NOT KEPT; it comes again", error=in_one_line(error), frames=logs.frames(error))
                return AGAIN
            try:
                if kept:
                    tell(letter, self._services, deadline)
            except Exception as error:
                return self._fail(error)
        return DONE

    def _fail(self, error: Exception) -> tuple[str, int]:
        trouble = classify(error, "")
        logs.error("The asker is not told", error=str(trouble), frames=logs.frames(error))
        return DONE if isinstance(trouble, Permanent) else AGAIN


def keep(letter: DeadLetter, services: Services, deadline: Deadline) -> bool:
    """Keep the letter as a case; False when its question is to be forgotten.

    Raises Permanent or Transient; then it must not be acknowledged.
    """
    case = services.cases.store(letter, _failure(letter, services, deadline), deadline)
    if case is None:
        logs.info("Not kept: the bot was told to forget it")
        return False
    logs.error(
        "Dead letter kept", reason=case.get("reason"), failed=case.get("step"), copies=case.get("copies")
    )
    return True


def tell(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Say sorry, once, unless the question was answered after all. Raises Permanent or Transient."""
    if letter.question is None:
        logs.error("It names no question, so there is nobody to tell")
        return
    # Of an event that could not be taken nothing is known but the question.
    sent = letter.envelope or Envelope(trace="-", question=letter.question)
    if _apologise(sent, services, deadline):
        services.cases.mark_told(letter, deadline)


def apology(sent: Envelope, contact: str | None) -> Fields:
    """The final message that says sorry, with whom to ask and the sources that had been found."""
    question = sent.question
    said = text(question.language, "apology", "text", reference=reference(question.id))
    said = with_contact(said, question, contact)
    sources = _sources(sent.contexts or ())
    if sources:
        said += "\n\n" + text(question.language, "apology", "sources")
    return {
        **origin(sent),
        "kind": APOLOGY,
        "answered": False,
        "text": said,
        "more": [],
        "plain": said,
        "search_query": question.text,
        "sources": noted(sources),
    }


def _apologise(sent: Envelope, services: Services, deadline: Deadline) -> bool:
    """Write the apology under its lease; False when there is nothing to apologise for (any more)."""
    question, final = sent.question, apology(sent, services.contact)
    lease = services.records.lease_for_apology(question.id, final, deadline)
    if lease is None:
        _finish(sent, services, deadline)
        return False
    with services.records.writing(
        question.id, lease, deadline.within(WAIT_FOR_APOLOGY), apology=True
    ) as until:
        # When it was asked again, the message may still show the answer of before.
        if not sent.again and (said := _answer_in_chat(question, services, until)):
            logs.warning("Answered, though the answer is not noted; left as it is, and remembered")
            _remember(question, said, services, until)
            return False
        [content] = contents_of(final, question)
        services.chat.put_final(question, content, until)
    return True


def _finish(sent: Envelope, services: Services, deadline: Deadline) -> None:
    """There is an answer, or the asker has been told. An answer whose process died is delivered now."""
    question = sent.question
    settled = services.records.settled(question.id, deadline)
    if settled is None or settled.final["kind"] == APOLOGY:
        logs.info("Told already")
        return
    if settled.posted:
        logs.info("Answered already")
        mark_case(question, services, deadline)
        return
    logs.warning("Answered, but not posted or not remembered; doing it now")
    deliver(question, replace(settled, apologised=True), services, deadline)


def _answer_in_chat(question: Question, services: Services, deadline: Deadline) -> str:
    """The answer that stands in Chat and could not be noted, because Firestore was down just then, or ""."""
    said = services.chat.said(question, deadline)
    return "" if reference(question.id) in said else said


def _remember(question: Question, said: str, services: Services, deadline: Deadline) -> None:
    """Save the turn of an answer whose process died after posting it. Raises Permanent or Transient."""
    if not any(text(question.language, "answer", key) in said for key in ("not_found", "courtesy")):
        answer, _, _hint = said.partition("\n\n_")
        services.conversations.save_turn(question, answer, deadline, search_query=question.text, sources=[])
    mark_case(question, services, deadline)


def _failure(letter: DeadLetter, services: Services, deadline: Deadline) -> Fields | None:
    if letter.step is None:
        return None
    try:
        return services.failures.find(letter.question_id, letter.step, deadline.within(WAIT_FOR_FAILURE))
    except Exception as error:
        logs.warning("The failure record cannot be read", error=in_one_line(error))
        return None


def _sources(contexts: tuple[Context, ...]) -> list[Source]:
    best = {context.uri: context for context in reversed(contexts)}  # of each document, the first
    ranked = sorted(best.values(), key=contexts.index)[:MOST_SOURCES]
    return [
        Source(context.id, number, context.title, context.link, context.text)
        for number, context in enumerate(ranked, start=1)
    ]
