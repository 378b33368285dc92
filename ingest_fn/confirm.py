"""What is asked before a conversation is forgotten."""

from ingest_fn.notices import addressed
from shared.chat import buttons
from shared.chat.message import Card, Content
from shared.chat.places import Place
from shared.language.catalogue import text

#: The action of the button that confirms it.
CONFIRMED = "forget"


def confirmation(place: Place, conversation: str, click_target: str | None) -> Content:
    """The words, with a button where a click would arrive: `click_target` is what it calls."""
    said = text(place.language, "forget", "direct" if conversation == place.space else "thread")
    if click_target is None:
        return Content(said)
    parameters = {"action": CONFIRMED, "conversation": conversation, "said": addressed(place).id}
    confirm = buttons.button(click_target, text(place.language, "forget", "button"), parameters)
    widgets = [buttons.row(confirm)]
    card: Card = {"card_id": CONFIRMED, "card": {"sections": [{"widgets": widgets}]}}
    return Content(said, cards=[card])
