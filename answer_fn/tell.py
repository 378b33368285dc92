"""`tell`: takes dead letters, keeps each as a case, and tells the asker in the question's own message."""

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
#: Seconds for reading why the step failed: the case is worth keeping without it.
WAIT_FOR_FAILURE = 5.0
#: More sources than this are no help.
MOST_SOURCES = 3


@dataclass(frozen=True)
class Services:
    """What telling asks of the world."""

    firestore: Any
    cases: Cases
    failures: Failures
    records: Records
    chat: Chat
    display: Display
    contact: str | None


class Teller(Receiver[DeadLetter, Services]):
    """Receives the dead-letter topic's pushes: 503 only for trouble that passes, so that nothing loops.

    `seconds` is for all of it (None: what the table of the pipeline says). `spoken` are the languages that
    the bot speaks (None: all that there are catalogues for).
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
        """The question and the trace, as far as the letter tells."""
        question, trace = message.question, message.attributes.get("traceparent", "")
        return {"question": question.id if question else "", "trace": trace}

    def question(self, message: DeadLetter | None, body: bytes) -> Question | str | None:
        """The question, its id, or what stands for it."""
        return (message.question or message.question_id) if message else question_id_in(body)

    def work(self, message: DeadLetter, _headers: Headers, deadline: Deadline) -> None:
        """Keep the letter, then tell the asker."""
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
        """The letter is kept; its asker can never be told, and to come again would not help."""
        logs.error("The asker is not told", error=str(trouble))


def _keep(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Keep a letter. What cannot be kept must come again, whatever the reason: raises Transient."""
    try:
        keep(letter, services, deadline)
    except Exception as error:
        raise Transient("not_kept", in_one_line(error)) from error


def keep(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Keep the letter as a case, unless its question is to be forgotten.

    Raises Permanent or Transient; then it must not be acknowledged.
    """
    case = services.cases.store(letter, _failure(letter, services, deadline), deadline)
    if case is None:
        logs.info("Not kept: the bot was told to forget it")
        return
    logs.error(
        "Dead letter kept", reason=case.get("reason"), failed=case.get("step"), copies=case.get("copies")
    )


def tell(letter: DeadLetter, services: Services, deadline: Deadline) -> None:
    """Say sorry, unless the question was answered after all. Raises Permanent or Transient."""
    if letter.question is None:
        logs.error("It names no question, so there is nobody to tell")
        return
    # Of an event that could not be understood only the question is known.
    sent = letter.envelope or Envelope(trace="-", question=letter.question)
    standing = services.records.end(sent.question, apology(sent, services.contact), deadline)
    deliver(sent.question, standing, services, deadline)
    if standing.ending is not None and standing.ending.kind == APOLOGY:
        services.cases.mark_told(letter, deadline)


def apology(sent: Envelope, contact: str | None) -> Ending:
    """The final message that says sorry, with whom to ask and the sources that had been found."""
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
    best = {context.uri: context for context in reversed(contexts)}  # of each document, the first
    ranked = sorted(best.values(), key=contexts.index)[:MOST_SOURCES]
    return [
        Source(id=context.id, number=number, title=context.title, link=context.link, quote=context.text)
        for number, context in enumerate(ranked, start=1)
    ]
