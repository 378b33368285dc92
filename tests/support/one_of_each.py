"""A pytest plugin (`-p tests.support.one_of_each`): of each parametrised test its first case alone.

For a second Python: what can differ there is what Python and the packages do, and that shows in any case.
"""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the other cases."""
    first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
    left_out = [item for item in items if first[item.nodeid.partition("[")[0]] is not item]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if first[item.nodeid.partition("[")[0]] is item]
