"""Odd input for the fuzz tests: golden JSON with some of it changed, and bytes that are almost right.

`FUZZ_CASES` in the environment is the number of cases of a property (some take up to four times as many);
unset means a short run that draws the same cases every time, set means new cases every time. With 1,000, all
fuzz tests together are some 40,000 cases.
"""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import ROOT
from tests.support.factories import envelope, push
from tests.support.golden_events import NAMES, golden

GIVEN_CASES = os.environ.get("FUZZ_CASES")
CASES = int(GIVEN_CASES or 50)
#: Seconds that one case may take on a busy machine: whatever takes longer hangs.
PER_CASE = 15.0
EVENTS = [golden(name) for name in NAMES]
QUESTION = golden("classic-message-in-dm")
ENVELOPES = [
    json.loads(path.read_text()) for path in sorted((ROOT / "tests/shared/messages/golden").glob("*.json"))
]

Way = tuple[str | int, ...]

ODD_STRINGS = (
    "", " ", "\n", "\x00", "\ud800", "\udfff", "a\ud83d", "\u202e", "\ufeff", "e\u0301" * 40, "👍", "ﾊﾝｶｸ",
    "<users/all>", "spaces/A", "spaces/A/messages/B", "spaces/../messages/..", "spaces/A/threads/\u2028",
    "../../x", "%2e%2e/x", "spaces/日本/messages/語", "spaces/" + "A" * 390 + "/messages/B", "__x__",
    "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-11-30T01:02:03", "NaN", "1e999",
    "x" * 5_000, "漢" * 5_000, "[" * 3_000, "javascript:alert(1)", "https://evil.example/\n", "a.b", "`",
)  # fmt: skip
odd_text = st.sampled_from(ODD_STRINGS) | st.text(st.characters(), max_size=30)
odd_number = (
    st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.sampled_from([10**400, -0.0])
)
odd_leaf = st.one_of(st.none(), st.booleans(), odd_number, odd_text)
odd_json = st.recursive(
    odd_leaf,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_text, inner, max_size=4),
    max_leaves=8,
)
#: Stands for a list in a list in a list, and so on, which no Python value could be dumped as.
DEEP = "@deep@"
#: In place of a part: leave it out.
REMOVED = object()


def fuzzed(cases: float = 1.0, seconds: float = PER_CASE, **strategies: Any) -> Callable[[Any], Any]:
    """Run the decorated function for `cases` × CASES draws; each may take `seconds`."""

    def decorate(function: Any) -> Any:
        configured = settings(
            max_examples=max(1, round(CASES * cases)),
            deadline=timedelta(seconds=seconds),
            derandomize=GIVEN_CASES is None,
            database=None,
            print_blob=True,
            suppress_health_check=[
                HealthCheck.function_scoped_fixture,
                HealthCheck.too_slow,
                HealthCheck.data_too_large,
                HealthCheck.large_base_example,
            ],
        )
        return configured(given(**strategies)(function))

    return decorate


def ways(value: Any, here: Way = ()) -> list[Way]:
    """The way to every part of a JSON value, the whole (an empty way) first."""
    if isinstance(value, dict):
        parts: Any = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        parts = ()
    return [here, *(way for key, part in parts for way in ways(part, (*here, key)))]


def replaced(value: Any, way: Way, new: Any) -> Any:
    """A copy of `value` with `new` at `way`; without that part when `new` is `REMOVED`."""
    if not way:
        return {} if new is REMOVED else new
    key, *rest = way
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if new is REMOVED and not rest:
        del copy[key]
    else:
        copy[key] = replaced(value[key], tuple(rest), new)
    return copy


def changed(*goldens: Any) -> st.SearchStrategy[Any]:
    """One of the golden JSON values after one to four changes: parts removed, replaced, added, swapped."""
    elsewhere = [at(golden, way) for golden in goldens for way in ways(golden)]
    return _changed(
        st.sampled_from(goldens), st.sampled_from([REMOVED, DEEP, *elsewhere]) | odd_json | odd_text
    )


@st.composite
def _changed(draw: Any, goldens: st.SearchStrategy[Any], others: st.SearchStrategy[Any]) -> Any:
    value = draw(goldens)
    for _ in range(draw(st.integers(1, 4))):
        possible = ways(value)
        way = possible[draw(st.integers(min(1, len(possible) - 1), len(possible) - 1))]
        part = at(value, way)
        grown = isinstance(part, str) and draw(st.booleans())
        value = replaced(value, way, f"{part}{draw(odd_text)}" if grown else draw(others))
        if isinstance(value, dict) and draw(st.booleans()):
            value = {**value, draw(odd_text): draw(odd_leaf)}
    return value


def at(value: Any, way: Way) -> Any:
    """The part of a JSON value at the end of a way."""
    for key in way:
        value = value[key]
    return value


def as_json(value: Any, depth: int = 1_000) -> bytes:
    """UTF-8 JSON with `depth` lists in each other in place of each `DEEP`; NaN and infinities as Python has
    them, lone surrogates escaped."""
    return json.dumps(value).replace(f'"{DEEP}"', "[" * depth + "]" * depth).encode()


def changed_bytes(*goldens: Any) -> st.SearchStrategy[bytes]:
    """Changed JSON, some of it spoilt as bytes: cut, overwritten, in another encoding, or no JSON at all."""
    return _spoilt(changed(*goldens))


_DEPTHS = st.sampled_from([10, 500, 900, 985, 992, 100_000])
_SPOILT = st.sampled_from(["no"] * 6 + ["cut", "overwritten", "utf-16", "noise"])


@st.composite
def _spoilt(draw: Any, values: st.SearchStrategy[Any]) -> bytes:
    data = as_json(draw(values), draw(_DEPTHS))
    spoilt = draw(_SPOILT)
    if spoilt == "cut":
        return data[: draw(st.integers(0, len(data)))]
    if spoilt == "overwritten":
        position = draw(st.integers(0, len(data)))
        return data[:position] + bytes(draw(st.binary(max_size=4))) + data[position + 2 :]
    if spoilt == "utf-16":
        return data.decode().encode("utf-16")
    return bytes(draw(st.binary(max_size=60))) if spoilt == "noise" else data


_NAMES = ("Content-Type", "Ce-Id", "Ce-Specversion", "Ce-Type", "Ce-Source", "Ce-Time", "Traceparent")
_ODD_NAMES = ("ce-specversion", "Ce-Data", "Ce-", "ce_x", "Replay-Count", "Dead-Letter-Step")
_VALUES = ("", "1.0", "9.9", "application/cloudevents+json", "application/cloudevents-batch+json", "日本")
_HEADER_NAMES = st.sampled_from(_NAMES + _ODD_NAMES) | st.text("abz-", max_size=300).map("ce-{}".format)
_HEADER_VALUES = st.sampled_from(_VALUES) | odd_text | st.text("0az", min_size=250, max_size=300)


@st.composite
def headers(draw: Any) -> dict[str, str]:
    """The headers of a push with some left out, replaced, or added, up to far too many."""
    given = dict(push(envelope())[0])
    for name in draw(st.lists(st.sampled_from(sorted(given)), max_size=2, unique=True)):
        del given[name]
    given.update(draw(st.dictionaries(_HEADER_NAMES, _HEADER_VALUES, max_size=4)))
    many = draw(st.sampled_from([0, 0, 0, 20, 60]))
    return {**given, **{f"Ce-Many{number}": "x" for number in range(many)}}
