"""A long answer in several messages: cut where a reader would, nothing lost, within Chat's limits."""

import pytest

from answer_fn.blocks import parse
from answer_fn.parts import MOST_PARTS, parts_of
from local.page.markdown import text_html
from shared.chat.limits import MOST_UNITS_OF_PART, units

SENTENCE = "Open the settings and choose the network that your colleague has named. "
JAPANESE = "設定を開き、同僚が教えてくれたネットワークを選んでください。"


def parts(markdown: str) -> list[str]:
    found = parts_of(parse(markdown).blocks(set(), lambda group: f" [{group}]"), "(cut off)")
    assert all(0 < units(part) <= MOST_UNITS_OF_PART + 20 for part in found)
    return found


def words(*texts: str) -> list[str]:
    return [word for text in texts for word in text.split()]


def test_a_short_text_is_one_part() -> None:
    assert parts("One.\n\nTwo.") == ["One.\n\nTwo."]


def test_it_is_cut_between_paragraphs() -> None:
    paragraphs = [f"{number}: {SENTENCE * 15}".strip() for number in range(6)]

    found = parts("\n\n".join(paragraphs))

    assert len(found) == 2
    assert "\n\n".join(found).split("\n\n") == paragraphs


@pytest.mark.parametrize("sentence, end", [(SENTENCE, "named."), (JAPANESE, "ください。")])
def test_one_long_paragraph_is_cut_between_sentences(sentence: str, end: str) -> None:
    text = (sentence * 150).strip()

    found = parts(text)

    assert len(found) > 1
    assert all(part.endswith(end) for part in found)
    assert words(*found) == words(text) or "".join(found) == text


def test_a_list_is_cut_between_its_items_and_numbered_on() -> None:
    items = [f"{number}. {SENTENCE * 3}".strip() for number in range(1, 31)]

    found = parts("First this:\n\n" + "\n".join(items))

    assert len(found) == 2
    assert [line for part in found for line in part.splitlines() if line and "First" not in line] == items
    assert found[1][:3] in {f"{number}. "[:3] for number in range(10, 30)}


def test_each_part_of_long_code_is_code() -> None:
    lines = [f"echo {number} && [ -f /tmp/x ] <users>" for number in range(300)]

    found = parts("Run:\n\n```\n" + "\n".join(lines) + "\n```")

    assert found[0].startswith("Run:\n\n```\n")
    assert all(part.count("```") == 2 and part.endswith("\n```") for part in found)
    assert [line for part in found for line in part.splitlines() if line.startswith("echo")] == lines


def test_code_that_fits_into_the_next_part_is_not_cut() -> None:
    code = "```\n" + "\n".join(["x" * 99] * 30) + "\n```"

    assert parts(f"{SENTENCE * 20}\n\nRun this:\n\n{code}")[1] == f"Run this:\n\n{code}"


def test_a_heading_is_not_parted_from_what_follows() -> None:
    found = parts(f"{SENTENCE * 50}\n\n# Next\n\n{SENTENCE * 5}")

    assert found[1].startswith("**Next**\n\nOpen the settings")


def test_a_word_without_end_is_cut_all_the_same() -> None:
    assert "".join(parts("9" * 10_000)) == "9" * 10_000


def test_characters_of_two_units_are_counted_as_two() -> None:
    assert "".join(parts("👍" * 5_000)) == "👍" * 5_000


def test_what_would_take_too_many_parts_says_that_it_is_cut_off() -> None:
    found = parts(SENTENCE * 600)

    assert len(found) == MOST_PARTS
    assert found[-1].endswith("\n\n(cut off)")


def test_a_quote_goes_on_as_a_quote() -> None:
    found = parts("> " + SENTENCE * 90)

    assert len(found) == 2
    for part in found:
        assert text_html({"text": part, "markupSyntax": "MARKUP_SYNTAX_MARKDOWN"}).startswith("<blockquote>")
