"""The update mask: which fields an update replaces (documentation of spaces.messages.patch)."""

import re

from local.stand_ins.chat.validation import ProtoMessage
from local.stand_ins.http_gate import invalid, unimplemented

#: The mask paths, and the fields that each replaces. The syntax has no path of its own: it goes with the
#: text.
PATHS = {
    "text": ("text", "markup_syntax"),
    "cards_v2": ("cards_v2",),
    "accessory_widgets": ("accessory_widgets",),
}
UNSUPPORTED_PATHS = ("attachment", "cards", "quoted_message_metadata")


def masked_fields(mask: str) -> tuple[str, ...]:
    """The fields that `mask` names, in either spelling. Raises RestError 400 (empty, unknown path) or 501."""
    paths = [_snake(path.strip()) for path in mask.split(",") if path.strip()]
    if not paths:
        raise invalid("updateMask is required.")
    if paths == ["*"]:
        paths = list(PATHS)
    for path in paths:
        if path in UNSUPPORTED_PATHS:
            raise unimplemented(f"{path}")
        if path not in PATHS:
            raise invalid(f"Invalid update mask path: {path}.")
    return tuple(field for path in paths for field in PATHS[path])


def copy_fields(fields: tuple[str, ...], source: ProtoMessage, target: ProtoMessage) -> None:
    """Copy these fields from `source` to `target`. A field that `source` lacks is cleared."""
    for name in fields:
        target.ClearField(name)
        value = getattr(source, name)
        if source.DESCRIPTOR.fields_by_name[name].is_repeated:
            getattr(target, name).extend(value)
        else:
            setattr(target, name, value)


def _snake(path: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", path)
