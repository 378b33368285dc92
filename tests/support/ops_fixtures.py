"""Fixtures (as a pytest plugin) of the operators' commands."""

from collections.abc import Iterator

import pytest
from google.cloud.firestore import Client

from tests.conftest import SmallCloud
from tests.support.operating import Desk


@pytest.fixture
def desk(small_cloud: SmallCloud, firestore: Client) -> Iterator[Desk]:
    """A store without cases."""
    desk = Desk(firestore)
    desk.clear()
    yield desk
    desk.clear()
