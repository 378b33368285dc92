"""How large a message of Google Chat may be.

Chat's own figure is 32,000 bytes for the whole message as it is sent, all together
(developers.google.com/workspace/chat/create-messages). It was seen to refuse a text of more than 4,096 UTF-16
units. Of a card's widgets it drops those behind the hundredth without a word. Our figures are a little lower.
"""

#: UTF-16 units of a message's text.
MOST_UNITS = 4_000
#: The same of one part of a long answer. The margin is for the sentence below the last part that the rest is
#: left out. A part cannot reach the bytes of a message: as it is sent, a unit takes 6 of them at most.
MOST_UNITS_OF_PART = MOST_UNITS - 100
MOST_BYTES = 31_500
#: Widgets of all cards together, and the rows of buttons below them.
MOST_WIDGETS = 100


def units(text: str) -> int:
    """The length of a text as Chat counts it: in UTF-16 units."""
    return len(text.encode("utf-16-le", "replace")) // 2
