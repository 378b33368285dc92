"""What Chat cannot show is written as something that it can, whatever its Markdown turns out to know."""

import pytest

from answer_fn.blocks import parse, plain
from local.page.markdown import text_html

ALLOWED = {"https://kb.example/a", "https://kb.example/i.png"}


def shown(markdown: str) -> str:
    return "\n\n".join(block.text for block in parse(markdown).blocks(ALLOWED, lambda group: f" [{group}]"))


def html(markdown: str) -> str:
    """What the chat page makes of what is written."""
    return text_html({"text": shown(markdown), "markupSyntax": "MARKUP_SYNTAX_MARKDOWN"})


@pytest.mark.parametrize(
    "markdown, written",
    [
        ("# Set up **VPN**", "**Set up VPN**"),
        ("Title\n===\n\nText", "**Title**\n\nText"),
        ("![the menu](https://kb.example/i.png)", "[the menu](https://kb.example/i.png)"),
        ("![the menu](https://evil.example/i.png)", "the menu"),
        ("Press <b>OK</b><br>twice", "Press OK twice"),
        ("ssh <your-name>@host", "ssh ‹your-name>@host"),
        ("one\n\n***\n\ntwo", "one\n\ntwo"),
        ("~~~bash\nls\n~~~", "```\nls\n```"),
        ("    ls -l", "```\nls -l\n```"),
        ("> Take care.\n> Really.", "> Take care.\n> Really."),
        ("one  \ntwo", "one  \ntwo"),
        ("**「VPN」**を押す", "「**VPN**」を押す"),
        ("次に**「VPN」の設定**を開く", "次に「**VPN」の設定**を開く"),
        ("Use snake_case_names and 2 * 3", "Use snake_case_names and 2 * 3"),
        (r"\# no heading", r"\# no heading"),
        (r"1\. no list", r"1\. no list"),
        ("&lt;users/all&gt;", "‹users/all>"),
        ("&amp;#60;users/all>", "&amp;#60;users/all>"),
        (r"Read\![a](https://kb.example/a)", r"Read\![a](https://kb.example/a)"),
    ],
)
def test_it_is_written_as_chat_can_show_it(markdown: str, written: str) -> None:
    assert shown(markdown) == written


def test_a_table_is_a_list_that_loses_no_word() -> None:
    table = "| System | Client | Port |\n|---|:-:|--:|\n| Mac | StarGate [1] | 443 |\n| Windows | | 80 |"

    assert shown(table) == (
        "- System: **Mac**; Client: StarGate [1]; Port: 443\n- System: **Windows**; Port: 80"
    )


def test_an_inner_list_is_lines_within_its_item() -> None:
    written = shown("1. Open settings\n   - Wi-Fi\n     1. on\n     2. off\n   - VPN\n2. Close")

    assert written == ("1. Open settings  \n   ◦ Wi-Fi  \n   (1) on  \n   (2) off  \n   ◦ VPN\n2. Close")


def test_code_in_a_list_stands_behind_its_item_and_the_numbers_go_on() -> None:
    markdown = "1. Run\n\n   ```\n   ls\n   ```\n\n   and wait.\n2. Close\n10. End"

    written = shown(markdown)

    assert written == "1. Run\n\n```\nls\n```\n\nand wait.\n\n2. Close\n3. End"
    assert '<ol start="2">' in html(markdown)


def test_code_is_shown_as_it_is_but_links_nowhere_new_and_mentions_nobody() -> None:
    code = "```\nif a[0] < b && c: # <users/all>\n  curl https://kb.example/a https://evil.example/x\n```"

    assert shown(code) == ("```\nif a[0] < b && c: # ‹users/all>\n  curl https://kb.example/a …\n```")


def test_code_that_holds_a_fence_keeps_it() -> None:
    assert shown("````\n```\nx\n```\n````") == "````\n```\nx\n```\n````"
    assert shown("`` a`b ``") == "``a`b``"


def test_plain_words_are_no_markdown() -> None:
    quoted = plain("# hi <users/all> [a](https://evil.example) *x* 1. `y`", "> ")

    page = text_html({"text": quoted.text, "markupSyntax": "MARKUP_SYNTAX_MARKDOWN"})
    assert page.strip() == "<blockquote>\n<p># hi ‹users/all&gt; [a]( ) *x* 1. `y`</p>\n</blockquote>"


@pytest.mark.parametrize("text", ["**a " * 4_000, "*a **b " * 3_000, "> " * 5_000, "- " * 5_000, "`" * 9_000])
def test_deep_nesting_is_no_trouble(text: str) -> None:
    assert isinstance(shown(text), str)
