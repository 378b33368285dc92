"""A dead-letter case as it is read from Firestore, and cases grouped by cause.

`shared/memory/cases.py` writes the cases.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError

from shared.memory.cases import OPEN
from shared.messages.dead_letter import reference

#: Parts of an error text that differ each time the error occurs: addresses, ids, long numbers.
_VARYING = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{8,}\b|\d{4,}", re.IGNORECASE
)
#: Fields that are large or contain text that a person wrote. They are read only when needed.
HEAVY = ("data", "attributes", "actions", "edits")
#: A count is a whole number from 0 on. shared/memory/cases.py has the same rule.
_Count = Annotated[StrictInt, Field(ge=0)]


def is_case_id(name: str) -> bool:
    """Whether a document can have this id (firebase.google.com/docs/firestore/quotas)."""
    reserved = name in {"", ".", ".."} or (name.startswith("__") and name.endswith("__"))
    return not reserved and "/" not in name and len(name.encode(errors="replace")) <= 1500


class Action(BaseModel):
    """What an operator did with a case."""

    model_config = ConfigDict(extra="ignore")

    at: AwareDatetime
    by: str = ""
    action: str = ""
    operation: str = ""
    outcome: str = ""


class Edit(BaseModel):
    """An envelope that an operator has corrected, as it was `before`."""

    model_config = ConfigDict(extra="ignore")

    at: AwareDatetime
    by: str = ""
    before: Any = None


class Case(BaseModel):
    """One case; `id` is the id of its document. A field that is missing or malformed has its default."""

    model_config = ConfigDict(extra="ignore")

    id: str
    question_id: Annotated[str, Field(min_length=1)] = ""
    reference: Annotated[str, Field(min_length=1)] = ""
    space: str | None = None
    thread: str | None = None
    language: str | None = None
    asked_at: AwareDatetime | None = None
    sender: str | None = None
    step: str | None = None
    reason: str = "unknown"
    error: str | None = None
    attempts: _Count = 0
    copies: _Count = 0
    told: StrictBool = False
    first_at: AwareDatetime | None = None
    last_at: AwareDatetime | None = None
    state: str = OPEN
    answered_at: AwareDatetime | None = None
    again: _Count = 0
    replays: _Count = 0
    returned: _Count = 0
    replay_name: str | None = None
    replayed_at: AwareDatetime | None = None
    actions: list[Action] = []
    edits: list[Edit] = []
    bytes: _Count = 0
    data: Any = None
    attributes: dict[str, str] = {}

    @classmethod
    def read(cls, document_id: str, fields: dict[str, Any]) -> "Case":
        """A case from a document's fields. Never fails."""
        kept = {name: value for name, value in fields.items() if name in cls.model_fields}
        while True:
            try:
                case = cls.model_validate({**kept, "id": document_id})
            except ValidationError as error:
                for fault in error.errors():
                    kept.pop(str(fault["loc"][0]), None)
            else:
                return case.model_copy(update=case._named())

    def _named(self) -> dict[str, str]:
        """The reference of the case. If the document has none, it is computed from the question's id."""
        question_id = self.question_id or self.id
        return {"question_id": question_id, "reference": self.reference or reference(question_id)}

    @property
    def status(self) -> str:
        """The current status in one word: the state, or `answered`."""
        return "answered" if self.answered_at else self.state

    @property
    def age(self) -> timedelta:
        """Time since the question was asked. If that is not known, time since it failed."""
        since = self.asked_at or self.first_at
        return datetime.now(UTC) - since if since else timedelta(0)

    @property
    def cause(self) -> str:
        """The error without the parts that differ between cases with the same cause."""
        return _VARYING.sub("…", (self.error or self.reason).removeprefix(f"{self.reason}: "))

    @property
    def group(self) -> str:
        """The group it belongs to: six hexadecimal digits that stand for step, reason and cause."""
        key = f"{self.step}|{self.reason}|{self.cause}"
        return hashlib.sha256(key.encode()).hexdigest()[:6]

    @property
    def thread_shortened(self) -> str:
        """Enough of the thread, or space, to recognise it."""
        name = self.thread or self.space or "–"
        return name if len(name) <= 36 else f"{name[:16]}…{name[-19:]}"


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
