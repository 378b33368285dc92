"""Chromium, driven by Playwright, for the tests of the chat page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: A sandbox needs privileges that containers lack; nothing but our own loopback pages is opened.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
CONTEXT = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}}
PATIENCE_MS = 10_000


def chromium_path() -> str | None:
    """Where Chromium is installed, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


needs_chromium = pytest.mark.skipif(
    chromium_path() is None,
    reason="Chromium is not installed (Debian: apt-get install chromium fonts-noto-cjk)",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium for the length of a module: while it runs, the thread cannot run asyncio tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page on `url` in a profile of its own; `options` are Playwright's context options.

    Afterwards, fails the test for an uncaught error on the page.
    """
    context = browser.new_context(**{**CONTEXT, **options})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(url)
        yield page
        assert not errors, errors
    finally:
        context.close()
