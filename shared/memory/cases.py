"""Cases: the dead letters that operators work on. Each question has one case, for all copies of its letter.

`dead_letters/<question id with _>`:
    question_id, reference
    space, thread, conversation, language, asked_at       None if the data names no question
    sender, step, reason, error, attempts    `sender` is the step that sent the message, or Chat. A replay
                                             goes to its topic. `attempts` is how often `step` has failed
    data, bytes, attributes                  the message and its original attributes
    message_ids, copies, told, first_at, last_at, expired_at
    state          open, replayed, archived or discarded: what operators have done with it
    answered_at    when the question was answered after all
    replays, returned       how often it was replayed, and how often it came back after a replay
    again          the number of the answer in the latest letter (0 = first)
Other fields belong to the operators' tools (ops/).
"""

from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, change_all, count, expiry
from shared.memory.forgotten import Forgotten, covers, forgotten_until
from shared.messages.dead_letter import DeadLetter, reference
from shared.messages.ending import APOLOGY, Ending
from shared.runtime.deadline import Deadline

COLLECTION = "dead_letters"
MOST_BYTES = 900_000
#: Enough to recognise copies. The limit keeps the document small if a message comes back again and again.
MOST_MESSAGE_IDS = 50
NO_RECORD = "no_failure_record"
STATES = OPEN, REPLAYED, ARCHIVED, DISCARDED = "open", "replayed", "archived", "discarded"

#: The fields of a case that come from the letter. A later letter replaces them.
_OF_THE_LETTER = (
    "space", "thread", "conversation", "language", "asked_at", "sender", "step", "reason", "error",
    "attempts", "data", "bytes", "attributes", "last_at", "expired_at", "again",
)  # fmt: skip
#: The required fields of a case and their types. A damaged one is replaced.
_KINDS: dict[str, tuple[type, ...]] = {
    "question_id": (str,),
    "reference": (str,),
    "data": (bytes, type(None)),
    "told": (bool,),
    "state": (str,),
    "first_at": (datetime,),
}


class Cases:
    """The cases of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._forgotten = Forgotten(client)

    def store(self, letter: DeadLetter, failure: Fields | None, deadline: Deadline) -> Fields | None:
        """Store a letter, or count it as a copy. Returns the case; None if the bot must forget the question.

        Raises Transient or Permanent.
        """
        now, question = datetime.now(UTC), letter.question
        stored: Fields | None = None

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal stored
            current, *tombstones = documents
            stored = None
            if question and covers(tombstones, question):
                return []
            kept = letter.said_after(forgotten_until(tombstones))
            case = case_of(kept, failure, now)
            new = case if current is None else with_letter(current, kept, case)
            stored = {**(current or {}), **(new or {})}
            return [new, *(None for _ in tombstones)]

        tombstones = self._forgotten.references(question) if question else []
        change_all(self._client, [self._reference(letter.case_id), *tombstones], edit, deadline)
        return stored

    def mark_told(self, letter: DeadLetter, deadline: Deadline) -> None:
        """Record that the asker was told. Raises Transient or Permanent."""
        change(
            self._client,
            self._reference(letter.case_id),
            lambda current: None if current is None or current.get("told") else {"told": True},
            deadline,
        )

    def _reference(self, case_id: str) -> Any:
        return self._client.collection(COLLECTION).document(case_id)


def with_ending(case: Fields | None, ending: Ending, now: datetime) -> Fields | None:
    """The fields that an ending changes in a case (None: nothing, or no case).

    An answer closes the case. An apology does not, nor does an answer with a number below the case's.
    """
    if case is None or ending.kind == APOLOGY or case.get("answered_at"):
        return None
    return {"answered_at": now} if ending.answer_number >= count(case, "again") else None


def case_of(letter: DeadLetter, failure: Fields | None, now: datetime) -> Fields:
    """The fields of a new case. `failure` is the failure record of the step that failed, if there is one."""
    question = letter.question
    return {
        "question_id": letter.question_id,
        "reference": reference(letter.question_id),
        "space": question.space if question else None,
        "thread": question.thread if question else None,
        "conversation": question.conversation if question else None,
        "language": question.language if question else None,
        "asked_at": question.asked_at if question else None,
        "sender": letter.sender,
        # Firestore refuses more than 1 MiB. Then only the backup subscription has the data.
        "data": letter.data if len(letter.data) <= MOST_BYTES else None,
        "bytes": len(letter.data),
        "attributes": letter.attributes,
        **_failed(letter, failure),
        "copies": 1,
        "message_ids": [letter.message_id],
        "told": False,
        "first_at": now,
        "last_at": now,
        "state": OPEN,
        "answered_at": None,
        "again": letter.answer_number,
        "replays": letter.replay,
        "returned": 0,
        "expired_at": expiry(now, retention.DEAD_LETTERS),
    }


def with_letter(current: Fields, letter: DeadLetter, case: Fields) -> Fields | None:
    """The fields that another letter changes in a case. None for a copy that is already counted.

    A letter from the latest replay opens the case again. So does a letter of a question that was asked again
    since. An earlier letter, which Pub/Sub delivered late or twice, is only counted. So is a letter of a
    discarded case.
    """
    seen = current.get("message_ids")
    known = [entry for entry in seen if isinstance(entry, str)] if isinstance(seen, list) else []
    damaged = {name: case[name] for name, kinds in _KINDS.items() if not isinstance(current.get(name), kinds)}
    if letter.message_id in known and not damaged:
        return None
    counted = {
        "copies": count(current, "copies") + 1,
        "message_ids": [*known, letter.message_id][-MOST_MESSAGE_IDS:],
    }
    before = (count(current, "again"), count(current, "replays"))
    if not damaged and (current["state"] == DISCARDED or (letter.answer_number, letter.replay) < before):
        return counted
    return {
        **damaged,
        **{name: case[name] for name in _OF_THE_LETTER},
        **_known_reason(current, case),
        **({"answered_at": None} if letter.answer_number > count(current, "again") else {}),
        **_returned(current, letter),
        **counted,
    }


def _returned(current: Fields, letter: DeadLetter) -> Fields:
    replays, state = count(current, "replays"), current.get("state")
    if letter.replay <= replays and state != REPLAYED:
        return {}
    opened = {"state": OPEN} if state == REPLAYED else {}
    return {**opened, "returned": count(current, "returned") + 1, "replays": max(letter.replay, replays)}


def _known_reason(current: Fields, case: Fields) -> Fields:
    """Keep a known reason if the new letter has none: one failure can lead to two letters."""
    known = current.get("reason")
    if case["reason"] != NO_RECORD or not isinstance(known, str) or current.get("step") != case["step"]:
        return {}
    return {"reason": known, "error": current.get("error")}


def _failed(letter: DeadLetter, failure: Fields | None) -> Fields:
    recorded = failure or {}
    return {
        "step": letter.step,
        "reason": letter.reason or recorded.get("reason") or NO_RECORD,
        "error": recorded.get("error"),
        "attempts": count(recorded, "count") or letter.deliveries or 0,
    }
