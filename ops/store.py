"""The cases as operators read and change them."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.api_core.exceptions import AlreadyExists, FailedPrecondition, NotFound
from google.cloud.firestore import FieldFilter

from ops.audit import Audit, Operation, entry
from ops.case import HEAVY, Case
from ops.errors import Exit, OpsError
from ops.selection import Selection
from shared.cases import ARCHIVED, COLLECTION, DISCARDED, OPEN, REPLAYED
from shared.deadline import Deadline
from shared.errors import Transient
from shared.firestore import TIMEOUT, Fields, document_id, read
from shared.firestore import change as compare_and_set
from shared.retry import call

#: Seconds for reading all cases, and for changing one.
WAIT_FOR_ALL, WAIT_FOR_ONE = 120.0, 30.0
MOST_CHANGES = 8
#: Documents read at once: gRPC takes 4 MiB.
AT_ONCE = 100
#: Of what was done with a case, the case itself keeps the latest; the audit keeps all.
MOST_ACTIONS = 20
STORED_STATES = {OPEN, REPLAYED, ARCHIVED, DISCARDED}
_LIGHT = [name for name in Case.model_fields if name not in {"id", *HEAVY}]


@dataclass(frozen=True)
class Change:
    """What is to become of a case, and the word for it; `fields` None: it stays as it is."""

    outcome: str
    fields: Fields | None = None
    detail: str = ""


class Store:
    """The cases of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._cases = client.collection(COLLECTION)
        self._audit = Audit(client)

    def select(self, selection: Selection) -> list[Case]:
        """The selected cases, the latest first, without their messages. Raises GoogleAPICallError."""
        found = [case for case in self._light(selection) if selection.takes(case)]
        return sorted(
            found, key=lambda case: (case.last_at or datetime.min.replace(tzinfo=UTC), case.id), reverse=True
        )

    def chosen(self, selection: Selection) -> list[Case]:
        """The same for a command that names cases: raises OpsError for an id that there is no case of."""
        found = self.select(selection)
        names = {name for case in found for name in (case.id, case.question_id, case.reference)}
        if unknown := [name for name in selection.ids if name not in names]:
            self.find(unknown[0])  # says so if there is none
            raise OpsError(
                f"{unknown[0]} is not {selection.state}. --state any takes it whatever has become of it.",
                Exit.NOT_FOUND,
            )
        return found

    def find(self, name: str) -> Case:
        """The case of a reference, a question id or a case id, with its message. Raises OpsError."""
        case_id = document_id(name)
        if name.upper().startswith("TW-"):
            query = self._cases.where(filter=FieldFilter("reference", "==", name.upper())).limit(2)
            matching = list(query.stream(retry=None, timeout=WAIT_FOR_ONE))
            if len(matching) > 1:
                raise OpsError(f"Two questions have the reference {name}: use a question id.", Exit.NOT_FOUND)
            case_id = matching[0].id if matching else case_id
        fields = self.fields(case_id)
        if fields is None:
            raise OpsError(f"There is no case {name}. `dead list --state any` shows all.", Exit.NOT_FOUND)
        return Case.read(case_id, fields)

    def fields(self, case_id: str) -> Fields | None:
        """A case's document, or None. Raises Permanent or Transient."""
        snapshot = read(self._cases.document(case_id), Deadline(WAIT_FOR_ONE))
        return snapshot.to_dict() if snapshot.exists else None

    def whole(self, case_ids: list[str]) -> Iterator[tuple[str, Fields]]:
        """Whole cases, by case id, in the order of the ids."""
        for start in range(0, len(case_ids), AT_ONCE):
            part = case_ids[start : start + AT_ONCE]
            references = [self._cases.document(case_id) for case_id in part]
            found = self._client.get_all(references, retry=None, timeout=WAIT_FOR_ONE)
            fields = {snapshot.id: snapshot.to_dict() for snapshot in found if snapshot.exists}
            yield from ((case_id, fields[case_id]) for case_id in part if case_id in fields)

    def bring_back(self, case_id: str, fields: Fields, operation: Operation) -> str:
        """Store an exported case, unless it is there and not discarded; returns what was done."""
        document = self._cases.document(case_id)
        with suppress(AlreadyExists):
            call(
                lambda timeout: document.create(fields, retry=None, timeout=timeout),
                service="firestore",
                deadline=Deadline(WAIT_FOR_ONE),
                timeout=TIMEOUT,
                answers=(AlreadyExists,),
            )

        def decide(current: Fields) -> Change:
            if current.get("state") == DISCARDED and fields.get("state") != DISCARDED:
                return Change("imported", {"state": OPEN, "data": fields["data"]})
            same = current == fields
            return Change("imported", {}) if same else Change("there already – skipped")

        return self.act(case_id, operation, decide).outcome

    def several(self, case_ids: list[str], names: list[str]) -> dict[str, Fields]:
        """Some fields of many cases, by case id."""
        references = [self._cases.document(case_id) for case_id in case_ids]
        found = self._client.get_all(references, names, retry=None, timeout=WAIT_FOR_ONE)
        return {snapshot.id: snapshot.to_dict() for snapshot in found if snapshot.exists}

    def act(self, case_id: str, operation: Operation, decide: Callable[[Fields], Change]) -> Change:
        """Change a case by compare-and-set and note it in the audit, in one commit.

        `decide` gets the case as it is now, more than once if somebody else changes it meanwhile. Raises
        Permanent or Transient.
        """
        deadline = Deadline(WAIT_FOR_ONE)
        for number in range(MOST_CHANGES):
            if number:
                time.sleep(min(random.uniform(0, 0.04 * 2**number), deadline.remaining))  # noqa: S311
            snapshot = read(self._cases.document(case_id), deadline)
            if not snapshot.exists:
                return Change("gone")
            change = decide(snapshot.to_dict() or {})
            try:
                self._commit(snapshot, operation, change, deadline)
            except (FailedPrecondition, NotFound):
                continue
            return change
        raise Transient("firestore_contention", f"{MOST_CHANGES} writers were faster")

    def set(self, case_id: str, decide: Callable[[Fields], Fields | None]) -> Fields | None:
        """Change a case without a word in the audit: for what is noted by what follows."""
        return compare_and_set(
            self._client,
            self._cases.document(case_id),
            lambda current: None if current is None else decide(current),
            Deadline(WAIT_FOR_ONE),
        )

    def _commit(self, snapshot: Any, operation: Operation, change: Change, deadline: Deadline) -> None:
        current = snapshot.to_dict() or {}

        def commit(timeout: float) -> None:
            batch = self._client.batch()
            if change.fields is not None:
                fields = {**change.fields, "actions": _actions(current, operation, change.outcome)}
                option = self._client.write_option(last_update_time=snapshot.update_time)
                batch.update(snapshot.reference, fields, option=option)
            batch.set(
                self._audit.message(operation, snapshot.id),
                entry(snapshot.id, current, change.outcome, change.detail),
            )
            batch.commit(retry=None, timeout=timeout)

        call(
            commit,
            service="firestore",
            deadline=deadline,
            timeout=TIMEOUT,
            answers=(FailedPrecondition, NotFound),
        )

    def _light(self, selection: Selection) -> Iterator[Case]:
        query = self._cases.select(_LIGHT)
        if selection.state in STORED_STATES:
            query = query.where(filter=FieldFilter("state", "==", selection.state))
        for snapshot in query.stream(retry=None, timeout=WAIT_FOR_ALL):
            yield Case.read(snapshot.id, snapshot.to_dict() or {})


def _actions(current: Fields, operation: Operation, outcome: str) -> list[Fields]:
    earlier = current.get("actions")
    action = {
        "at": datetime.now(UTC),
        "by": operation.by,
        "action": operation.action,
        "operation": operation.name,
        "outcome": outcome,
    }
    return [*(earlier if isinstance(earlier, list) else []), action][-MOST_ACTIONS:]
