"""Reading and changing cases, for operators."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from google.cloud.firestore import FieldFilter

from ops.case import HEAVY, Case, is_case_id
from ops.changes import WAIT_FOR_ONE, Changes
from ops.errors import Exit, OpsError
from ops.selection import Selection
from shared.memory.cases import STATES
from shared.memory.firestore import Fields, read
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline

#: Seconds for reading all cases.
WAIT_FOR_ALL = 120.0
#: Documents read at once: gRPC takes 4 MiB.
AT_ONCE = 100
#: Values that Firestore takes for one `in`.
MOST_IN_A_QUERY = 30
_LIGHT = [name for name in Case.model_fields if name not in {"id", *HEAVY}]


class Store(Changes):
    """The cases of one Firestore database."""

    def select(self, selection: Selection) -> list[Case]:
        """The selected cases, the latest first, without their messages. Raises GoogleAPICallError."""
        cases = self._named(selection.ids) if selection.ids else self._light(selection)
        found = [case for case in cases if selection.takes(case)]
        return sorted(
            found, key=lambda case: (case.last_at or datetime.min.replace(tzinfo=UTC), case.id), reverse=True
        )

    def chosen(self, selection: Selection) -> list[Case]:
        """Like `select`, but raises OpsError for an id that has no case or is not selected."""
        found = self.select(selection)
        names = {name for case in found for name in (case.id, case.question_id, case.reference)}
        if unknown := [name for name in selection.ids if name not in names]:
            case = self.find(unknown[0])  # says so if there is none
            if selection.state in {"any", case.status}:
                why = "the other filters exclude it"
            else:
                why = f"it is {case.status}, not {selection.state}. Add --state {case.status}"
            raise OpsError(f"{unknown[0]} is not selected: {why}. Nothing was done.", Exit.NOT_FOUND)
        return found

    def find(self, name: str) -> Case:
        """The case of a reference, a question id or a case id, with its message. Raises OpsError."""
        case_id = document_id(name)
        if not is_case_id(case_id):
            raise OpsError(
                "This is not the name of a case. `dead list --state any` lists all cases.", Exit.NOT_FOUND
            )
        if name.upper().startswith("TW-"):
            query = self._cases.where(filter=FieldFilter("reference", "==", name.upper())).limit(2)
            matching = list(query.stream(retry=None, timeout=WAIT_FOR_ONE))
            if len(matching) > 1:
                raise OpsError(f"Two questions have the reference {name}. Use a question id.", Exit.NOT_FOUND)
            case_id = matching[0].id if matching else case_id
        fields = self.fields(case_id)
        if fields is None:
            raise OpsError(
                f"There is no case {name}. `dead list --state any` lists all cases.", Exit.NOT_FOUND
            )
        return Case.read(case_id, fields)

    def fields(self, case_id: str) -> Fields | None:
        """A case's document, or None. Raises Permanent or Transient."""
        snapshot = read(self._cases.document(case_id), Deadline(WAIT_FOR_ONE))
        return snapshot.to_dict() if snapshot.exists else None

    def whole(self, case_ids: list[str]) -> Iterator[tuple[str, Fields]]:
        """Whole cases, by case id."""
        return self._read(case_ids, None)

    def changed_since(self, moment: datetime) -> dict[str, Fields]:
        """`answered_at` and `returned` of the cases that were answered or failed again since `moment`.

        Reads only those cases, so it is cheap with any number of cases.
        """
        found: dict[str, Fields] = {}
        for name in ("answered_at", "last_at"):
            query = self._cases.select(["answered_at", "returned"]).where(
                filter=FieldFilter(name, ">", moment)
            )
            for snapshot in query.stream(retry=None, timeout=WAIT_FOR_ONE):
                found[snapshot.id] = snapshot.to_dict() or {}
        return found

    def several(self, case_ids: list[str], names: list[str]) -> dict[str, Fields]:
        """Some fields of many cases, by case id."""
        return dict(self._read(case_ids, names))

    def _named(self, names: Sequence[str]) -> Iterator[Case]:
        """Read only the cases with these references, question ids or case ids, as far as they exist."""
        references = [name for name in names if name.startswith("TW-")]
        ids = {document_id(name) for name in names if name not in references}
        found = self.several(sorted(filter(is_case_id, ids)), _LIGHT)
        for start in range(0, len(references), MOST_IN_A_QUERY):
            part = references[start : start + MOST_IN_A_QUERY]
            query = self._cases.select(_LIGHT).where(filter=FieldFilter("reference", "in", part))
            for snapshot in query.stream(retry=None, timeout=WAIT_FOR_ONE):
                found[snapshot.id] = snapshot.to_dict() or {}
        return (Case.read(case_id, fields) for case_id, fields in found.items())

    def _light(self, selection: Selection) -> Iterator[Case]:
        query = self._cases.select(_LIGHT)
        if selection.state in STATES:
            query = query.where(filter=FieldFilter("state", "==", selection.state))
        for snapshot in query.stream(retry=None, timeout=WAIT_FOR_ALL):
            yield Case.read(snapshot.id, snapshot.to_dict() or {})

    def _read(self, case_ids: list[str], names: list[str] | None) -> Iterator[tuple[str, Fields]]:
        for start in range(0, len(case_ids), AT_ONCE):
            references = [self._cases.document(case_id) for case_id in case_ids[start : start + AT_ONCE]]
            for snapshot in self._client.get_all(references, names, retry=None, timeout=WAIT_FOR_ONE):
                if snapshot.exists:
                    yield snapshot.id, snapshot.to_dict()
