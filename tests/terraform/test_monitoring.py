"""Metrics count what the functions really log: each is run, and its lines are held against the filters."""

import io
import json
import logging
import re
from contextlib import redirect_stdout
from typing import Any

import pytest

from shared.messages.ending import ANSWER, CLARIFICATION, COURTESY, FALLBACK
from shared.pipeline import pipeline
from shared.runtime import logs
from tests.conftest import SmallCloud
from tests.support.terraform_config import FOLDER, local, parsed, resources
from tests.support.troubled import AUDIENCE, FUNCTIONS, Where, receiver

Line = dict[str, Any]


def metrics() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = parsed("monitoring.tf")["locals"][0]["metrics"]
    return table


@pytest.fixture(scope="module")
def logged(small_cloud: SmallCloud) -> list[Line]:
    """What the functions log, one question each, in the shape that Cloud Logging reads."""
    logger = logging.getLogger("threadwise")
    before = (logger.handlers, logger.level, logger.propagate)
    output = io.StringIO()
    with redirect_stdout(output):
        logs.set_up("my-project-123")
    token = small_cloud.cloud.signer.mint(audience=AUDIENCE)
    for name in FUNCTIONS:
        # Named as troubled, Gemini is asked by answer, too; here it is as well as everything else.
        receive = receiver(name, Where(small_cloud.places, small_cloud.places, "gemini"), 30.0, token)
        assert receive()[1] in {200, 204}, name
    logger.handlers, logger.level, logger.propagate = before
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_every_metric_counts_lines_that_are_logged_with_all_its_fields(logged: list[Line]) -> None:
    for name, metric in metrics().items():
        lines = [line for line in logged if line["message"] == metric["message"]]
        assert lines, f"{name}: nothing logs {metric['message']!r}"
        for line in lines:
            assert set(metric["by"]) <= set(line), name
            if metric["value"] is not None:
                assert isinstance(line[metric["value"]], int | float), name
                assert line[metric["value"]] >= 0, name


def test_every_step_tells_how_long_it_took(logged: list[Line]) -> None:
    done = {line["step"] for line in logged if line["message"] == metrics()["step_seconds"]["message"]}

    assert done == {"reformulate", "retrieve", "answer"}


def test_both_models_tell_what_they_cost(logged: list[Line]) -> None:
    asked = [line for line in logged if line["message"] == metrics()["input_tokens"]["message"]]

    assert {line["step"] for line in asked} == {
        row.name for row in pipeline().functions if "gemini" in row.calls
    }
    assert all(line["input_tokens"] > 50 and line["output_tokens"] > 0 for line in asked)


def test_an_answer_tells_its_kind_and_its_time(logged: list[Line]) -> None:
    posted, *_ = [line for line in logged if line["message"] == metrics()["answers"]["message"]]

    assert posted["kind"] == "answer"
    assert posted["answer_seconds"] < 60


def test_the_filters_and_fields_of_a_metric_are_those_of_its_entry() -> None:
    metric = resources()["google_logging_metric.this"]

    assert 'jsonPayload.message=\\"${each.value.message}\\"' in metric["filter"]
    assert 'resource.type=\\"cloud_run_revision\\"' in metric["filter"]
    assert "EXTRACT(jsonPayload.${each.value.value})" in metric["value_extractor"]
    assert "EXTRACT(jsonPayload.${label})" in metric["label_extractors"]


def test_every_kind_of_end_has_a_chart_of_its_own() -> None:
    text = (FOLDER / "dashboard.tf").read_text()
    drawn = re.findall(r"local\.promql\.answers\}\{[^}]*\},kind=\\\"(\w+)\\\"", text)

    # An apology is no line of this metric: it is drawn with the dead letters.
    assert sorted(drawn) == sorted((ANSWER, CLARIFICATION, FALLBACK, COURTESY))


def test_charts_and_alerts_use_metrics_that_exist() -> None:
    text = (FOLDER / "monitoring.tf").read_text() + (FOLDER / "dashboard.tf").read_text()
    used = set(re.findall(r"local\.promql\.([a-z_]+)", text))

    assert used == set(metrics())
    for name, part in re.findall(r"local\.promql\.([a-z_]+)\}_([a-z]+)", text):
        assert part in {"sum", "bucket"}
        assert metrics()[name]["value"] is not None, f"{name} is no distribution"


def test_what_is_watched_is_every_function_and_every_subscription() -> None:
    watched = parsed("monitoring.tf")["locals"][0]

    assert "values(local.functions)" in watched["one_of_the_functions"]
    assert "values(local.subscriptions)" in watched["one_of_the_subscriptions"]
    assert "local.step_names" in local("functions")
    assert local("step_names") == "${toset([for row in local.pipeline.steps : row.name])}"


def test_the_alerts_that_operators_rely_on_are_there() -> None:
    found = set(resources())
    alerts = parsed("monitoring.tf")["locals"][1]["logged_alerts"]

    assert {"google_monitoring_alert_policy.oldest_message", "google_monitoring_alert_policy.errors"} <= found
    for name in ("dead_letters", "slow_answers", "quiet"):
        assert f"{name} = {{" in alerts
    for address in found:
        if "alert_policy" in address:
            assert resources()[address]["notification_channels"] == "${var.notification_channels}"
