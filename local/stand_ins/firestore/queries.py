"""Runs queries on one collection.

Every query runs here. Production needs a composite index if filters and orders name several fields.
"""

import asyncio
from dataclasses import dataclass
from functools import partial

from local.stand_ins.firestore import field_paths, filters, names
from local.stand_ins.firestore.field_paths import NAME, Path
from local.stand_ins.firestore.protos import Document, Message, StructuredQuery
from local.stand_ins.firestore.store import Store
from local.stand_ins.firestore.values import Key
from local.stand_ins.grpc_server import failed_precondition, invalid, unimplemented

#: The parts of a query that are served.
_SERVED = {"select", "from_", "where", "order_by", "limit"}
#: How many documents to read before other calls get a turn.
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
        # It needs an index that production does not create by itself. The emulator refuses it, too.
        raise failed_precondition("Firestore does not support descending key scans")
    return orders


def _check(query: Message) -> None:
    if len(query.from_) > 1:
        raise invalid("StructuredQuery.from cannot have more than one collection selector.")
    if not query.from_ or not query.from_[0].collection_id or query.from_[0].all_descendants:
        raise unimplemented("queries over several collections")
    names.check_id("Collection", query.from_[0].collection_id)
    for field, _ in query.ListFields():
        if field.name not in _SERVED:
            raise unimplemented(f"queries with {field.name}")
    if query.limit.value < 0:
        raise invalid("limit is negative")


async def _matching(rows: list[bytes], matches: filters.Predicate, orders: list[_Order]) -> list[_Found]:
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


def _selected(document: Message, query: Message) -> Message:
    if not query.HasField("select"):
        return document
    paths = [field_paths.parse(field.field_path) for field in query.select.fields]
    return field_paths.project(document, [path for path in paths if path != NAME])


async def run(store: Store, parent: str, query: Message) -> list[Message]:
    """The documents that `query` finds directly below `parent`, in its order, as stored when the call began.

    Raises INVALID_ARGUMENT, FAILED_PRECONDITION or UNIMPLEMENTED.
    """
    _check(query)
    matches = filters.predicate(query.where) if query.HasField("where") else lambda document: True
    orders = _orders(query)
    found = await _matching(store.collection(parent, query.from_[0].collection_id), matches, orders)
    _sort(found, orders)
    limit = query.limit.value if query.HasField("limit") else None
    return [_selected(one.document, query) for one in found[:limit]]
