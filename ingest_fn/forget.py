"""Forgetting: deletes everything that is stored for a conversation or for a whole space.

First a tombstone is written (`shared/memory/forgotten.py`), so that a turn or a dead letter that is still
being processed is not stored later. Then everything is found and deleted: the conversation with its turns and
pending questions, the questions' records, failure records, dead letters and feedback. One entry in the audit
remains, in the shape that `ops/audit.py` reads: who, when, where, and how many documents, but no text.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from google.cloud.firestore import FieldFilter

from ingest_fn.openings import Openings
from shared.chat.places import Place
from shared.memory import cases, conversations, failures, feedback, records
from shared.memory.firestore import Fields, read
from shared.memory.forgotten import Forgotten
from shared.memory.turns import entries
from shared.messages.names import messages_begin
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_FORGET, call

AUDIT = "audit"
#: Firestore takes 30 values in one `in`, and no larger request than 10 MiB.
MOST_VALUES, MOST_DELETES = 30, 300
#: A character that sorts after every character of a resource name.
_LAST = "\uf8ff"
_OF_QUESTIONS = (records.COLLECTION, failures.COLLECTION, cases.COLLECTION, feedback.COLLECTION)
_IN_PLACES = (cases.COLLECTION, feedback.COLLECTION)

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
#: References of documents by their paths.
Found = dict[str, Any]


class Forgetting:
    """Deletes from one Firestore database."""

    def __init__(self, client: Any, openings: Openings) -> None:
        self._client = client
        self._openings = openings
        self._forgotten = Forgotten(client)

    def conversation(self, place: Place, name: str, deadline: Deadline) -> int:
        """Forget a thread, or a whole space if `name` is a space. Returns the number of deleted documents.

        A thread of a direct message is forgotten together with the question that it began with. Questions
        that were asked after the event stay, even if the event arrives late. Raises Transient or Permanent.
        """
        audit = self._client.collection(AUDIT).document(_operation(place, name))
        if (read(audit, deadline).to_dict() or {}).get("finished_at"):
            logs.info("Already forgotten", name=name)
            return 0
        self._record(audit, _begun(audit.id, place, name), deadline)
        opening = {turn.question_id for turn in self._openings.of(place, name, deadline)}
        for each in (name, *opening):
            self._forgotten.record(each, place.at, deadline)
        of_space = name == place.space
        found = self._of_space(name, deadline) if of_space else self._of_thread(name, opening, deadline)
        later = {question for fields in _fields(found) for question in _asked_after(fields, place.at)}
        gone = {
            path: snapshot
            for path, snapshot in found.items()
            if (snapshot.to_dict() or {}).get("question_id") not in later
        }
        self._delete(gone, place.at, later, deadline)
        for question_id in opening:  # last: until now, a repeated call can still find everything
            self._openings.conversations.drop(place.space, question_id, deadline)
        counts = Counter(path.split("/")[0] for path in gone)
        self._record(audit, {"finished_at": datetime.now(UTC), "counts": dict(counts)}, deadline)
        logs.info("Forgotten", name=name, documents=sum(counts.values()))
        return sum(counts.values())

    def _of_space(self, space: str, deadline: Deadline) -> Found:
        found = self._starting(conversations.COLLECTION, "conversation", f"{space}/", deadline, whole=True)
        found |= self._equal(conversations.COLLECTION, "conversation", space, deadline, whole=True)
        for collection in _OF_QUESTIONS:
            found |= self._starting(collection, "question_id", f"{space}/", deadline)
        for collection in _IN_PLACES:
            found |= self._equal(collection, "space", space, deadline)
        return found

    def _of_thread(self, thread: str, opening: set[str], deadline: Deadline) -> Found:
        known = self._equal(conversations.COLLECTION, "conversation", thread, deadline, whole=True)
        questions = opening | {name for fields in _fields(known) for name in _questions(fields)}
        found = known
        for collection in _IN_PLACES:
            here = self._equal(collection, "conversation", thread, deadline)
            here |= self._equal(collection, "thread", thread, deadline)
            questions |= {str(fields.get("question_id")) for fields in _fields(here)}
            found |= here
        # That messages are named after their thread is not documented, so the ids are searched as well.
        messages = messages_begin(thread)
        for collection in _OF_QUESTIONS:
            found |= self._starting(collection, "question_id", messages, deadline)
            for some in _chunks(sorted(questions), MOST_VALUES):
                found |= self._found(collection, [("question_id", "in", some)], deadline)
        return found

    def _starting(
        self, collection: str, field: str, prefix: str, deadline: Deadline, *, whole: bool = False
    ) -> Found:
        conditions = [(field, ">=", prefix), (field, "<", prefix + _LAST)]
        return self._found(collection, conditions, deadline, whole=whole)

    def _equal(
        self, collection: str, field: str, value: str, deadline: Deadline, *, whole: bool = False
    ) -> Found:
        return self._found(collection, [(field, "==", value)], deadline, whole=whole)

    def _found(
        self,
        collection: str,
        conditions: Iterable[tuple[str, str, Any]],
        deadline: Deadline,
        *,
        whole: bool = False,
    ) -> Found:
        query = self._client.collection(collection)
        for condition in conditions:
            query = query.where(filter=FieldFilter(*condition))
        if not whole:  # a dead letter can be large, and a few fields are enough
            query = query.select(["question_id", "asked_at", "asked", "final.asked.asked_at"])
        return {
            snapshot.reference.path: snapshot
            for snapshot in self._call(
                lambda timeout: list(query.stream(retry=None, timeout=timeout)), deadline
            )
        }

    def _delete(self, found: Found, until: datetime, later: set[str], deadline: Deadline) -> None:
        remembered = {path for path in found if path.startswith(f"{conversations.COLLECTION}/")}
        for path in remembered:
            name = str((found[path].to_dict() or {}).get("conversation"))
            self._openings.conversations.forget(name, until, later, deadline)
        for some in _chunks([found[path] for path in found if path not in remembered], MOST_DELETES):
            batch = self._client.batch()
            for snapshot in some:
                batch.delete(snapshot.reference)
            self._call(lambda timeout, batch=batch: batch.commit(retry=None, timeout=timeout), deadline)

    def _record(self, audit: Any, fields: Fields, deadline: Deadline) -> None:
        self._call(lambda timeout: audit.set(fields, merge=True, retry=None, timeout=timeout), deadline)

    def _call(self, work: Any, deadline: Deadline) -> Any:
        return call(work, FIRESTORE_FORGET, deadline)


def _begun(operation: str, place: Place, name: str) -> Fields:
    return {
        "name": operation,
        "action": "forget",
        "by": place.person,
        "note": "asked for in Chat",
        "selection": name,
        "at": datetime.now(UTC),
        "finished_at": None,
        "counts": {},
    }


def _operation(place: Place, name: str) -> str:
    """The name of the operation. It is the same when the event is sent again."""
    digest = hashlib.sha256(f"{place.key} {name}".encode()).hexdigest()[:8]
    return f"forget-{place.at.astimezone(UTC):%Y%m%d-%H%M}-{digest}"


def _fields(found: Found) -> Iterator[Fields]:
    return (snapshot.to_dict() or {} for snapshot in found.values())


def _asked_after(fields: Fields, at: datetime) -> Iterator[str]:
    """The ids of the questions in a document that were asked after a time."""
    question_id, final = fields.get("question_id"), fields.get("final")
    for asked in (fields.get("asked"), final.get("asked") if isinstance(final, dict) else None, fields):
        if isinstance(asked, dict) and isinstance(question_id, str) and _time(asked.get("asked_at")) > at:
            yield question_id
    for part in ("turns", "pending"):
        yield from (each["question_id"] for each in entries(fields.get(part)) if each["timestamp"] > at)


def _time(value: Any) -> datetime:
    """A time from a document, or from a question in it. A date long ago if it is not a time."""
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return _LONG_AGO
    return found if found.tzinfo else _LONG_AGO


def _questions(conversation: Fields) -> Iterator[str]:
    """The ids of the questions in a conversation's document."""
    asked = conversation.get("asked")
    yield from (each for each in (asked if isinstance(asked, list) else []) if isinstance(each, str))
    for part in ("turns", "pending"):
        entries = conversation.get(part)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("question_id"), str):
                yield entry["question_id"]


def _chunks(items: list[Any], size: int) -> Iterator[list[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
