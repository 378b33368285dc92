"""Fixtures (as a pytest plugin): one whole stack, which the tests of a worker share."""

from collections.abc import Iterator

import pytest

from local.stand_ins.chat.connection import Connection
from tests.support.stack import Stack, running_stack


@pytest.fixture(scope="session")
def whole_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One stack for a worker's tests, with Chat's quotas off: starting it takes seconds of two cores."""
    with running_stack(
        tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("logs"), quotas=False
    ) as all_of_it:
        yield all_of_it


@pytest.fixture
def stack(whole_stack: Stack) -> Iterator[Stack]:
    """The whole stack for one test, which asks in threads of its own.

    It holds what earlier tests have asked. After the test no fault is on, Chat is connected as at first, and
    nothing is under way.
    """
    yield whole_stack
    whole_stack.faults.switch_off()
    whole_stack.cloud.chat.connect(Connection())
    whole_stack.settle()
