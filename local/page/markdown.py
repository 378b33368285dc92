"""A message's text as HTML that is safe to show on the page."""

import html
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MARKDOWN = "MARKUP_SYNTAX_MARKDOWN"


def text_html(message: dict[str, Any]) -> str:
    """The text of a Message as HTML: rendered if it is Markdown, otherwise escaped, with its line breaks."""
    text = message.get("text", "")
    if message.get("markupSyntax") == MARKDOWN:
        return _rendered(text)
    return html.escape(text).replace("\n", "<br>\n")


@lru_cache(maxsize=4096)  # opening the page renders all messages
def _rendered(text: str) -> str:
    return str(_markdown.render(text))


def _is_web_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://"))


def _open_link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener")
    return renderer.renderToken(tokens, index, options, env)


def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False})
    # The browser would fetch an image from any address that the text names.
    markdown.enable("strikethrough").disable("image")
    markdown.validateLink = _is_web_link  # type: ignore[method-assign]
    markdown.add_render_rule("link_open", _open_link)
    return markdown


_markdown = _renderer()
