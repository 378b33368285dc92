"""docs/chat.md: its table has all 35 pitfalls, and the tests that it names exist."""

import re

import pytest

from local.stand_ins.chat.interactions import COMMANDS as LOCAL_COMMANDS
from shared.chat.events import COMMANDS
from tests import ROOT

PAGE = (ROOT / "docs/chat.md").read_text()
TABLE = PAGE[PAGE.index("## The 35 known pitfalls") :]
PITFALLS = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE)
NAMED = [
    (file, test)
    for *_, shown in PITFALLS
    for file, tests in re.findall(r"`([a-z_/]*test_[a-z_]+)`: ([a-z0-9_, ]+)", shown)
    for test in tests.strip().split(", ")
]


def test_every_pitfall_is_there_once() -> None:
    assert [int(number) for number, *_ in PITFALLS] == list(range(1, 36))


@pytest.mark.parametrize("file, test", NAMED)
def test_a_test_that_is_named_exists(file: str, test: str) -> None:
    assert f"def test_{test}(" in (ROOT / f"tests/{file}.py").read_text()


def test_the_commands_are_those_of_the_code_and_of_the_local_chat() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+) command \| `?([^`|]+?)`? \| `(\w+)` \|$", PAGE, re.MULTILINE)

    assert {number: meaning for number, _, _, meaning in rows} == dict(COMMANDS)
    local = {str(each.id): (each.type.split("_")[0].lower(), each.name) for each in LOCAL_COMMANDS.values()}
    assert {number: (kind, name) for number, kind, name, _ in rows} == local
