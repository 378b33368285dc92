"""Applies one write to a document."""

from local.stand_ins.firestore import field_paths, limits, names
from local.stand_ins.firestore.protos import Document, Message, WriteResult
from local.stand_ins.grpc_server import already_exists, failed_precondition, invalid, not_found, unimplemented


def target(write: Message, database: str) -> str:
    """The name of the document that `write` changes. Raises INVALID_ARGUMENT or UNIMPLEMENTED."""
    kind = write.WhichOneof("operation")
    if kind is None:
        raise invalid("A write has no operation")
    if kind == "transform" or write.update_transforms:
        raise unimplemented("values that the server computes, such as Increment and SERVER_TIMESTAMP")
    if kind == "delete" and write.HasField("update_mask"):
        raise invalid("A delete must not specify an update mask")
    name: str = write.delete if kind == "delete" else write.update.name
    names.check_document(name, database)
    return name


def _check_precondition(write: Message, name: str, before: Message | None) -> None:
    condition = write.current_document
    kind = condition.WhichOneof("condition_type")
    if kind == "exists" and condition.exists and before is None:
        raise not_found(f"No document to update: {name}")
    if kind == "exists" and not condition.exists and before is not None:
        raise already_exists(f"Document already exists: {name}")
    if kind == "update_time":
        stored = 0 if before is None else before.update_time.ToMicroseconds()
        required = condition.update_time.ToMicroseconds()
        if stored != required:
            message = f"the stored version ({stored}) does not match the required base version ({required})"
            raise failed_precondition(message)


def _merged(write: Message, before: Message | None) -> Message:
    after = Document(name=write.update.name)
    if not write.HasField("update_mask"):
        after.MergeFrom(write.update)
        return after
    if before is not None:
        after.MergeFrom(before)
    for text in write.update_mask.field_paths:
        path = field_paths.parse(text)
        value = field_paths.get(write.update.fields, path)
        if value is None:
            field_paths.remove(after.fields, path)
        else:
            field_paths.put(after.fields, path, value)
    return after


def _truncate_timestamps(value: Message) -> None:
    kind = value.WhichOneof("value_type")
    if kind == "timestamp_value":
        value.timestamp_value.nanos -= value.timestamp_value.nanos % 1000
    elif kind == "array_value":
        for element in value.array_value.values:
            _truncate_timestamps(element)
    elif kind == "map_value":
        for field in value.map_value.fields.values():
            _truncate_timestamps(field)


def _serialized_fields(document: Message) -> bytes:
    return bytes(Document(fields=document.fields).SerializeToString(deterministic=True))


def apply(write: Message, name: str, before: Message | None, now: int) -> tuple[Message | None, Message]:
    """The document after `write` (None: deleted), and the result of the write. `before` is not changed.

    `now` is the time of the commit in microseconds. A write without a change returns `before` itself, with
    its old update time. Raises NOT_FOUND, ALREADY_EXISTS or FAILED_PRECONDITION if the precondition does not
    hold, and INVALID_ARGUMENT if the document would break a limit.
    """
    _check_precondition(write, name, before)
    if write.WhichOneof("operation") == "delete":
        return None, WriteResult()
    after = _merged(write, before)
    for value in after.fields.values():
        _truncate_timestamps(value)
    limits.check(after)
    # Compared as bytes, because NaN does not equal itself, and 0.0 equals -0.0.
    if before is not None and _serialized_fields(before) == _serialized_fields(after):
        return before, WriteResult(update_time=before.update_time)
    after.update_time.FromMicroseconds(now)
    after.create_time.CopyFrom(after.update_time if before is None else before.create_time)
    return after, WriteResult(update_time=after.update_time)
