"""Queries: which documents of a collection, in which order.

Every query runs here; production first wants a composite index where filters and orders name several fields.
"""

import asyncio
from dataclasses import dataclass
from functools import partial

import grpc

from local.stand_ins.firestore import field_paths, filters, names, values
from local.stand_ins.firestore.errors import FirestoreError, invalid, unimplemented
from local.stand_ins.firestore.field_paths import NAME, Path
from local.stand_ins.firestore.messages import Document, Message, StructuredQuery
from local.stand_ins.firestore.store import Store
from local.stand_ins.firestore.values import Key

#: Documents read before other calls get a turn.
_CHUNK = 200


@dataclass(frozen=True)
class _Order:
    path: Path
    descending: bool


@dataclass(frozen=True)
class _Found:
    document: Message
    keys: tuple[Key, ...]  # one for each order of the query


def _explicit_orders(query: Message) -> list[_Order]:
    orders = [
        _Order(field_paths.parse(order.field.field_path), order.direction == StructuredQuery.DESCENDING)
        for order in query.order_by
    ]
    paths = [order.path for order in orders]
    if len(set(paths)) < len(paths):
        raise invalid("order by clause cannot contain duplicate fields")
    if NAME in paths[:-1]:
        raise invalid("order by clause cannot contain more fields after the key")
    return orders


def _orders(query: Message) -> list[_Order]:
    orders = _explicit_orders(query)
    descending = bool(orders) and orders[-1].descending
    wanted = sorted(set(filters.inequality_paths(query.where)) - {NAME}) if query.HasField("where") else []
    for path in (*wanted, NAME):
        if all(order.path not in (path, NAME) for order in orders):
            orders.append(_Order(path, descending))
    if orders[0] == _Order(NAME, descending=True):
        # Needs an index that production does not make by itself; the emulator refuses it as well.
        raise FirestoreError(
            grpc.StatusCode.FAILED_PRECONDITION, "Firestore does not support descending key scans"
        )
    return orders


def _check(query: Message) -> None:
    if len(query.from_) > 1:
        raise invalid("StructuredQuery.from cannot have more than one collection selector.")
    if not query.from_ or not query.from_[0].collection_id:
        raise unimplemented("queries over all collections")
    names.check_id("Collection", query.from_[0].collection_id)
    if query.HasField("find_nearest"):
        raise unimplemented("vector search")
    if query.offset < 0 or query.limit.value < 0:
        raise invalid("offset or limit is negative")


async def _matching(rows: list[bytes], query: Message, orders: list[_Order]) -> list[_Found]:
    matches = filters.predicate(query.where) if query.HasField("where") else lambda document: True
    found = []
    for position, row in enumerate(rows):
        if position % _CHUNK == _CHUNK - 1:
            await asyncio.sleep(0)
        document = Document.FromString(row)
        keys = [filters.value_key(document, order.path) for order in orders]
        present = tuple(key for key in keys if key is not None)
        if len(present) == len(keys) and matches(document):
            found.append(_Found(document, present))
    return found


def _key_at(position: int, one: _Found) -> Key:
    return one.keys[position]


def _sort(found: list[_Found], orders: list[_Order]) -> None:
    for position, order in reversed(list(enumerate(orders))):
        found.sort(key=partial(_key_at, position), reverse=order.descending)  # stable, also in reverse


def _cursor_keys(cursor: Message, query: Message) -> tuple[Key, ...]:
    if len(cursor.values) > len(query.order_by):
        raise invalid("Cursor has too many values.")
    return tuple(values.key(value) for value in cursor.values)


def _against_cursor(found: _Found, cursor: tuple[Key, ...], orders: list[_Order]) -> int:
    for stored, given, order in zip(found.keys, cursor, orders, strict=False):
        if stored != given:
            return -1 if (stored < given) != order.descending else 1
    return 0


def _within_cursors(found: list[_Found], query: Message, orders: list[_Order]) -> list[_Found]:
    if query.HasField("start_at"):
        start, least = _cursor_keys(query.start_at, query), 0 if query.start_at.before else 1
        found = [one for one in found if _against_cursor(one, start, orders) >= least]
    if query.HasField("end_at"):
        end, most = _cursor_keys(query.end_at, query), -1 if query.end_at.before else 0
        found = [one for one in found if _against_cursor(one, end, orders) <= most]
    return found


def _selected(document: Message, query: Message) -> Message:
    if not query.HasField("select"):
        return document
    paths = [field_paths.parse(field.field_path) for field in query.select.fields]
    return field_paths.project(document, [path for path in paths if path != NAME])


async def run(store: Store, parent: str, query: Message) -> tuple[list[Message], int]:
    """The documents that `query` finds below `parent`, in its order, and how many its offset skipped.

    They are those stored when the call began. Raises INVALID_ARGUMENT, FAILED_PRECONDITION or UNIMPLEMENTED.
    """
    _check(query)
    orders = _orders(query)
    selector = query.from_[0]
    read = store.collection_group if selector.all_descendants else store.collection
    found = await _matching(read(parent, selector.collection_id), query, orders)
    _sort(found, orders)
    found = _within_cursors(found, query, orders)
    skipped = min(query.offset, len(found))
    end = skipped + query.limit.value if query.HasField("limit") else None
    return [_selected(one.document, query) for one in found[skipped:end]], skipped
