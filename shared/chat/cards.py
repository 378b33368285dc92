"""The progress card. It shows which stages are done, running or waiting, and how long each took."""

from collections.abc import Mapping
from typing import Literal

from shared.chat.api import Card, Content
from shared.chat.message import PROGRESS_CARD
from shared.language.catalogue import text
from shared.language.untrusted import visible
from shared.messages.envelope import Language
from shared.messages.step import Note
from shared.pipeline import pipeline

#: Most characters of a query in a card. A longer query is cut.
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
    """The card while one stage is running, with the query if it is known, and with a note if there is one.

    `running` is a stage of the pipeline's table. For another one ValueError is raised. `seconds` is how long
    each finished step took, if that is known.

    The message has a text as well, because notifications show it. The answer can replace the text. It could
    not replace a card's fallback text, because an update has no mask for that.
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
    """Plain text, escaped for a card's text fields, which are HTML by default."""
    return visible(plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(plain: str, most: int) -> str:
    """The text, cut to `most` characters. If it was cut, the last one is an ellipsis."""
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
