"""What the final message shows: the answer with its sources, or an honest fallback."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from answer_fn.blocks import Block, plain
from answer_fn.card import last_of, quote_of
from answer_fn.compose import Composed, Source
from answer_fn.parts import parts_of
from answer_fn.sanitise import words
from shared.cards import shortened
from shared.chat_api import Content
from shared.envelope import Envelope, Question
from shared.final import ANSWER, FALLBACK, origin
from shared.firestore import Fields
from shared.texts import text

#: After this time the asker may not know any more which question an answer belongs to.
LATE = timedelta(minutes=10)
LONGEST_QUOTE = 200


def final_of(
    composed: Composed | None,
    envelope: Envelope,
    hours: float,
    contact: str | None,
    model: str | None = None,
) -> Fields:
    """The final message as it is noted in the question's record, so that a redelivery posts the same.

    `contact` is whom to ask where the knowledge base has no answer; `model` has answered.
    """
    question = envelope.question
    query = envelope.search_query or question.text
    if composed is None:
        said = with_contact(text(question.language, "answer", "not_found"), question, contact)
        return {
            **origin(envelope),
            "kind": FALLBACK,
            "answered": False,
            "text": "\n\n".join(block.text for block in [*_late_blocks(envelope), Block((said,))]),
            "more": [],
            "plain": said,
            "search_query": query,
            "sources": [],
        }
    blocks = [*_late_blocks(envelope), *composed.blocks]
    if not _answered_before(envelope):
        blocks.append(Block((f"_{_hint(envelope, hours)}_",)))
    shown = parts_of(blocks, text(question.language, "answer", "shortened"))
    return {
        **origin(envelope),
        "kind": ANSWER,
        "answered": True,
        "text": shown[0],
        "more": shown[1:],
        "plain": composed.text,
        "search_query": query,
        "sources": noted(composed.sources),
        "model": model,
    }


def with_contact(said: str, question: Question, contact: str | None) -> str:
    """What is said where the bot is of no help, with the person or place that is, if there is one."""
    return f"{said}\n\n{text(question.language, 'answer', 'contact', contact=contact)}" if contact else said


def noted(sources: Iterable[Source]) -> list[Fields]:
    """Sources as a record holds them."""
    return [{**vars(source), "quote": quote_of(source.quote)} for source in sources]


def is_late(since: datetime) -> bool:
    """Whether somebody has waited so long for the answer that it has to say what it answers."""
    return datetime.now(UTC) - since > LATE


def contents_of(final: Fields, question: Question) -> list[Content]:
    """The Chat messages of a noted final message; the sources and the buttons are under the last."""
    parts: list[str] = [final["text"], *final.get("more", ())]
    return [*(Content(part) for part in parts[:-1]), last_of(parts[-1], final, question)]


def pointer_of(question: Question) -> Content:
    """A message of its own that points to a late answer: whether Chat tells of an update is unconfirmed."""
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
