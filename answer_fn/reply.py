"""What the final message shows: the answer with its sources, or an honest fallback."""

from datetime import UTC, datetime, timedelta
from typing import Any

from answer_fn.blocks import Block, plain
from answer_fn.compose import Clarification, Composed, Source
from answer_fn.parts import parts_of
from answer_fn.sanitise import words
from shared.cards import LONGEST_QUERY, escaped, shortened
from shared.chat_api import Card, Content, fits
from shared.envelope import Envelope, Question
from shared.firestore import Fields
from shared.texts import text

CARD_ID = "answer"
MOST_SOURCES = 6
LONGEST_TITLE = 80
LONGEST_LINK = 400
#: After this time the asker may not know any more which question an answer belongs to.
LATE = timedelta(minutes=10)
LONGEST_QUOTE = 200


def final_of(
    composed: Composed | Clarification | None, envelope: Envelope, hours: float, contact: str | None
) -> Fields:
    """The final message as it is noted in the question's record, so that a redelivery posts the same.

    `contact` is whom to ask where the knowledge base has no answer.
    """
    question = envelope.question
    if composed is None:
        said = with_contact(text(question.language, "answer", "not_found"), question, contact)
        return _final("fallback", [*_late_blocks(question), Block((said,))], said, envelope)
    if isinstance(composed, Clarification):
        asked = composed.blocks or (Block((text(question.language, "answer", "which"),)),)
        said = Clarification(asked).text
        return _final("clarification", [*_late_blocks(question), *asked], said, envelope)
    answer = [*composed.blocks, *_missing_blocks(composed, question)]
    blocks = [*_late_blocks(question), *answer]
    if not _answered_before(envelope):
        blocks.append(Block((f"_{_hint(envelope, hours)}_",)))
    said = "\n\n".join(block.text for block in answer)
    return _final("answer", blocks, said, envelope, composed.sources)


def _final(
    kind: str, blocks: list[Block], plain: str, envelope: Envelope, sources: tuple[Source, ...] = ()
) -> Fields:
    shown = parts_of(blocks, text(envelope.question.language, "answer", "shortened"))
    return {
        "kind": kind,
        "answered": kind == "answer",
        "text": shown[0],
        "more": shown[1:],
        "plain": plain,
        "search_query": envelope.search_query or envelope.question.text,
        "sources": [vars(source) for source in sources],
    }


def _missing_blocks(composed: Composed, question: Question) -> list[Block]:
    """What a partial answer says of the rest."""
    if not composed.partly:
        return []
    key = "partly" if composed.missing else "partly_only"
    return [Block((text(question.language, "answer", key, missing=composed.missing),))]


def with_contact(said: str, question: Question, contact: str | None) -> str:
    """What is said where the bot is of no help, with the person or place that is, if there is one."""
    return f"{said}\n\n{text(question.language, 'answer', 'contact', contact=contact)}" if contact else said


def is_late(question: Question) -> bool:
    """Whether the question was asked so long ago that its answer has to say what it answers."""
    return datetime.now(UTC) - question.asked_at > LATE


def contents_of(final: Fields, question: Question) -> list[Content]:
    """The Chat messages of a noted final message; the sources are under the last."""
    parts: list[str] = [final["text"], *final.get("more", ())]
    sources = [Source(**source) for source in final["sources"]][:MOST_SOURCES]
    last = _with_sources(parts[-1], sources, final["search_query"], question)
    return [*(Content(part) for part in parts[:-1]), last]


def pointer_of(question: Question) -> Content:
    """A message of its own that points to a late answer: whether Chat tells of an update is unconfirmed."""
    quote = words(_quoted(question), set())
    return Content(f"↑ {text(question.language, 'answer', 'pointer', question=quote)}")


def _late_blocks(question: Question) -> list[Block]:
    if not is_late(question):
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


def _with_sources(said: str, sources: list[Source], query: str, question: Question) -> Content:
    """As many sources as there is room for."""
    if not sources:
        return Content(said)
    content = Content(said, [_card(sources, query, question)], _as_text(said, sources, question))
    return content if fits(content) else _with_sources(said, sources[:-1], query, question)


def _as_text(said: str, sources: list[Source], question: Question) -> str:
    """The answer with its sources behind it, for a Chat that does not take the card."""
    listed = [f"**{text(question.language, 'answer', 'sources')}**"]
    for source in sources:
        line = f"\\[{source.number}\\] {words(shortened(source.title, LONGEST_TITLE), set())}"
        listed.append(f"{line} {source.link}" if _is_shown(source.link) else line)
    bare = "\n\n".join([said, "  \n".join(listed)])
    return bare if fits(Content(bare)) else said


def _card(sources: list[Source], query: str, question: Question) -> Card:
    language = question.language
    section: dict[str, Any] = {
        "header": text(language, "answer", "sources"),
        "widgets": [_source(source, language) for source in sources],
    }
    if query != question.text:
        shown = text(language, "answer", "searched_for", query=shortened(query, LONGEST_QUERY))
        section["widgets"].append(_row("search", escaped(shown)))
    return {"card_id": CARD_ID, "card": {"sections": [section]}}


def _source(source: Source, language: str) -> Card:
    row = _row("menu_book", f"[{source.number}] {escaped(shortened(source.title, LONGEST_TITLE))}")
    if _is_shown(source.link):
        row["decorated_text"]["button"] = {
            "text": text(language, "answer", "open"),
            "on_click": {"open_link": {"url": source.link}},
        }
    return row


def _is_shown(link: str | None) -> bool:
    return link is not None and len(link) <= LONGEST_LINK


def _row(icon: str, html: str) -> Card:
    return {
        "decorated_text": {
            "start_icon": {"material_icon": {"name": icon}},
            "text": html,
            "wrap_text": True,
        }
    }
