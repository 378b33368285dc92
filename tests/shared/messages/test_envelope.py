"""The envelope: what a reader accepts, and what becomes of the rest."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.messages.envelope import UPGRADES, VERSION, Envelope, upgraded
from shared.runtime.errors import Permanent, Transient
from tests.support.factories import context, envelope, turn

GOLDEN = sorted((Path(__file__).parent / "golden").glob("v*.json"))


def test_there_is_a_golden_file_of_every_version_a_reader_accepts() -> None:
    versions = {int(path.stem[1:].split("-")[0]) for path in GOLDEN}

    assert versions >= {VERSION}
    assert all(version in versions for version in UPGRADES)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_golden_envelope_opens(path: Path) -> None:
    opened = Envelope.from_bytes(path.read_bytes())

    assert opened.question.text
    assert opened.version == VERSION


def test_the_golden_envelope_of_this_version_is_what_we_would_send_again() -> None:
    path = Path(__file__).parent / "golden" / f"v{VERSION}-findings.json"
    again = json.loads(Envelope.from_bytes(path.read_bytes()).to_bytes())

    assert again == json.loads(path.read_bytes())


def test_what_is_sent_is_what_is_opened() -> None:
    sent = envelope(history=(turn("user", "やあ"),), search_query="VPN", contexts=(context(),))

    assert Envelope.from_bytes(sent.to_bytes()) == sent


def test_a_newer_version_waits_for_its_deployment() -> None:
    data = _with(version=VERSION + 1, surprise=True)

    with pytest.raises(Transient, match="envelope_newer"):
        Envelope.from_bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{",
        b"[" * 100_000,
        b'{"version": "1"}',
        b'{"version": true}',
        b'{"version": 0}',
        b'{"version": 3}',
    ],
    ids=lambda data: repr(data[:12]),
)
def test_a_malformed_envelope_is_permanent(data: bytes) -> None:
    with pytest.raises(Permanent, match="envelope_malformed"):
        Envelope.from_bytes(data)


def test_a_version_older_than_the_one_before_is_retired() -> None:
    with pytest.raises(Permanent, match="envelope_retired"):
        upgraded({"version": VERSION - 2})


def test_the_version_before_is_upgraded() -> None:
    steps = {1: lambda old: {**old, "version": 2, "search_query": "upgraded"}}

    assert upgraded({"version": 1}, to=2, upgrades=steps) == {"version": 2, "search_query": "upgraded"}


def test_an_error_does_not_carry_what_a_person_wrote() -> None:
    data = json.loads(envelope().to_bytes())
    data["question"]["text"] = ["my secret is 4711"]

    with pytest.raises(Permanent) as caught:
        Envelope.from_bytes(json.dumps(data).encode())

    assert "question.text" in str(caught.value)
    assert "4711" not in str(caught.value)


def _with(**fields: Any) -> bytes:
    return json.dumps({**json.loads(envelope().to_bytes()), **fields}).encode()


@pytest.mark.parametrize("version", [VERSION - 1, VERSION])
def test_half_an_emoji_is_malformed_in_every_version_that_is_read(version: int) -> None:
    path = Path(__file__).parent / "golden" / f"v{version}-findings.json"
    sent = json.loads(path.read_text())
    sent["question"]["person"] = "users/1\ud800"

    with pytest.raises(Permanent, match="envelope_malformed"):
        Envelope.from_bytes(json.dumps(sent).encode())
