"""Fixtures (as a pytest plugin): the real `ingest_fn`, and each way that events come to it."""

import pytest

from tests.conftest import SmallCloud
from tests.support.golden_events import SHAPES
from tests.support.ingest_side import TRANSPORTS, Ingest


@pytest.fixture(scope="module")
def ingest(small_cloud: SmallCloud) -> Ingest:
    return Ingest(small_cloud)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)
