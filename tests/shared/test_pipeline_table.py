"""The pipeline is written down once: the code names a step in the step's own folder and nowhere else."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.messages.envelope import Envelope
from shared.pipeline import CHAT, Row, pipeline
from shared.runtime.cloudevent import PASSED_ON
from tests import ROOT

OWNERS = {row.name: row.folder for row in pipeline().functions}
FOLDERS = pipeline().folders
PLACES = ("shared", *FOLDERS, "ops", "local", "chaos", "bench", "evaluation", "tools")
#: Where the same word means something else.
OTHER_MEANINGS = {
    ("shared/chat/message.py", "answer"): "a section of the text catalogues",
    ("shared/messages/ending.py", "answer"): "a kind of ending",
    ("shared/chat/endings.py", "answer"): "a section of the text catalogues",
    ("local/runner/ask.py", "answer"): "a kind of ending",
    ("local/stand_ins/gemini/service.py", "answer"): "a field of the model's schema",
    ("chaos/world.py", "answer"): "a kind of ending",
    ("chaos/checker.py", "answer"): "a kind of ending",
    ("bench/ways.py", "tell"): "an entry point that functions-framework finds by its Python name",
}


def _strings(source: str) -> Iterator[str]:
    """The string literals of a module, docstrings left out."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def _named(place: str, source: str) -> set[str]:
    """The steps and folders of other places that a module of this place names."""
    strings = set(_strings(source))
    steps = {name for name, owner in OWNERS.items() if owner != place and name in strings}
    folders = {name for name in FOLDERS if name != place and any(name in string for string in strings)}
    return steps | folders


def _found() -> set[tuple[str, str]]:
    return {
        (path.relative_to(ROOT).as_posix(), name)
        for place in PLACES
        for path in sorted((ROOT / place).rglob("*.py"))
        for name in _named(place, path.read_text(encoding="utf-8"))
    }


def test_a_step_is_named_only_in_its_own_folder_and_in_the_table() -> None:
    assert _found() == set(OTHER_MEANINGS)


@pytest.mark.parametrize("name", [*OWNERS, *FOLDERS])
def test_a_name_elsewhere_is_found_but_for_docstrings(name: str) -> None:
    assert _named("ops", f"STEPS = ({name!r},)") == {name}
    assert _named("ops", f'"""{name}"""') == set()


def _in_terraform(text: str) -> set[str]:
    """The steps and folders that a configuration names, as a string, a key or an attribute."""
    code = re.sub(r"#.*", "", text)
    return {
        name
        for name in (*OWNERS, *FOLDERS)
        if re.search(rf'"{name}[/"]|\.{name}\b|^\s*{name}\s*=', code, re.M)
    }


def test_terraform_names_a_step_only_where_its_own_settings_are() -> None:
    files = {path: _in_terraform(path.read_text()) for path in sorted((ROOT / "terraform").rglob("*.tf"))}

    assert {path.name for path, names in files.items() if names} == {"pipeline.tf"}
    assert not files[ROOT / "terraform/pipeline.tf"] & set(FOLDERS)


@pytest.mark.parametrize("line", ['key == "tell"', "local.urls.tell", "  tell = {"])
def test_a_name_in_terraform_is_found_but_for_comments(line: str) -> None:
    assert _in_terraform(line) == {"tell"}
    assert _in_terraform(f"# {line}") == set()


def test_what_a_step_adds_are_fields_of_the_envelope() -> None:
    assert {name for row in pipeline().functions for name in row.adds} <= set(Envelope.model_fields)


@pytest.mark.parametrize("row", pipeline().functions, ids=lambda row: row.name)
def test_a_name_travels_in_the_way_and_fits_into_an_account_s_id(row: Row) -> None:
    assert PASSED_ON.fullmatch(f"{row.name}@1764500581+0.2")
    # 30 characters are the most for PREFIX-threadwise-NAME; the prefix has seven at most.
    assert len(row.name) <= len("reformulate")


def test_each_step_gives_to_the_topic_that_the_next_one_takes() -> None:
    table = pipeline()

    assert [row.gives for row in table.steps] == [*(row.takes for row in table.steps[1:]), None]
    assert len(set(table.topics)) == len(table.functions)
    assert (table.first.takes, table.teller.takes) == (table.chat_events, table.dead_letters)
    assert [table.sender(row.name) for row in table.steps] == [CHAT, *(row.name for row in table.steps[:-1])]


def test_the_standard_library_alone_reads_it() -> None:
    code = "from shared.pipeline import pipeline; print(len(pipeline().functions))"
    bare = [sys.executable, "-S", "-E", "-c", code]
    read = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=True)

    assert int(read.stdout) == len(pipeline().functions)


def test_every_step_has_its_row_folder_and_entry_point() -> None:
    for row in pipeline().functions:
        defined = ast.parse(Path(ROOT, row.source).read_text(encoding="utf-8")).body
        assert row.entry_point in {node.name for node in defined if isinstance(node, ast.FunctionDef)}
