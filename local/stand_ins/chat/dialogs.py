"""The immediate answer to a click: a dialog opens, changes or closes, or a short notice appears.

Sources: the Chat API's schemas ActionResponse and DialogAction (classic), and developers.google.com,
"Workspace add-ons: open interactive dialogs" (an add-on answers with an `action` that navigates).
"""

from dataclasses import dataclass
from typing import Any

from google.apps import card_v1
from google.protobuf.json_format import ParseDict, ParseError

from local.stand_ins.http_gate import invalid

Json = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """`dialog` is the card to show; None closes the open one. Only the person sees `notice`."""

    dialog: Json | None = None
    notice: str = ""


def outcome_of(answer: Json) -> Outcome | None:
    """What an answer, in either format, means for a dialog; None if it means nothing.

    Raises RestError 400 for a dialog that is not a card.
    """
    if isinstance(answer.get("action"), dict):
        return _add_on(answer["action"])
    response = answer.get("actionResponse")
    if isinstance(response, dict) and response.get("type") == "DIALOG":
        return _classic(_part(response, "dialogAction"))
    return None


def _classic(action: Json) -> Outcome:
    status = _part(action, "actionStatus")
    card = _part(action, "dialog").get("body")
    return Outcome(_checked(card), str(status.get("userFacingMessage", "")))


def _add_on(action: Json) -> Outcome:
    steps = action.get("navigations")
    cards = [
        step[name]
        for step in (steps if isinstance(steps, list) else [])
        for name in ("pushCard", "updateCard")
        if isinstance(step, dict) and name in step
    ]
    notice = _part(action, "notification").get("text", "")
    return Outcome(_checked(cards[-1] if cards else None), str(notice))


def _checked(card: Any) -> Json | None:
    if card is None:
        return None
    try:
        ParseDict(card, card_v1.Card.pb()())
    except (ParseError, TypeError, AttributeError) as error:
        raise invalid(f"Could not load dialog. Invalid response returned by the app: {error}") from error
    return dict(card)


def _part(parent: Json, name: str) -> Json:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}
