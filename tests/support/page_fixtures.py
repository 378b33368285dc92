"""Fixtures for the tests of the chat page: a browser, the bot, and the page opened on a space."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import chromium, opened
from tests.support.chat_page import Bot, chat_serving, in_space


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def bot() -> Bot:
    return Bot()


@pytest.fixture
def url(bot: Bot) -> Iterator[str]:
    with chat_serving(bot) as base:
        yield base


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with opened(browser, url) as shown:
        in_space(shown)
        yield shown
