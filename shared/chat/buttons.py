"""The buttons of what the bot says, and what a click on each tells `ingest_fn`.

A click on an add-on's button is a call of the URL that is its function; a classic app's function may have any
name. So the action is named in a parameter, too.
"""

from google.apps.card_v1.types import Button

from shared.chat.api import Card
from shared.language.catalogue import text
from shared.memory.feedback import REASONS, VERDICTS, Verdict

#: What a click asks for. The button ASK_TO_FORGET leads to a question whose button FORGET confirms it.
RATE, LITERAL, AGAIN, ASK_TO_FORGET, FORGET = "rate", "literal", "again", "forget_this", "forget"
#: How often a question may be answered anew.
MOST_AGAIN = 3
_ICONS = {"up": "thumb_up", "down": "thumb_down"}


def button(function: str, label: str, parameters: dict[str, str], **fields: object) -> Card:
    """A button that calls `function`; `fields` are further ones of the API's."""
    listed = [{"key": key, "value": value} for key, value in parameters.items()]
    return {"text": label, "on_click": {"action": {"function": function, "parameters": listed}}, **fields}


def row(*buttons: Card) -> Card:
    """Buttons beside each other: a widget of a card, or below a message."""
    return {"button_list": {"buttons": list(buttons)}}


def about(function: str, language: str, action: str, question_id: str, answer_number: int) -> Card:
    """A button with words about an answer: `LITERAL` or `AGAIN`."""
    parameters = {"action": action, "question": question_id, "again": str(answer_number)}
    return button(function, text(language, "button", action), parameters)


def ask_to_forget(function: str, language: str, conversation: str) -> Card:
    """The button that asks whether a conversation is to be forgotten."""
    parameters = {"action": ASK_TO_FORGET, "conversation": conversation}
    label = text(language, "button", ASK_TO_FORGET)
    return button(function, label, parameters, type_=Button.Type.BORDERLESS)


def ratings(
    function: str,
    language: str,
    question_id: str,
    answer_number: int,
    chosen: Verdict | None = None,
    *,
    ask: bool = True,
) -> list[Card]:
    """The two thumbs below an answer; the chosen one says thank you. After a thumb down `ask` why."""
    given = {"action": RATE, "question": question_id, "again": str(answer_number)}
    thumbs = [_thumb(function, language, {**given, "verdict": each}, each, chosen) for each in VERDICTS]
    if chosen != "down" or not ask:
        return [row(*thumbs)]
    reasons = [
        button(function, text(language, "reason", reason), {**given, "verdict": chosen, "reason": reason})
        for reason in REASONS
    ]
    return [row(*thumbs, *reasons)]


def _thumb(
    function: str, language: str, parameters: dict[str, str], verdict: Verdict, chosen: Verdict | None
) -> Card:
    icon = {"material_icon": {"name": _ICONS[verdict], "fill": verdict == chosen}}
    alt = text(language, "button", verdict)
    if verdict != chosen:
        return button(function, "", parameters, icon=icon, alt_text=alt)
    thanks = text(language, "button", "thanks")
    return button(function, thanks, parameters, icon=icon, alt_text=alt, type_=Button.Type.FILLED_TONAL)
