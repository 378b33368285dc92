"""What is asked before a conversation is forgotten."""

from ingest_fn.notices import addressed
from shared.chat import buttons
from shared.chat.message import Card, Content
from shared.chat.places import Place
from shared.language.catalogue import text

#: The action of the button that confirms it.
CONFIRMED = "forget"


def confirmation(place: Place, conversation: str, button: str | None) -> Content:
    """The words, with a button where a click would arrive: `button` is what it calls."""
    said = text(place.language, "forget", "direct" if conversation == place.space else "thread")
    if button is None:
        return Content(said)
    parameters = {"action": CONFIRMED, "conversation": conversation, "said": addressed(place).id}
    confirm = buttons.button(button, text(place.language, "forget", "button"), parameters)
    widgets = [buttons.row(confirm)]
    card: Card = {"card_id": CONFIRMED, "card": {"sections": [{"widgets": widgets}]}}
    return Content(said, cards=[card])
