"""Cases grouped by cause."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ops.case import Case


@dataclass(frozen=True)
class Group:
    """Cases that failed in the same step for the same cause. `example` is the latest."""

    id: str
    count: int
    first_at: datetime | None
    last_at: datetime | None
    example: Case

    def as_fields(self) -> dict[str, Any]:
        """For --json and the page."""
        case = self.example
        return {
            "group": self.id,
            "count": self.count,
            "step": case.step,
            "reason": case.reason,
            "cause": case.cause,
            "first_at": self.first_at and self.first_at.isoformat(),
            "last_at": self.last_at and self.last_at.isoformat(),
            "example": case.reference,
        }


def grouped(cases: Iterable[Case]) -> list[Group]:
    """The groups of some cases, the largest first."""
    by_cause: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_cause[case.group].append(case)
    groups = [_group(group_id, members) for group_id, members in by_cause.items()]
    return sorted(groups, key=lambda group: (-group.count, group.id))


def _group(group_id: str, members: list[Case]) -> Group:
    firsts = [case.first_at for case in members if case.first_at]
    lasts = [case.last_at for case in members if case.last_at]
    latest = max(members, key=lambda case: (case.last_at is not None, case.last_at, case.id))
    return Group(group_id, len(members), min(firsts, default=None), max(lasts, default=None), latest)
