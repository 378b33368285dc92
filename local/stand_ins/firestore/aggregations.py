"""Aggregations over the documents that a query found: count, sum and average."""

from local.stand_ins.firestore import field_paths, values
from local.stand_ins.firestore.errors import invalid
from local.stand_ins.firestore.messages import AggregationResult, Message, Value

_INT64 = range(-(2**63), 2**63)


def _numbers(documents: list[Message], field_path: str) -> list[int | float]:
    path = field_paths.parse(field_path)
    found = (field_paths.get(document.fields, path) for document in documents)
    return [values.number(value) for value in found if value is not None and values.is_number(value)]


def _sum(numbers: list[int | float]) -> Message:
    total = sum(numbers)
    overflows = isinstance(total, int) and total not in _INT64
    return values.from_number(float(total) if overflows else total)


def _average(numbers: list[int | float]) -> Message:
    if not numbers:
        return Value(null_value="NULL_VALUE")
    return Value(double_value=sum(numbers) / len(numbers))


def _one(aggregation: Message, documents: list[Message]) -> Message:
    kind = aggregation.WhichOneof("operator")
    if kind == "count":
        limited = aggregation.count.HasField("up_to")
        count = min(len(documents), aggregation.count.up_to.value) if limited else len(documents)
        return Value(integer_value=count)
    if kind == "sum":
        return _sum(_numbers(documents, aggregation.sum.field.field_path))
    if kind == "avg":
        return _average(_numbers(documents, aggregation.avg.field.field_path))
    raise invalid("An aggregation has no operator")


def result(aggregations: Message, documents: list[Message]) -> Message:
    """The results by alias; those without one are `field_1`, `field_2`, … Raises INVALID_ARGUMENT."""
    if not aggregations:
        raise invalid("Aggregations can not be empty.")
    answer = AggregationResult()
    unnamed = 0
    for aggregation in aggregations:
        unnamed += not aggregation.alias
        alias = aggregation.alias or f"field_{unnamed}"
        if alias in answer.aggregate_fields:
            raise invalid(f"Aggregation aliases contain duplicate alias: {alias}.")
        answer.aggregate_fields[alias].CopyFrom(_one(aggregation, documents))
    return answer
