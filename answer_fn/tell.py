"""`tell`: takes dead letters, keeps each as a case, and tells the asker in the question's own message."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from answer_fn.deliver import deliver, mark_case
from answer_fn.reply import contents_of, quoted, with_contact
from shared.chat.letters import letter_from_push
from shared.chat.message import Chat
from shared.language.catalogue import text
from shared.memory.cases import Cases
from shared.memory.conversations import Conversations
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
#: Seconds for writing the apology: shorter than its lease (APOLOGY_LEASE in shared/memory/records.py).
WAIT_FOR_APOLOGY = 9.0
#: Seconds for reading why the step failed: the case is worth keeping without it.
WAIT_FOR_FAILURE = 5.0
#: More sources than this are no help.
MOST_SOURCES = 3


@dataclass(frozen=True)
class Services:
    """What telling asks of the world."""

    cases: Cases
    failures: Failures
    records: Records
    chat: Chat
    conversations: Conversations
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

    def question_id(self, message: DeadLetter | None, body: bytes) -> str | None:
        """The question's id, or what stands for it."""
        return message.question_id if message else question_id_in(body)

    def work(self, message: DeadLetter, _headers: Headers, deadline: Deadline) -> None:
        """Keep the letter, then tell the asker."""
        if _kept(message, self.services, deadline):
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


def _kept(letter: DeadLetter, services: Services, deadline: Deadline) -> bool:
    """Keep a letter. What cannot be kept must come again, whatever the reason: raises Transient."""
    try:
        return keep(letter, services, deadline)
    except Exception as error:
        raise Transient("not_kept", in_one_line(error)) from error


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


def _apologise(sent: Envelope, services: Services, deadline: Deadline) -> bool:
    """Write the apology under its lease; False when there is nothing to apologise for (any more)."""
    question, ending = sent.question, apology(sent, services.contact)
    lease = services.records.lease_for_apology(question.id, ending, deadline)
    if lease is None:
        _finish(sent, services, deadline)
        return False
    with services.records.writing(
        question.id, lease, deadline.within(WAIT_FOR_APOLOGY), apology=True
    ) as until:
        # When it was asked again, the message may still show the answer of before.
        if not sent.answer_number and (said := _answer_in_chat(question, services, until)):
            logs.warning("Answered, though the answer is not noted; left as it is, and remembered")
            _remember(question, said, services, until)
            return False
        [content] = contents_of(ending, question)
        services.chat.put_final(question, content, until)
    return True


def _finish(sent: Envelope, services: Services, deadline: Deadline) -> None:
    """There is an answer, or the asker has been told. An answer whose process died is delivered now."""
    question = sent.question
    settled = services.records.settled(question.id, deadline)
    if settled is None or settled.ending.kind == APOLOGY:
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
        Source(id=context.id, number=number, title=context.title, link=context.link, quote=context.text)
        for number, context in enumerate(ranked, start=1)
    ]
