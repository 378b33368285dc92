"""Fixtures (as a pytest plugin): a Firestore, ours and then Google's emulator, with the SDK in front of it.

A test named in `GAPS` must fail on the emulator. A difference without a name fails the run, and so does a
name that no longer differs.
"""

import uuid
from collections.abc import Iterator

import pytest
from google.api_core import exceptions as errors
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

from local.runner.emulators import emulator, missing
from local.stand_ins.faults import Faults
from local.stand_ins.firestore.service import Firestore
from tests.support.firestore_contract import GAPS
from tests.support.serving import serving


@pytest.fixture(
    scope="module",
    params=["ours", pytest.param("google", marks=[pytest.mark.slow, pytest.mark.emulator])],
)
def firestore_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The "host:port" of a Firestore."""
    if request.param == "ours":
        with serving("firestore", Firestore(None), Faults()) as address:
            yield address
    elif reason := missing("firestore"):
        pytest.skip(reason)
    else:
        with emulator("firestore") as address:
            yield address


@pytest.fixture
def database(
    firestore_server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[firestore.Client]:
    """The real SDK, in a project of its own, which nobody else's documents are in."""
    gap = GAPS.get(request.node.originalname)
    if gap and request.node.callspec.params["firestore_server"] == "google":
        different = (AssertionError, pytest.fail.Exception, errors.GoogleAPICallError)
        request.node.add_marker(pytest.mark.xfail(reason=gap, strict=True, raises=different))
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_server)
    made = firestore.Client(project=f"p-{uuid.uuid4().hex[:12]}", credentials=AnonymousCredentials())
    yield made
    made.close()
