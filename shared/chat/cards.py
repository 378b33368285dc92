"""The progress card: each stage done, running or waiting, and how long those that are done took."""

from collections.abc import Mapping
from typing import Literal

from shared.chat.api import Card, Content
from shared.chat.message import PROGRESS_CARD
from shared.language.catalogue import text
from shared.language.untrusted import visible
from shared.messages.envelope import Language
from shared.messages.step import Note
from shared.pipeline import pipeline

#: A card is no place for an essay: a longer query is cut.
LONGEST_QUERY = 200

State = Literal["done", "running", "waiting"]
_ICONS = {"done": "check_circle", "running": "progress_activity", "waiting": "radio_button_unchecked"}


def progress(
    language: Language,
    running: str,
    search_query: str | None = None,
    note: Note | None = None,
    seconds: Mapping[str, float] | None = None,
) -> Content:
    """The card while one stage is running; with the query as soon as it is known, and a note if need be.

    `running` is the stage (of the pipeline's table; else ValueError is raised), and `seconds` how long each
    step took that is done, as far as that is known.

    What is under way is said in the message's text: unlike the fallback text of a card, which notifications
    show, the answer replaces it (an update has no mask for the other).
    """
    stages = pipeline().stages
    current = stages.index(running)

    def took(stage: str) -> float | None:
        steps = [step.name for step in pipeline().steps if step.stage == stage]
        known = [(seconds or {})[step] for step in steps if step in (seconds or {})]
        return sum(known) if known and stages.index(stage) < current else None

    rows = [
        _row(language, _label(language, stage, search_query), _state(position, current), took(stage))
        for position, stage in enumerate(stages)
    ]
    if note:
        rows.append({"text_paragraph": {"text": escaped(text(language, "progress", note))}})
    card: Card = {"card_id": PROGRESS_CARD, "card": {"sections": [{"widgets": rows}]}}
    return Content(text(language, "progress", "title"), [card])


def _label(language: Language, stage: str, search_query: str | None) -> str:
    if stage == "searching" and search_query:
        return text(language, "progress", "searching_for", query=shortened(search_query, LONGEST_QUERY))
    return text(language, "progress", stage)


def _state(position: int, current: int) -> State:
    if position == current:
        return "running"
    return "done" if position < current else "waiting"


def escaped(plain: str) -> str:
    """Plain text for a card's text fields, which are HTML by default."""
    return visible(plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(plain: str, most: int) -> str:
    """At most `most` characters, the last one an ellipsis if anything was cut."""
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def _row(language: Language, label: str, state: State, took: float | None) -> Card:
    icon = {
        "material_icon": {"name": _ICONS[state], "fill": state == "done"},
        "alt_text": text(language, "progress", state),
    }
    row: Card = {"start_icon": icon, "text": escaped(label), "wrap_text": True}
    if took is not None:
        row["bottom_label"] = text(language, "progress", "seconds", seconds=f"{took:.1f}")
    return {"decorated_text": row}
