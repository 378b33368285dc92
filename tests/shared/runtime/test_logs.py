"""What people ask and are told is in the logs only where that was switched on."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import pytest

from shared.runtime import logs
from tests.conftest import SmallCloud
from tests.support.factories import context, question
from tests.support.fuzzing import QUESTION
from tests.support.troubled import AUDIENCE, FUNCTIONS, Where, receiver

PROJECT = "my-project-123"


@contextmanager
def written(*, content: bool) -> Iterator[io.StringIO]:
    """What is logged inside, as a function writes it."""
    logger = logging.getLogger("threadwise")
    before = (logger.handlers, logger.level, logger.propagate)
    output = io.StringIO()
    with redirect_stdout(output):
        logs.set_up(PROJECT, content=content)
    try:
        yield output
    finally:
        logger.handlers, logger.level, logger.propagate = before


def logged(small_cloud: SmallCloud, *, content: bool) -> list[dict[str, Any]]:
    """The lines of all functions, one question each."""
    token = small_cloud.cloud.signer.mint(audience=AUDIENCE)
    with written(content=content) as output:
        for name in FUNCTIONS:
            receive = receiver(name, Where(small_cloud.places, small_cloud.places, "gemini"), 30.0, token)
            assert receive()[1] in {200, 204}, name
    return [json.loads(line) for line in output.getvalue().splitlines()]


def line_of(lines: list[dict[str, Any]], step: str, message: str) -> dict[str, Any]:
    [found] = [line for line in lines if (line["step"], line["message"]) == (step, message)]
    return found


@pytest.mark.slow
def test_nothing_of_what_was_said_is_logged_unless_it_was_switched_on(small_cloud: SmallCloud) -> None:
    lines = logged(small_cloud, content=False)

    assert {"Question published", "Searched", "Posted", "Dead letter kept"} <= {
        line["message"] for line in lines
    }
    text = json.dumps(lines, ensure_ascii=False)
    for said in (QUESTION["message"]["argumentText"].strip(), question().text, context().text):
        assert said not in text
    assert {"asked", "answered"}.isdisjoint(key for line in lines for key in line)


@pytest.mark.slow
def test_with_it_a_question_and_its_answer_are_logged(small_cloud: SmallCloud) -> None:
    lines = logged(small_cloud, content=True)

    assert (
        line_of(lines, "ingest", "Question published")["asked"] == QUESTION["message"]["argumentText"].strip()
    )
    assert line_of(lines, "answer", "Posted")["answered"].strip()


def test_content_changes_nothing_else_of_a_line() -> None:
    lines = []
    for content in (True, False):
        with written(content=content) as output:
            logs.info("Posted", content={"answered": "Install the client."}, kind="answer")
        lines.append(json.loads(output.getvalue()))

    assert lines[0] == {**lines[1], "answered": "Install the client."}
    assert lines[1] == {"severity": "INFO", "message": "Posted", "kind": "answer"}
