"""What a model wrote, made safe to post: no mention of people, and no link that is not in the sources.

Markdown has many ways to write a link. Instead of finding them all, those that the sources allow are let
through, and of everything else the characters that make links are escaped.
"""

import re
from collections.abc import Iterable

#: Code that can hold no link, whatever a Markdown parser makes of its backticks, is left as it is.
_HARMLESS_CODE = re.compile(r"```[^`]{0,8000}```|`[^`\n]{1,500}`")
_LINK_IN_CODE = re.compile(r"\]\(|\]:|\]\[|<|&|://|www\.|\\", re.IGNORECASE)
_ADDRESS = r"[^\s<>()\[\]\"'`、。，」』）]{0,1000}"
_TOKEN = re.compile(
    rf"""
    (?P<citation>\[\d{{1,3}}\])
  | (?P<link>!?\[(?P<label>[^\[\]\n`<>&\\]{{0,300}})\]
      \(\s?(?P<target>[^\s()<>]{{0,1000}}(?:\([^\s()<>]{{0,300}}\))?)(?:\s[^()\n]{{0,200}})?\))
  | (?P<url>(?:[a-z][a-z0-9+.-]{{1,20}}://|www\.|mailto:|javascript:){_ADDRESS})
  | (?P<domain>(?:[a-z0-9-]{{1,63}}\.){{1,5}}[a-z]{{2,24}}/{_ADDRESS})
  | (?P<character>[\[\]<&])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_URL = re.compile(rf"https?://{_ADDRESS}", re.IGNORECASE)
#: An escaped colon or slash is one after all once the Markdown is read.
_NEEDLESS_ESCAPE = re.compile(r"\\(?=[:/.@&<\[\]#])")
_CHARACTERS = {"[": r"\[", "]": r"\]", "<": "‹", "&": "&amp;"}


def links_in(texts: Iterable[str]) -> set[str]:
    """The http(s) addresses in some texts."""
    return {_bare(url) for text in texts for url in _URL.findall(text)}


def sanitised(text: str, allowed: set[str]) -> str:
    """`text` with the links in `allowed` and no others, and without anything that mentions people."""
    pieces, position = [], 0
    for code in _HARMLESS_CODE.finditer(text):
        if _LINK_IN_CODE.search(code[0]):
            continue
        pieces += [_prose(text[position : code.start()], allowed), code[0]]
        position = code.end()
    return "".join([*pieces, _prose(text[position:], allowed)])


def _prose(text: str, allowed: set[str]) -> str:
    return _TOKEN.sub(lambda match: _written(match, allowed), _NEEDLESS_ESCAPE.sub("", text))


def _written(match: re.Match[str], allowed: set[str]) -> str:
    following = match.string[match.end() : match.end() + 2]
    if match["citation"]:  # with a bracket behind it, it would be the label of a link
        return f"{match[0]} " if following[:1] in {"(", "[", ":"} else match[0]
    if match["link"]:
        return (
            match["link"].lstrip("!")
            if _bare(match["target"]) in allowed
            else _prose(match["label"], allowed)
        )
    if match["url"] or match["domain"]:
        address = _bare(match[0])
        if address not in allowed and f"https://{address}" not in allowed:
            return " "  # not nothing: what stood before and behind it must not become a link
        return match[0] if _ends_there(match[0], following) else f"{match[0]} "
    return _CHARACTERS[match[0]]


def _ends_there(address: str, following: str) -> bool:
    """Whether whoever makes links of addresses cannot take what follows for a part of this one."""
    return not following or following[0].isspace() or (following[0] == ")" and address[-1] not in "@:")


def _bare(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    return url.rstrip(".,;:!?*_")
