"""Several documents changed in one commit, on our Firestore and on Google's emulator."""

from typing import Any

import pytest

from shared.memory.firestore import Fields, change_all
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient

pytest_plugins = ["tests.support.firestore_servers"]


def documents(database: Any) -> list[Any]:
    return [database.collection("some").document(name) for name in ("a", "b", "c")]


def fields_of(references: list[Any]) -> list[Fields | None]:
    return [reference.get().to_dict() for reference in references]


def test_all_documents_are_changed_together(database: Any) -> None:
    a, b, c = documents(database)
    b.set({"text": "before", "kept": 1})

    change_all(database, [a, b, c], lambda _: [{"text": "new"}, {"text": "after"}, None], Deadline(10))

    assert fields_of([a, b, c]) == [{"text": "new"}, {"text": "after", "kept": 1}, None]


def test_nothing_is_written_when_nothing_is_to_be_changed(database: Any) -> None:
    a, b, c = documents(database)
    b.set({"text": "before"})
    written = b.get().update_time

    change_all(database, [a, b, c], lambda _: [None, None, None], Deadline(10))

    assert (fields_of([a, b, c]), b.get().update_time) == ([None, {"text": "before"}, None], written)


def test_a_document_that_is_only_looked_at_stays_as_it_is(database: Any) -> None:
    a, b, c = documents(database)
    b.set({"text": "before"})
    written = b.get().update_time

    change_all(database, [a, b, c], lambda _: [{"text": "new"}, None, None], Deadline(10))

    assert (b.get().to_dict(), b.get().update_time) == ({"text": "before"}, written)


@pytest.mark.parametrize("there", [True, False], ids=["changed", "made"])
def test_nothing_is_written_over_what_somebody_else_did_to_a_document_that_was_only_looked_at(
    database: Any, there: bool
) -> None:
    a, b, c = documents(database)
    if there:
        b.set({"text": "before"})
    seen: list[list[Fields | None]] = []

    def edit(current: list[Fields | None]) -> list[Fields | None]:
        seen.append(current)
        if len(seen) == 1:
            b.set({"text": "somebody else's"})
        return [{"text": "first" if len(seen) == 1 else "second"}, None, None]

    change_all(database, [a, b, c], edit, Deadline(10))

    assert [current[1] for current in seen] == [
        {"text": "before"} if there else None,
        {"text": "somebody else's"},
    ]
    assert fields_of([a, b]) == [{"text": "second"}, {"text": "somebody else's"}]


def test_it_gives_up_when_others_are_always_faster(database: Any) -> None:
    a, b, c = documents(database)
    count = 0

    def edit(_: list[Fields | None]) -> list[Fields | None]:
        nonlocal count
        count += 1
        b.set({"count": count})
        return [{"text": "new"}, None, None]

    with pytest.raises(Transient, match="firestore_contention"):
        change_all(database, [a, b, c], edit, Deadline(20))

    assert not a.get().exists


def test_a_document_is_compared_whole_though_only_some_fields_were_read(database: Any) -> None:
    a, b, c = documents(database)
    b.set({"text": "before", "data": "large"})
    seen: list[Fields | None] = []

    def edit(current: list[Fields | None]) -> list[Fields | None]:
        seen.append(current[1])
        if len(seen) == 1:
            b.update({"data": "other"})
        return [None, {"text": "after"}, None]

    change_all(database, [a, b, c], edit, Deadline(10), fields=["text"])

    assert seen == [{"text": "before"}, {"text": "before"}]
    assert b.get().to_dict() == {"text": "after", "data": "other"}
