"""The size limits of a message in Google Chat.

Google says that a whole message may have 32,000 bytes as it is sent
(developers.google.com/workspace/chat/create-messages). Chat was seen to refuse a text of more than 4,096
UTF-16 units. Chat silently drops all widgets of a card after the hundredth. Our limits are a little lower.
"""

#: Most UTF-16 units of a message's text.
MOST_UNITS = 4_000
#: The same for one part of a long answer. The margin leaves room for the sentence that the rest is left out.
#: A part cannot exceed the bytes of a message, because a unit takes at most 6 bytes as it is sent.
MOST_UNITS_OF_PART = MOST_UNITS - 100
MOST_BYTES = 31_500
#: Most widgets of all cards together, including the rows of buttons below the message.
MOST_WIDGETS = 100


def units(text: str) -> int:
    """The length of a text in UTF-16 units, as Chat counts it."""
    return len(text.encode("utf-16-le", "replace")) // 2
