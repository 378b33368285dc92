"""Builds the ending of a question: the answer with its sources, a question back, or a fallback."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from answer_fn.blocks import Block, plain
from answer_fn.compose import Clarification, Composed
from answer_fn.parts import parts_of
from shared.chat.api import Content
from shared.chat.cards import shortened
from shared.chat.endings import quote_of
from shared.chat.sanitise import words
from shared.language.catalogue import text
from shared.language.follow_ups import is_only_polite
from shared.messages.ending import ANSWER, CLARIFICATION, COURTESY, FALLBACK, Ending, Source, origin
from shared.messages.envelope import Envelope, Question

#: After this time the asker may have forgotten which question an answer belongs to.
LATE = timedelta(minutes=10)
LONGEST_QUOTE = 200


def ending_of(
    composed: Composed | Clarification | None,
    envelope: Envelope,
    hours: float,
    contact: str | None,
    model: str | None = None,
) -> Ending:
    """The ending to record. Everyone who posts it later posts the same text.

    `contact` is whom to ask if the knowledge base has no answer. `model` is the model that answered.
    """
    question = envelope.question
    if is_only_polite(envelope):
        said = text(question.language, "answer", "courtesy")
        return _ending(COURTESY, [*_late_blocks(envelope), Block((said,))], said, envelope)
    if composed is None:
        said = with_contact(text(question.language, "answer", "not_found"), question, contact)
        return _ending(FALLBACK, [*_late_blocks(envelope), Block((said,))], said, envelope)
    if isinstance(composed, Clarification):
        asked = composed.blocks or (Block((text(question.language, "answer", "which"),)),)
        said = Clarification(asked).text
        return _ending(CLARIFICATION, [*_late_blocks(envelope), *asked], said, envelope, model=model)
    answer = [*composed.blocks, *_missing_blocks(composed, question)]
    blocks = [*_late_blocks(envelope), *answer]
    if not _answered_before(envelope):
        blocks.append(Block((f"_{_hint(envelope, hours)}_",)))
    said = "\n\n".join(block.text for block in answer)
    return _ending(ANSWER, blocks, said, envelope, sources=composed.sources, model=model)


def _ending(
    kind: str,
    blocks: list[Block],
    plain: str,
    envelope: Envelope,
    *,
    sources: tuple[Source, ...] = (),
    model: str | None = None,
) -> Ending:
    shown = parts_of(blocks, text(envelope.question.language, "answer", "shortened"))
    return Ending(
        **origin(envelope),
        kind=kind,
        answered=kind == ANSWER,
        text=shown[0],
        more=shown[1:],
        plain=plain,
        search_query=envelope.search_query or envelope.question.text,
        sources=quoted(sources),
        model=model,
    )


def _missing_blocks(composed: Composed, question: Question) -> list[Block]:
    """The sentence in a partial answer about the missing part."""
    if not composed.partly:
        return []
    key = "partly" if composed.missing else "partly_only"
    return [Block((text(question.language, "answer", key, missing=composed.missing),))]


def with_contact(said: str, question: Question, contact: str | None) -> str:
    """A text of the bot that does not help, followed by the person or place to ask, if there is one."""
    return f"{said}\n\n{text(question.language, 'answer', 'contact', contact=contact)}" if contact else said


def quoted(sources: Iterable[Source]) -> list[Source]:
    """Sources as they are stored: only the beginning of the passage, in one line."""
    return [source.model_copy(update={"quote": quote_of(source.quote)}) for source in sources]


def is_late(since: datetime) -> bool:
    """Whether the asker has waited so long that the answer must repeat the question."""
    return datetime.now(UTC) - since > LATE


def pointer_of(question: Question) -> Content:
    """A separate message that points to a late answer, because Chat may not notify people of an update."""
    quote = words(_quoted(question), set())
    return Content(f"↑ {text(question.language, 'answer', 'pointer', question=quote)}")


def _late_blocks(envelope: Envelope) -> list[Block]:
    question = envelope.question
    if not is_late(envelope.since):
        return []
    asked = f"{question.asked_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    said = text(question.language, "answer", "late", time=asked)
    return [Block((f"{said}\n{plain(_quoted(question), prefix='> ').text}",), leads=True)]


def _quoted(question: Question) -> str:
    return shortened(" ".join(question.text.split()), LONGEST_QUOTE)


def _answered_before(envelope: Envelope) -> bool:
    return any(turn.role == "assistant" for turn in envelope.history)


def _hint(envelope: Envelope, hours: float) -> str:
    key = "hint" if envelope.question.thread else "hint_direct"
    return text(envelope.question.language, "answer", key, hours=f"{hours:g}")
