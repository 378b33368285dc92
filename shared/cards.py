"""The progress card: three steps, each done, running or waiting."""

from typing import Literal

from shared.chat import Card, Content
from shared.envelope import Language
from shared.texts import text

#: The same in every message, so that an update replaces the card.
CARD_ID = "threadwise"
#: A card is no place for an essay: a longer query is cut.
LONGEST_QUERY = 200

State = Literal["done", "running", "waiting"]
_ICONS = {"done": "check_circle", "running": "progress_activity", "waiting": "radio_button_unchecked"}


def progress(language: Language, search_query: str | None = None) -> Content:
    """The card while the question is understood or, with the query, while it is searched for."""
    if search_query is None:
        states: tuple[State, State, State] = ("running", "waiting", "waiting")
        searching = text(language, "progress", "searching")
    else:
        states = ("done", "running", "waiting")
        searching = text(language, "progress", "searching_for", query=shortened(search_query, LONGEST_QUERY))
    labels = (
        text(language, "progress", "understanding"),
        searching,
        text(language, "progress", "writing"),
    )
    card: Card = {
        "card_id": CARD_ID,
        "card": {
            "header": {"title": text(language, "progress", "title")},
            "sections": [
                {"widgets": [_row(language, *row) for row in zip(labels, states, strict=True)]},
            ],
        },
    }
    return Content(cards=[card], fallback=text(language, "progress", "fallback"))


def escaped(plain: str) -> str:
    """Plain text for a card's text fields, which are HTML by default."""
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(plain: str, most: int) -> str:
    """At most `most` characters, the last one an ellipsis if anything was cut."""
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def _row(language: Language, label: str, state: State) -> Card:
    icon = {
        "material_icon": {"name": _ICONS[state], "fill": state == "done"},
        "alt_text": text(language, "progress", state),
    }
    return {"decorated_text": {"start_icon": icon, "text": escaped(label), "wrap_text": True}}
