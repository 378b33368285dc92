"""Escapes text and code for Chat, so that they contain no mentions and only allowed links.

Markdown has many ways to write a link. This module does not search for them all. It lets the addresses of the
sources through, and escapes all other characters with a meaning in Markdown.
"""

import re
from collections.abc import Callable, Iterable

from shared.language.untrusted import visible

_ADDRESS = r"[^\s<>()\[\]\"'`、。，」』）]{0,1000}"
_NUMBERS = r"\d{1,4}(?:\s{0,3}[,、]\s{0,3}\d{1,4}){0,50}"
#: The endings of addresses that Chat may turn into a link even without a scheme. Endings that are more common
#: for files (.sh, .py, .md, .rs, .zip) are left out.
_ENDINGS = (
    "com|net|org|info|biz|name|io|ai|app|dev|cloud|online|site|website|shop|store|tech|xyz|top|club|live|link|click|"
    "page|work|support|help|example|test|edu|gov|mil|int|eu|uk|us|ca|au|nz|jp|cn|kr|tw|hk|sg|in|ru|ua|de|fr|it|"
    "es|nl|be|ch|at|se|no|fi|dk|cz|br|mx|ar|cl|co|me|tv|cc|to|gg|ly|su|ws|xn--[a-z0-9-]{1,59}"
)
# Japanese has no spaces, so an address may begin and end inside what `re` sees as one word.
_LABEL = r"[^\W_぀-ヿ㐀-鿿](?:[^\W぀-ヿ㐀-鿿]|-){0,62}"
_BARE = (
    rf"(?<![^\W぀-ヿ㐀-鿿])(?<![@.-])(?:[a-z0-9_.+-]{{1,64}}@)?(?:{_LABEL}\.){{1,5}}"
    rf"(?:{_ENDINGS})(?![a-z0-9_@-]|\.[a-z0-9])"
    rf"|(?<![\w@.-])(?:[\w-]{{1,63}}\.){{1,5}}(?:{_ENDINGS})(?![\w@-]|\.\w)"
)
_NO_CITATION = re.compile(rf"\[(?!{_NUMBERS}\])")
_SCHEME = rf"(?:(?:[a-z][a-z0-9+.-]{{0,20}}://|www\.|mailto:|javascript:){_ADDRESS})"
_TOKEN = re.compile(
    rf"""
    (?P<citation>\s?\[(?P<numbers>{_NUMBERS})\])
  | (?P<url>{_SCHEME})
  | (?P<domain>(?:[a-z0-9-]{{1,63}}\.){{1,5}}[a-z]{{2,24}}/{_ADDRESS})
  | (?P<bare>{_BARE})
  | (?P<entity>&(?=\#?\w{{1,40}};))
  | (?P<underscore>(?<![^\W_])_|_(?![^\W_]))  # inside a word it has no meaning
  | (?P<star>(?<!\s)\*|\*(?!\s))  # a single star between spaces has none either
  | (?P<character>[\\`\[\]<~])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_IN_CODE = re.compile(rf"{_SCHEME}|<(?=\s*users/)", re.IGNORECASE)
_URL = re.compile(rf"(?:https?|smb|nfs|afp|s?ftp|ftps|ssh|rdp|vnc)://{_ADDRESS}", re.IGNORECASE)
_NAME = re.compile(_BARE, re.IGNORECASE)
#: HTML tags for formatting. Other text in angle brackets is shown, because it may be a placeholder such as
#: <name>.
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|center|code|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|"
    r"pre|s|samp|script|small|span|strike|strong|style|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul)"
    r"(?:\s[^<>]{0,500})?/?>|<!--.{0,500}?-->",
    re.IGNORECASE,
)
REMOVED = "…"

#: Returns the text to write for the numbers of a citation.
Cite = Callable[[str], str]


def links_in(texts: Iterable[str]) -> set[str]:
    """The addresses in some texts: of web pages and files, names of hosts, and e-mail addresses."""
    found = set[str]()
    for text in texts:
        urls = [bare(url) for url in _URL.findall(text)]
        found.update(urls, (url.split("/")[2] for url in urls), (name[0] for name in _NAME.finditer(text)))
    return found


def bare(url: str) -> str:
    """An address without punctuation at its end."""
    return url.rstrip(".,;:!?*_")


def citations_in(text: str) -> list[str]:
    """The numbers of each citation: `[1]` gives "1", `[1, 2]` gives "1, 2"."""
    return [match["numbers"] for match in _TOKEN.finditer(text) if match["citation"]]


def only_citations(text: str) -> str:
    """A text whose opening brackets are removed, except those of citations."""
    return _NO_CITATION.sub(" ", text)


def without_tags(text: str) -> str:
    """A text without HTML tags for formatting. A line break becomes a space."""
    return _TAG.sub(lambda tag: " " if tag[0][:3].lower() == "<br" else "", text)


def words(text: str, allowed: set[str], cite: Cite | None = None, after: str = "") -> str:
    """One line of text, escaped for Markdown. It keeps only the addresses in `allowed`.

    `after` is the character that will follow the text. Without `cite`, citations are escaped like other text.
    """

    def written(match: re.Match[str]) -> str:
        following = match.string[match.end() : match.end() + 1] or after
        if match["citation"]:
            return _citation(match, following, cite)
        if match["url"] or match["domain"]:
            return _address(match[0], following, allowed)
        if match["bare"]:
            return _bare_address(match[0], allowed)
        if match["entity"]:
            return "&amp;"
        return "‹" if match[0] == "<" else f"\\{match[0]}"

    return _TOKEN.sub(written, visible(text))


def code(text: str, allowed: set[str]) -> str:
    """The same for the content of a code block or span, where nothing can be escaped."""

    def written(match: re.Match[str]) -> str:
        if match[0] == "<":
            return "‹"
        return match[0] if _is_allowed(bare(match[0]), allowed) else REMOVED

    return _IN_CODE.sub(written, visible(text))


def _citation(match: re.Match[str], following: str, cite: Cite | None) -> str:
    if cite is None:
        return match[0].replace("[", r"\[").replace("]", r"\]")
    # Before a bracket or a colon, a citation would become the label of a link.
    return cite(match["numbers"]) + (" " if following in {"(", "[", ":"} else "")


def _address(found: str, following: str, allowed: set[str]) -> str:
    if not _is_allowed(bare(found), allowed):
        return " "  # a space, because the texts before and after it must not join into a link
    ends = not following or following.isspace() or (following == ")" and found[-1] not in "@:")
    return found if ends else f"{found} "


def _bare_address(found: str, allowed: set[str]) -> str:
    before, _, ending = found.rpartition(".")
    if ending[:1].isupper() and before.islower():  # the next sentence, with a missing space before it
        return f"{before}. {ending}"
    return found if found in allowed else " "


def _is_allowed(address: str, allowed: set[str]) -> bool:
    return address in allowed or f"https://{address}" in allowed
