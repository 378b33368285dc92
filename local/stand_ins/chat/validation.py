"""The rules for what a message may contain: sizes, fields and cards v2.

Source of the limits and rules: the public discovery document of the Chat API, v1 (schemas Message and
GoogleAppsCardV1*). The limit of 4,096 characters for `text` comes from errors of the real API.
"""

import json
from collections.abc import Iterator
from typing import Any

from google.apps import chat_v1
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from local.stand_ins.http_gate import invalid, unimplemented

MESSAGE_BYTES = 32_000
TEXT_CHARACTERS = 4_096
CARD_WIDGETS = 100
#: Fields of a message that the stand-in does not support. It must not ignore them silently.
UNSUPPORTED = (
    "attachment",
    "attached_gifs",
    "cards",
    "action_response",
    "private_message_viewer",
    "quoted_message_metadata",
)

ProtoMessage = Any  # the SDK's classes have no types


def message_json(message: ProtoMessage, *, enums_as_numbers: bool = False) -> dict[str, Any]:
    """A message as REST JSON: camelCase, without empty fields."""
    fields: dict[str, Any] = MessageToDict(message, use_integers_for_enums=enums_as_numbers)
    return fields


def message_from(fields: Any) -> ProtoMessage:
    """A Message from JSON, names and enums in either spelling. Raises RestError 400 for unknown fields."""
    if not isinstance(fields, dict):
        raise invalid("Invalid JSON payload received. Root element must be a message.")
    try:
        return ParseDict(fields, chat_v1.Message.pb()())
    except ParseError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from error


def message_from_wire(body: bytes) -> ProtoMessage:
    """The Message in a body. Raises RestError 400 (too big, not JSON, unknown field) or 501 (unsupported)."""
    if len(body) > MESSAGE_BYTES:
        raise invalid(f"Message of {len(body)} bytes is longer than {MESSAGE_BYTES} bytes.")
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise invalid("Invalid JSON payload received.") from error
    message = message_from(fields)
    for field, _ in message.ListFields():
        if field.name in UNSUPPORTED:
            raise unimplemented(f"{field.json_name}")
    return message


def check_content(message: ProtoMessage) -> None:
    """Check a message as it would appear, and drop sections as Chat does. Raises RestError 400."""
    if not message.text.strip() and not message.cards_v2 and not message.attachment:
        raise invalid("Message cannot be empty: it needs text or cards.")
    if len(message.text) > TEXT_CHARACTERS:
        raise invalid(f"Maximum length of the field is {TEXT_CHARACTERS} characters: text.")
    size = len(json.dumps(message_json(message), ensure_ascii=False).encode())
    if size > MESSAGE_BYTES:
        raise invalid(f"Message of {size} bytes is longer than {MESSAGE_BYTES} bytes.")
    if len(message.cards_v2) > 1 and not all(card.card_id for card in message.cards_v2):
        raise invalid("Every card needs a cardId when a message has several.")
    for card_with_id in message.cards_v2:
        _check_card(card_with_id.card)
    for part in _parts(message):
        _check_part(part)


def _check_card(card: ProtoMessage) -> None:
    if card.HasField("fixed_footer"):
        raise invalid("fixedFooter is for dialogs only.")
    widgets = 0
    for index, section in enumerate(card.sections):
        widgets += len(section.widgets)
        if widgets > CARD_WIDGETS:
            del card.sections[index:]
            return


def _check_part(part: ProtoMessage) -> None:
    match part.DESCRIPTOR.full_name:
        case "google.apps.card.v1.Card.CardHeader" if not part.title:
            raise invalid("A card header needs a title.")
        case "google.apps.card.v1.Card.Section" if not part.widgets:
            raise invalid("A card section needs at least one widget.")
        case "google.apps.card.v1.Widget" if part.WhichOneof("data") is None:
            raise invalid("A widget needs content.")
        case "google.apps.card.v1.Button" if not part.HasField("on_click"):
            raise invalid("A button needs onClick.")
        case "google.apps.card.v1.OnClick" if not _leads_somewhere(part):
            raise invalid("Incomplete onClick: it needs openLink.url, action.function or overflowMenu.items.")


def _leads_somewhere(on_click: ProtoMessage) -> bool:
    return bool(on_click.open_link.url or on_click.action.function or on_click.overflow_menu.items)


def _parts(message: ProtoMessage) -> Iterator[ProtoMessage]:
    """Every message nested in this one, at any depth."""
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for part in value if field.is_repeated else (value,):
            yield part
            yield from _parts(part)
