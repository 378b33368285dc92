"""The Chat messages of an ending: its text, then the card with the sources, and the buttons.

This is not in `answer_fn`, because every step that writes into a question's message may have to post its
ending again (`shared/chat/display.py`).
"""

import re
from collections.abc import Iterator
from typing import Any

from shared.chat import buttons
from shared.chat.api import Card, Content, fits
from shared.chat.cards import LONGEST_QUERY, escaped, shortened
from shared.chat.sanitise import words
from shared.language.catalogue import text
from shared.memory.feedback import Verdict
from shared.messages.ending import ANSWER, CLARIFICATION, COURTESY, FALLBACK, Ending, Source
from shared.messages.envelope import Question

CARD_ID = "answer"
MOST_SOURCES = 6
LONGEST_TITLE = 80
LONGEST_LINK = 400
LONGEST_QUOTE = 240
#: The Markdown of a passage. A quote is shown without marks and without the targets of links.
_MARKS = re.compile(r"(?m)^\s{0,3}#{1,6}\s+|[*`]+")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")


def contents_of(ending: Ending, question: Question) -> list[Content]:
    """The messages of an ending, in order."""
    *first, last = ending.parts
    return [*(Content(part) for part in first), last_of(last, ending, question)]


def quote_of(passage: str) -> str:
    """The beginning of a passage as one line."""
    bare = _MARKS.sub("", _LINK.sub(r"\1", passage))
    return shortened(" ".join(bare.split()), LONGEST_QUOTE)


def last_of(said: str, ending: Ending, question: Question) -> Content:
    """The last message: the text `said` with as many sources and buttons as fit."""
    for content in _ever_less(said, ending, question):
        if _fits(content, ending, question):
            return content
    return Content(said)


def _ever_less(said: str, ending: Ending, question: Question) -> Iterator[Content]:
    """The variants of the last message, from the largest to the smallest.

    First the quotes are left out, then the sources, last one first, and then the card.
    """
    sources = ending.sources[:MOST_SOURCES]
    accessory = _accessory(ending, question, None)
    for count in range(len(sources), -1, -1):
        bare = _as_text(said, sources[:count], question)
        for quoted in (True, False):
            sections = _sections(sources[:count], ending, question, quoted=quoted)
            cards: list[Card] = [{"card_id": CARD_ID, "card": {"sections": sections}}] if sections else []
            yield Content(said, cards, bare, accessory)
    yield Content(said, accessory=accessory)


def _fits(content: Content, ending: Ending, question: Question) -> bool:
    """Whether Chat accepts the size, even with the most buttons that can be below the message."""
    largest = _accessory(ending, question, "down")
    return fits(Content(content.text, content.cards, content.bare, largest))


def _accessory(ending: Ending, question: Question, chosen: Verdict | None) -> list[Card]:
    if ending.kind == ANSWER:
        return buttons.ratings(ending, question, chosen)
    function, again = ending.click_target, ending.answer_number < buttons.MOST_AGAIN
    if function is None or not again or ending.kind in {CLARIFICATION, COURTESY}:
        return []
    return [buttons.row(buttons.about(function, buttons.AGAIN, ending, question))]


def _sections(sources: list[Source], ending: Ending, question: Question, *, quoted: bool) -> list[Card]:
    language = question.language
    rows = [_source(source, language) for source in sources]
    quotes = [_quote(source) for source in sources if quoted and source.quote]
    sections = []
    if rows:
        section: dict[str, Any] = {"header": text(language, "answer", "sources"), "widgets": rows + quotes}
        if quotes:
            section |= {"collapsible": True, "uncollapsible_widgets_count": len(rows)}
        sections.append(section)
    if below := _below(ending, question):
        sections.append({"widgets": below})
    return sections


def _below(ending: Ending, question: Question) -> list[Card]:
    """The search query if it differs from the question, and the buttons of the card."""
    function, language = ending.click_target, question.language
    rewritten = ending.search_query != question.text and ending.kind in {ANSWER, FALLBACK}
    widgets = []
    if rewritten:
        query = shortened(ending.search_query, LONGEST_QUERY)
        widgets.append(_row("search", escaped(text(language, "answer", "searched_for", query=query))))
    offered = []
    if function and rewritten and ending.answer_number < buttons.MOST_AGAIN:
        offered.append(buttons.about(function, buttons.LITERAL, ending, question))
    if function and ending.kind == ANSWER:
        offered.append(buttons.ask_to_forget(function, language, question.conversation))
    return [*widgets, buttons.row(*offered)] if offered else widgets


def _as_text(said: str, sources: list[Source], question: Question) -> str:
    """The answer followed by its sources as text, in case Chat refuses the card."""
    if not sources:
        return ""
    listed = [f"**{text(question.language, 'answer', 'sources')}**"]
    for source in sources:
        line = f"\\[{source.number}\\] {words(shortened(source.title, LONGEST_TITLE), set())}"
        listed.append(f"{line} {source.link}" if _is_shown(source.link) else line)
    bare = "\n\n".join([said, "  \n".join(listed)])
    return bare if fits(Content(bare)) else said


def _source(source: Source, language: str) -> Card:
    shown = _row("menu_book", f"[{source.number}] {escaped(shortened(source.title, LONGEST_TITLE))}")
    if _is_shown(source.link):
        shown["decorated_text"]["button"] = {
            "text": text(language, "answer", "open"),
            "on_click": {"open_link": {"url": source.link}},
        }
    return shown


def _quote(source: Source) -> Card:
    return {"text_paragraph": {"text": f"[{source.number}] <i>{escaped(source.quote)}</i>"}}


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
