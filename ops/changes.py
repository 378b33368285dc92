"""Change cases by compare-and-set. One commit writes the change and its entry in the audit."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.api_core.exceptions import AlreadyExists

from ops.audit import Audit, Operation, entry
from shared.memory.cases import COLLECTION, DISCARDED
from shared.memory.firestore import Fields, change_all
from shared.memory.firestore import change as compare_and_set
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_SINGLE, call

#: Seconds for changing one case.
WAIT_FOR_ONE = 30.0
#: How many of its latest operations a case keeps. The audit keeps all of them.
MOST_ACTIONS = 20
IMPORTED, THERE = "imported", "there already – skipped"


@dataclass(frozen=True)
class Change:
    """The fields to change in a case, and the word for the outcome. `fields` None changes nothing."""

    outcome: str
    fields: Fields | None = None
    detail: str = ""


class Changes:
    """Changes cases of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._cases = client.collection(COLLECTION)
        self._audit = Audit(client)

    def bring_back(self, case_id: str, fields: Fields, operation: Operation) -> str:
        """Store an exported case, unless it exists and is not discarded. Returns the outcome.

        Raises Permanent or Transient, and ValueError for fields that no document can have.
        """
        batch = self._client.batch()
        batch.create(self._cases.document(case_id), fields)
        batch.set(self._audit.message(operation, case_id), entry(case_id, fields, IMPORTED, ""))

        def decide(current: Fields) -> Change:
            if current.get("state") != DISCARDED or fields["state"] == DISCARDED:
                return Change(THERE)
            return Change(IMPORTED, {name: fields.get(name) for name in ("state", "data", "edits")})

        try:
            call(
                lambda timeout: batch.commit(retry=None, timeout=timeout),
                FIRESTORE_SINGLE,
                Deadline(WAIT_FOR_ONE),
                answers=(AlreadyExists,),
            )
        except AlreadyExists:
            return self.act(case_id, operation, decide).outcome
        return IMPORTED

    def act(self, case_id: str, operation: Operation, decide: Callable[[Fields], Change]) -> Change:
        """Change a case by compare-and-set and record it in the audit, in one commit.

        `decide` gets the case as it is now, more than once if somebody else changes it meanwhile. Raises
        Permanent or Transient.
        """
        change = Change("gone")

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal change
            current, _ = documents
            if current is None:
                change = Change("gone")
                return []
            change = decide(current)
            actions = _actions(current, operation, change.outcome)
            fields = None if change.fields is None else {**change.fields, "actions": actions}
            return [fields, entry(case_id, current, change.outcome, change.detail)]

        references = [self._cases.document(case_id), self._audit.message(operation, case_id)]
        change_all(self._client, references, edit, Deadline(WAIT_FOR_ONE), policy=FIRESTORE_SINGLE)
        return change

    def set(self, case_id: str, decide: Callable[[Fields], Fields | None]) -> Fields | None:
        """Change a case without an entry in the audit, if a later change writes that entry."""
        return compare_and_set(
            self._client,
            self._cases.document(case_id),
            lambda current: None if current is None else decide(current),
            Deadline(WAIT_FOR_ONE),
        )


def _actions(current: Fields, operation: Operation, outcome: str) -> list[Any]:
    """The operations on a case, one entry for each."""
    listed = current.get("actions")
    earlier = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    action = {
        "at": datetime.now(UTC),
        "by": operation.by,
        "action": operation.action,
        "operation": operation.name,
        "outcome": outcome,
    }
    others = [each for each in earlier if each.get("operation") != operation.name]
    return [*others, action][-MOST_ACTIONS:]
