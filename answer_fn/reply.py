"""What the final message shows: the answer with its sources, or an honest fallback."""

import json
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from typing import Any

from answer_fn.compose import Composed, Source
from answer_fn.sanitise import sanitised
from shared.cards import CARD_ID, LONGEST_QUERY, escaped, shortened
from shared.chat import Card, Content
from shared.envelope import Envelope, Question
from shared.firestore import Fields
from shared.texts import text

#: Chat refuses a text above 4,096 UTF-16 units and a message above 32,000 bytes as it is sent, where a
#: character outside ASCII takes 6 bytes, or 12. The hint and the sources must fit in behind the answer.
MOST_UNITS = 3_600
MOST_BYTES = 22_000
MOST_SOURCES = 6
LONGEST_TITLE = 80
LONGEST_LINK = 400
#: After this time the asker may not know any more which question an answer belongs to.
LATE = timedelta(minutes=10)
LONGEST_QUOTE = 200


def final_of(composed: Composed | None, envelope: Envelope, hours: float) -> Fields:
    """The final message as it is noted in the question's record, so that a redelivery posts the same."""
    question = envelope.question
    query = envelope.search_query or question.text
    if composed is None:
        not_found = text(question.language, "answer", "not_found")
        return {
            "kind": "fallback",
            "answered": False,
            "text": _late_line(question) + not_found,
            "search_query": query,
            "sources": [],
        }
    answer = _fitting(composed.text, question.language)
    shown = _late_line(question) + answer
    return {
        "kind": "answer",
        "answered": True,
        "text": shown if _answered_before(envelope) else f"{shown}\n\n_{_hint(envelope, hours)}_",
        "plain": answer,
        "search_query": query,
        "sources": [vars(source) for source in composed.sources],
    }


def is_late(question: Question) -> bool:
    """Whether the question was asked so long ago that its answer has to say what it answers."""
    return datetime.now(UTC) - question.asked_at > LATE


def content_of(final: Fields, question: Question) -> Content:
    """The Chat message of a noted final message."""
    sources = [Source(**source) for source in final["sources"]]
    return Content(
        text=final["text"], cards=_cards(sources, final["search_query"], question) if sources else []
    )


def _late_line(question: Question) -> str:
    if not is_late(question):
        return ""
    quote = sanitised(shortened(" ".join(question.text.split()), LONGEST_QUOTE), set())
    asked = f"{question.asked_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{text(question.language, 'answer', 'late', time=asked)}\n> {quote}\n\n"


def _answered_before(envelope: Envelope) -> bool:
    return any(turn.role == "assistant" for turn in envelope.history)


def _hint(envelope: Envelope, hours: float) -> str:
    key = "hint" if envelope.question.thread else "hint_direct"
    return text(envelope.question.language, "answer", key, hours=f"{hours:g}")


def _fitting(answer: str, language: str) -> str:
    if _fits(answer):
        return answer
    cut = answer[: bisect_left(range(len(answer)), True, key=lambda length: not _fits(answer[:length])) - 1]
    end = max(cut.rfind("\n"), cut.rfind(". "), cut.rfind("。"))
    kept = cut[: end + 1] if end > len(cut) // 2 else cut
    if kept.count("```") % 2:
        kept += "\n```"
    return f"{kept.rstrip()}\n\n{text(language, 'answer', 'shortened')}"


def _fits(answer: str) -> bool:
    return len(answer.encode("utf-16-le")) // 2 <= MOST_UNITS and len(json.dumps(answer)) <= MOST_BYTES


def _cards(sources: list[Source], query: str, question: Question) -> list[Card]:
    language = question.language
    section: dict[str, Any] = {
        "header": text(language, "answer", "sources"),
        "widgets": [_source(source, language) for source in sources[:MOST_SOURCES]],
    }
    if query != question.text:
        shown = text(language, "answer", "searched_for", query=shortened(query, LONGEST_QUERY))
        section["widgets"].append(_row("search", escaped(shown)))
    return [{"card_id": CARD_ID, "card": {"sections": [section]}}]


def _source(source: Source, language: str) -> Card:
    row = _row("menu_book", f"[{source.number}] {escaped(shortened(source.title, LONGEST_TITLE))}")
    if source.link and len(source.link) <= LONGEST_LINK:
        row["decorated_text"]["button"] = {
            "text": text(language, "answer", "open"),
            "on_click": {"open_link": {"url": source.link}},
        }
    return row


def _row(icon: str, html: str) -> Card:
    return {
        "decorated_text": {
            "start_icon": {"material_icon": {"name": icon}},
            "text": html,
            "wrap_text": True,
        }
    }
