"""`tell`: takes dead letters, stores each as a case, and tells the asker in the question's own message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from answer_fn.deliver import deliver
from answer_fn.reply import quoted, with_contact
from shared.chat.display import Display
from shared.chat.letters import letter_from_push
from shared.chat.message import Chat
from shared.language.catalogue import text
from shared.memory.cases import Cases
from shared.memory.failures import Failures
from shared.memory.firestore import Fields
from shared.memory.records import Records
from shared.messages.dead_letter import DeadLetter, question_id_in, reference
from shared.messages.ending import APOLOGY, Ending, Source, origin
from shared.messages.envelope import Context, Envelope, Language, Question
from shared.pipeline import step
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, Transient, in_one_line
from shared.runtime.receiver import Headers, Receiver

STEP = "tell"
#: Seconds for reading why the step failed. The case is stored without it if that takes longer.
WAIT_FOR_FAILURE = 5.0
#: Most sources in an apology.
MOST_SOURCES = 3


@dataclass(frozen=True)
class Services:
    """What `tell` needs from outside."""

    firestore: Any
    cases: Cases
    failures: Failures
    records: Records
    chat: Chat
    display: Display
    contact: str | None


class Teller(Receiver[DeadLetter, Services]):
    """Receives the pushes of the dead-letter topic. Replies 503 only for temporary errors, so no push loops.

    `seconds` is the deadline (None: the one in the table of the pipeline). `spoken` are the languages that
    the bot speaks (None: all that have a catalogue).
    """

    def __init__(
        self,
        services: Callable[[], Services],
        seconds: float | None = None,
        spoken: tuple[Language, ...] | None = None,
    ) -> None:
        super().__init__(STEP, seconds or step(STEP).seconds.step, services)
        self._spoken = spoken

    def open(self, headers: Headers, body: bytes) -> DeadLetter:
        """Read the letter. Never fails."""
        return letter_from_push(headers, body, self._spoken)

    def about(self, message: DeadLetter) -> dict[str, str]:
        """The question and the trace, if the letter has them."""
        question, trace = message.question, message.attributes.get("traceparent", "")
        return {"question": question.id if question else "", "trace": trace}

    def question(self, message: DeadLetter | None, body: bytes) -> Question | str | None:
        """The question, its id, or an id in its place."""
        return (message.question or message.question_id) if message else question_id_in(body)

    def work(self, message: DeadLetter, _headers: Headers, deadline: Deadline) -> None:
        """Store the letter, then tell the asker."""
        _keep(message, self.services, deadline)
        tell(message, self.services, deadline)

    def park(
        self,
        _message: DeadLetter | None,
        _headers: Headers,
        _body: bytes,
        trouble: StepError,
        _deadline: Deadline,
    ) -> None:
        """Only log it: the letter is stored, and another delivery would not help to tell the asker."""
        logs.error("The asker is not told", error=str(trouble))


def _keep(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Store a letter. Raises Transient for any error, because the letter must then be delivered again."""
    try:
        keep(letter, services, deadline)
    except Exception as error:
        raise Transient("not_kept", in_one_line(error)) from error


def keep(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Store the letter as a case, unless the bot must forget its question.

    Raises Permanent or Transient. Then the letter must not be acknowledged.
    """
    case = services.cases.store(letter, _failure(letter, services, deadline), deadline)
    if case is None:
        logs.info("Not stored: the bot was told to forget it")
        return
    logs.error(
        "Dead letter kept", reason=case.get("reason"), failed=case.get("step"), copies=case.get("copies")
    )


def tell(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Apologise to the asker, unless the question has an answer by now. Raises Permanent or Transient."""
    if letter.question is None:
        logs.error("The letter names no question, so there is nobody to tell")
        return
    # An event of Chat, or an unreadable envelope, gives only the question.
    sent = letter.envelope or Envelope(trace="-", question=letter.question)
    try:
        standing = services.records.end(sent.question, apology(sent, services.contact), deadline)
    except Exception as error:  # until this is recorded, its case may stay open beside an answer
        raise Transient("not_kept", in_one_line(error)) from error
    deliver(sent.question, standing, services, deadline)
    if standing.ending is not None and standing.ending.kind == APOLOGY:
        services.cases.mark_told(letter, deadline)


def apology(sent: Envelope, contact: str | None) -> Ending:
    """The apology, with whom to ask and with the sources that had been found."""
    question = sent.question
    said = text(question.language, "apology", "text", reference=reference(question.id))
    said = with_contact(said, question, contact)
    sources = _sources(sent.contexts or ())
    if sources:
        said += "\n\n" + text(question.language, "apology", "sources")
    return Ending(
        **origin(sent),
        kind=APOLOGY,
        answered=False,
        text=said,
        plain=said,
        search_query=question.text,
        sources=quoted(sources),
    )


def _failure(letter: DeadLetter, services: Services, deadline: Deadline) -> Fields | None:
    if letter.step is None:
        return None
    try:
        return services.failures.find(letter.question_id, letter.step, deadline.within(WAIT_FOR_FAILURE))
    except Exception as error:
        logs.warning("The failure record cannot be read", error=in_one_line(error))
        return None


def _sources(contexts: tuple[Context, ...]) -> list[Source]:
    best = {context.uri: context for context in reversed(contexts)}  # the first passage of each document
    ranked = sorted(best.values(), key=contexts.index)[:MOST_SOURCES]
    return [Source.of(context, number) for number, context in enumerate(ranked, start=1)]
