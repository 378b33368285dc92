"""Finds what a person said in a message of Chat.

Chat's fields (developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages): `text` is the
whole message. `argumentText` is the same without mentions of Chat apps and without the command, but Chat
leaves it out at times. `annotations` have the ranges of mentions in `text`, in UTF-16 code units; a missing
`startIndex` is 0. `quotedMessageMetadata` has a copy of the message that is quoted.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shared.chat.payloads import Json, part, parts, whole_number
from shared.language.untrusted import visible

#: Most characters of a quoted message. It is context for a short question, and travels with it.
LONGEST_QUOTE = 2_000
#: A mention at the beginning, if no annotation says where it is.
_LEADING_MENTION = re.compile(r"\s*@[^\s,:;、，：；]+")
#: Punctuation after a mention: "@bot, how do I …".
_AFTER_A_MENTION = " \t\r\n　,:;、，：；"
_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Said:
    """What a person said.

    `words` has no mentions and no command; it is empty if no letter or digit is left. `as_written` has the
    names of the people who are mentioned. `quote` is the text of the quoted message.
    """

    words: str
    as_written: str
    quote: str


def said_in(message: Json) -> Said:
    """What a person said in a message. Never fails."""
    apps, people, commands = set[str](), set[str](), set[str]()
    for each in parts(message, "annotations"):
        user = part(part(each, "userMention"), "user")
        kind = commands if "slashCommand" in each else apps if user.get("type") == "BOT" else people
        kind.update(_annotated(each, user, message.get("text")))
    argument, text = message.get("argumentText"), message.get("text")
    rest = argument if isinstance(argument, str) else text if isinstance(text, str) else ""
    if rest is not argument:
        rest = _without(rest, commands)
        # Chat sends the bot a message of a space only if it mentions the bot.
        rest = rest if apps else _LEADING_MENTION.sub("", rest, count=1)
    as_written = _tidy(_without(rest, apps))
    words = _tidy(_without(as_written, people))
    return Said(words if _WORD.search(words) else "", as_written, _quote(message))


def whole(text: str) -> str:
    """The text without half surrogate pairs (such as half an emoji), which cannot be encoded."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _annotated(annotation: Json, user: Json, text: object) -> Iterator[str]:
    """The mention or command that an annotation describes, as it stands in the text."""
    start, length = (int(whole_number(annotation.get(name)) or 0) for name in ("startIndex", "length"))
    if isinstance(text, str) and start >= 0 and length > 0:
        units = text.encode("utf-16-le", "surrogatepass")
        found = units[2 * start : 2 * (start + length)].decode("utf-16-le", "surrogatepass")
        if found[:1] in {"@", "/"}:
            yield found
            return
    if isinstance(name := user.get("displayName"), str) and name.strip():
        yield f"@{name}"


def _without(text: str, mentions: Iterable[str]) -> str:
    """The text without mentions, and without "cc" before one."""
    for each in sorted(mentions, key=len, reverse=True):  # "@Rin Sato" before "@Rin"
        text = re.sub(rf" ?(?:\bcc:? *)?{re.escape(each)} ?", " ", text, flags=re.IGNORECASE)
    return text


def _tidy(text: str) -> str:
    return visible(whole(text)).strip().lstrip(_AFTER_A_MENTION).strip()


def _quote(message: Json) -> str:
    text = part(part(message, "quotedMessageMetadata"), "quotedMessageSnapshot").get("text")
    return visible(whole(text)).strip()[:LONGEST_QUOTE] if isinstance(text, str) else ""
