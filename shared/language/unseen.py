"""Characters that nobody sees: they part an address or a mention for us, but not for whoever reads it."""

import re

#: Soft hyphens, zero-width and direction marks, tag characters, as a class of `re`. No joiners: emojis are
#: made with them.
CHARACTERS = (
    r"\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f"
)
_UNSEEN = re.compile(rf"[{CHARACTERS}]|(?<=[\x00-\x7f])\u200d|\u200d(?=[\x00-\x7f])")


def visible(text: str) -> str:
    """A text without the characters that nobody sees."""
    return _UNSEEN.sub("", text)
