"""The files of the chat page, as they are served."""

import re
from collections.abc import Iterator

import httpx
import pytest

from local.page.routes import HERE, page_routes
from tests.support.http_serving import http_serving

WORDS = ("strings.js", "operator_words.js")
KEY = re.compile(r"^    (\w+): ", re.MULTILINE)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with http_serving(page_routes()) as url, httpx.Client(base_url=url, trust_env=False) as client:
        yield client


def test_the_page_forbids_inline_and_foreign_scripts(client: httpx.Client) -> None:
    policy = client.get("/").headers["content-security-policy"].split("; ")

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy


def test_a_browser_never_keeps_an_old_version_of_the_page(client: httpx.Client) -> None:
    for path in ("/", "/static/main.js", "/static/page.css"):
        assert client.get(path).headers["cache-control"] == "no-store"


def test_scripts_are_served_with_the_type_that_modules_need(client: httpx.Client) -> None:
    for path in HERE.glob("*.js"):
        assert client.get(f"/static/{path.name}").headers["content-type"].startswith("text/javascript")


def test_everything_the_page_refers_to_is_there(client: httpx.Client) -> None:
    references = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/").text))

    assert "/static/main.js" in references
    assert {client.get(reference).status_code for reference in references} == {200}


@pytest.mark.parametrize("path", ["routes.py", "__init__.py", "missing.js", "..%2Froutes.py"])
def test_nothing_but_the_files_of_the_page_is_served(client: httpx.Client, path: str) -> None:
    assert client.get(f"/static/{path}").status_code == 404


@pytest.mark.parametrize("name", WORDS)
def test_every_word_of_the_page_exists_in_both_languages(name: str) -> None:
    english, japanese = (HERE / name).read_text(encoding="utf-8").split("\n  ja: {\n")
    japanese = japanese.split("\n  },\n")[0]

    assert KEY.findall(english)
    assert KEY.findall(english) == KEY.findall(japanese)


def test_every_word_the_page_asks_for_exists() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8") for path in HERE.iterdir() if path.suffix in (".js", ".html")
    )
    known = {key for name in WORDS for key in KEY.findall((HERE / name).read_text(encoding="utf-8"))}
    asked = set(
        re.findall(r'(?:say\(|sayCount\(|tell\(|label: |data-(?:text|label)=|data-label": )"(\w+)"', sources)
    )

    assert asked
    assert asked <= known
