"""Lists in pages, as every List call gives them."""

from collections.abc import Iterable
from typing import Any

DEFAULT_PAGE = 100


def page(names: Iterable[str], request: Any) -> tuple[list[str], str]:
    """The page of `names` that `request` asks for by page_size and page_token, and the next page's token."""
    rest = sorted(name for name in names if name > request.page_token)
    size = request.page_size if request.page_size > 0 else DEFAULT_PAGE
    shown = rest[:size]
    return shown, shown[-1] if len(rest) > size else ""
