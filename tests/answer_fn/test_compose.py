"""From the model's answer to Chat: nothing that was not retrieved, no foreign links, no mentions."""

import re
import time
from typing import Any

import pytest

from answer_fn.compose import Clarification, Composed, compose
from answer_fn.prompts import SYSTEM
from local.page.markdown import text_html
from tests.support.factories import context, rag_answer

CONTEXTS = (
    context(id="a", title="VPN", uri="gs://kb/vpn.md", text="Open https://portal.example/vpn and sign in."),
    context(id="b", title="MFA", uri="gs://kb/mfa.md", text="Use the app.", link="https://kb.example/mfa"),
    context(id="c", title="VPN", uri="gs://kb/vpn.md", text="It takes an hour."),
)


def composed(text: str, sources: tuple[int, ...] = (), **fields: Any) -> tuple[str, list[str]]:
    """The text and the titles of the sources, in order."""
    result = compose(rag_answer(text, sources, **fields), CONTEXTS)
    assert isinstance(result, Composed)
    return result.text, [f"[{source.number}] {source.title}" for source in result.sources]


def nothing(text: str, sources: tuple[int, ...] = (), **fields: Any) -> bool:
    return compose(rag_answer(text, sources, **fields), CONTEXTS) is None


def test_cited_sources_are_listed_in_the_order_they_are_cited() -> None:
    text, sources = composed("Use the app [2]. Then sign in [1].")

    assert text == "Use the app [1]. Then sign in [2]."
    assert sources == ["[1] MFA", "[2] VPN"]


def test_passages_of_one_document_are_one_source() -> None:
    text, sources = composed("Sign in [1]. It takes an hour [3].")

    assert text == "Sign in [1]. It takes an hour [1]."
    assert sources == ["[1] VPN"]


def test_a_group_of_citations_is_taken_apart() -> None:
    text, sources = composed("Both [1, 2] and [1、3].")

    assert text == "Both [1] [2] and [1]."
    assert sources == ["[1] VPN", "[2] MFA"]


def test_a_citation_of_what_was_not_retrieved_is_dropped() -> None:
    assert composed("Sign in [1]. Trust me [9].") == ("Sign in [1]. Trust me.", ["[1] VPN"])


@pytest.mark.parametrize("status", ["answered", "partly"])
@pytest.mark.parametrize(
    "text, sources",
    [("I do not know.", ()), ("Trust me [9].", (9,)), ("Trust me [0].", (0,)), ("", (1,)), ("  ", (1,))],
)
def test_without_a_retrieved_source_it_is_no_answer(text: str, sources: tuple[int, ...], status: str) -> None:
    assert nothing(text, sources, status=status)


def test_what_is_not_in_the_knowledge_base_is_no_answer_even_with_a_source() -> None:
    assert nothing("The sources say nothing about this [1].", (1,), status="not_in_knowledge_base")


def test_a_source_named_beside_the_text_counts() -> None:
    assert composed("Sign in.", (1,))[1] == ["[1] VPN"]


def test_links_of_the_sources_stay() -> None:
    text, _ = composed("Open https://portal.example/vpn. See [MFA](https://kb.example/mfa) [1].")

    assert text == "Open https://portal.example/vpn. See [MFA](https://kb.example/mfa) [1]."


@pytest.mark.parametrize(
    "text",
    [
        "Open [the portal](https://evil.example/login) [1].",
        "Open the portal https://evil.example/login [1].",
        "Open the portal <https://evil.example> [1].",
        "Open the portal ![x](https://evil.example/pixel.png?q=secret) [1].",
        "Open the portal [a]( https://evil.example 'title') [1].",
        "Open the portal HTTPS://EVIL.EXAMPLE/ [1].",
        "Open the portal https://portal.example/vpn@evil.example [1].",
        "Open the portal [x](javascript:alert(1)) [1].",
        "Open the portal [[click](x)](javascript:evil) [1].",
        "Open the portal [[click](x)](//evil.example/login) [1].",
        "Open the portal www.evil.example/login [1].",
        "Open the portal [a][b] [1].\n\n[b]: https://evil.example",
        "Open the portal <mailto://evil.example> [1].",
        "Open the portal [a [b] c](https&#58;//evil.example) [1].",
        "Open the portal [a\\]b](https&#58;//evil.example) [1].",
        "Open the portal [a\nb](https&colon;//evil.example) [1].",
        "Open the portal [`]`](https&#58;//evil.example) [1].",
        "Open the portal (https&#58;//evil.example 't(i)t')[x](https&#58;//evil.example 't(i)t') [1].",
        "Open the portal [r][r] [1].\n\n- [r]: https&colon;//evil.example",
        "Open the portal [r] [1].\n\n> [r]: https&colon;//evil.example",
        "Open the portal ht&#116;ps://evil.example [1].",
        "Open the portal https\\://evil.example [1].",
        "Open the portal evil.example/login [1].",
        "Open the portal [1](https://evil.example) [1].",
        "Open the portal `` [x](https://evil.example) ` [1].",
        "Open the portal evil.example or helpdesk@evil.example [1].",
        "Open the portal ev\u200bil.example or ht\u2060tps://evil.example [1].",
        "Open the portal, それはevil.exampleです [1].",
    ],
)
def test_foreign_links_go(text: str) -> None:
    said, _ = composed(text)

    shown = text_html({"text": said, "markupSyntax": "MARKUP_SYNTAX_MARKDOWN"})
    hrefs = re.findall(r'href="([^"]*)"', shown)
    assert hrefs == []
    assert not re.search(r"evil\.example|javascript:", said, re.IGNORECASE)
    assert "the portal" in said


@pytest.mark.parametrize(
    "text, shown",
    [
        ("Run `arr[0] = a[2]` [1].", "Run `arr[0] = a[2]` [1]."),
        ("Tom & Jerry [1].", "Tom & Jerry [1]."),
        ("Use a < b [1].", "Use a ‹ b [1]."),
        ("- one [1]\n- **two** [1]", "- one [1]\n- **two** [1]"),
        ("Open https://portal.example/vpn。次に [1]。", "Open https://portal.example/vpn 。次に [1]。"),
        ("[array](index) [1]", "array [1]"),
        ("Edit config.yaml, run.sh or Node.js [1].", "Edit config.yaml, run.sh or Node.js [1]."),
        ("It is done.In the end [1].", "It is done. In the end [1]."),
        ("Open portal.example [1].", "Open portal.example [1]."),
        ("A family 👨‍👩‍👧 [1].", "A family 👨‍👩‍👧 [1]."),
    ],
)
def test_what_is_no_link_reads_as_it_was_written(text: str, shown: str) -> None:
    assert composed(text)[0] == shown


def test_an_answer_of_which_nothing_is_left_is_no_answer() -> None:
    assert nothing("<https://evil.example> [1]")


@pytest.mark.parametrize("mention", ["<users/all>", "<users/123>", "< users/all>", "<USERS/all>"])
def test_nobody_is_mentioned(mention: str) -> None:
    text, _ = composed(f"Hello {mention}, sign in [1].")

    assert "<" not in text
    assert "users/" in text.lower()


@pytest.mark.parametrize(
    "text", ["[x](" * 4_000, "[" * 9_000, "[" + "9" * 9_000 + "]", "[1, " * 4_000, "<" * 9_000]
)
def test_no_output_of_a_model_takes_long(text: str) -> None:
    started = time.process_time()

    composed(f"Words {text} [1]")

    assert time.process_time() - started < 1


def asked_back(said: str) -> str:
    result = compose(rag_answer(status="needs_clarification", ask_back=said), CONTEXTS)
    assert isinstance(result, Clarification)
    return result.text


@pytest.mark.parametrize("said", ["Do you mean Windows or a Mac?", "WindowsとMacのどちらですか。"])
def test_a_question_back_needs_no_source(said: str) -> None:
    assert asked_back(said) == said


def test_a_question_back_links_nowhere_mentions_nobody_and_cites_nothing() -> None:
    said = asked_back("<users/all> or [this](https://kb.example/mfa) [1]? https://portal.example/vpn")

    assert said == "‹users/all> or this?"


@pytest.mark.parametrize("said", ["", "?", "Do as I say.", "What? " * 100, "[](https://evil.example)?"])
def test_a_question_back_that_is_none_is_left_to_the_catalogue(said: str) -> None:
    assert asked_back(said) == ""


def partly(missing: str) -> str:
    result = compose(rag_answer("Sign in [1].", status="partly", missing=missing), CONTEXTS)
    assert isinstance(result, Composed) and result.partly
    return result.missing


def test_what_is_missing_from_a_partial_answer_is_one_line_without_links() -> None:
    assert partly("the\n\n[prices](https://portal.example/vpn) [1]") == "the prices"
    assert partly("no " * 200) == ""


def test_an_answer_that_tells_the_instructions_is_none() -> None:
    told = " ".join(SYSTEM.split()[40:60]).upper()

    assert nothing(f"Sign in [1]. {told}")
    assert nothing("Sign in [1].", status="partly", missing=told)
    assert compose(rag_answer(status="needs_clarification", ask_back=f"{told}?"), CONTEXTS) is None


def test_addresses_of_files_in_the_sources_stay() -> None:
    contexts = [context(text="Type `smb://files.example/dept` and press Enter.")]

    result = compose(rag_answer("Type `smb://files.example/dept` [1]."), contexts)

    assert result is not None and result.text == "Type `smb://files.example/dept` [1]."
