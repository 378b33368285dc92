"""The buttons of the bot, and the parameters that a click on them sends to `ingest_fn`.

The function of an add-on's button is the URL that a click calls. The function of a classic app's button may
have any name. So a parameter names the action.
"""

from google.apps.card_v1.types import Button

from shared.chat.api import Card
from shared.language.catalogue import text
from shared.memory.feedback import REASONS, VERDICTS, Verdict
from shared.messages.ending import Ending
from shared.messages.envelope import Question

#: The actions. After ASK_TO_FORGET the bot asks for a confirmation with the button FORGET.
RATE, LITERAL, AGAIN, ASK_TO_FORGET, FORGET = "rate", "literal", "again", "forget_this", "forget"
#: How often the asker may ask the same question again.
MOST_AGAIN = 3
_ICONS = {"up": "thumb_up", "down": "thumb_down"}


def button(function: str, label: str, parameters: dict[str, str], **fields: object) -> Card:
    """A button that calls `function`. `fields` are more fields of the API."""
    listed = [{"key": key, "value": value} for key, value in parameters.items()]
    return {"text": label, "on_click": {"action": {"function": function, "parameters": listed}}, **fields}


def row(*buttons: Card) -> Card:
    """Buttons in one row: a widget of a card, or below a message."""
    return {"button_list": {"buttons": list(buttons)}}


def about(function: str, action: str, ending: Ending, question: Question) -> Card:
    """A button with text that belongs to an answer: `LITERAL` or `AGAIN`."""
    return button(function, text(question.language, "button", action), _given(action, ending, question))


def ask_to_forget(function: str, language: str, conversation: str) -> Card:
    """The button to forget a conversation. The bot asks for a confirmation first."""
    parameters = {"action": ASK_TO_FORGET, "conversation": conversation}
    label = text(language, "button", ASK_TO_FORGET)
    return button(function, label, parameters, type_=Button.Type.BORDERLESS)


def ratings(
    ending: Ending, question: Question, chosen: Verdict | None = None, *, ask: bool = True
) -> list[Card]:
    """The two thumbs below an answer. The chosen one shows thanks. After a thumb down, `ask` for a reason.

    There are none if clicks cannot arrive.
    """
    function, language = ending.click_target, question.language
    if function is None:
        return []
    given = _given(RATE, ending, question)
    thumbs = [_thumb(function, language, {**given, "verdict": each}, each, chosen) for each in VERDICTS]
    if chosen != "down" or not ask:
        return [row(*thumbs)]
    reasons = [
        button(function, text(language, "reason", reason), {**given, "verdict": chosen, "reason": reason})
        for reason in REASONS
    ]
    return [row(*thumbs, *reasons)]


def _given(action: str, ending: Ending, question: Question) -> dict[str, str]:
    return {"action": action, "question": question.id, "again": str(ending.answer_number)}


def _thumb(
    function: str, language: str, parameters: dict[str, str], verdict: Verdict, chosen: Verdict | None
) -> Card:
    icon = {"material_icon": {"name": _ICONS[verdict], "fill": verdict == chosen}}
    alt = text(language, "button", verdict)
    if verdict != chosen:
        return button(function, "", parameters, icon=icon, alt_text=alt)
    thanks = text(language, "button", "thanks")
    return button(function, thanks, parameters, icon=icon, alt_text=alt, type_=Button.Type.FILLED_TONAL)
