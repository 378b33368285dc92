"""Store many dead letters as cases: new ones together in one commit, others one by one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from google.api_core.exceptions import AlreadyExists

from ops.settings import FIRESTORE_MANY
from ops.world import World
from shared.memory.cases import COLLECTION, Cases, case_of, with_letter
from shared.memory.firestore import Fields
from shared.messages.dead_letter import DeadLetter
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.retry import call

#: Firestore takes at most 10 MiB in one commit.
MOST_TOGETHER, MOST_BYTES = 200, 4_000_000
#: How many letters are kept at the same time, where it is one by one.
THREADS = 16
#: Seconds for one letter, or for many together.
WAIT = 30.0


def keep(letters: list[DeadLetter], world: World) -> tuple[int, dict[str, str]]:
    """Store letters as cases. Returns how many are new, and the problem of each failed one by message id.

    Forgotten questions are not stored. Raises GoogleAPICallError, Permanent or Transient if nothing can be
    read.
    """
    known = dict(world.store.whole(sorted({letter.case_id for letter in letters})))
    unkept = [letter for letter in letters if not _is_kept(letter, known.get(letter.case_id))]
    asked = [letter.question for letter in unkept if letter.question]
    forgotten = world.forgotten.among(asked, Deadline(WAIT))
    unkept = [letter for letter in unkept if letter.question_id not in forgotten]
    first = {letter.case_id: letter for letter in reversed(unkept) if letter.case_id not in known}
    together = {
        letter.message_id for part in _parts(list(first.values())) if _created(part, world) for letter in part
    }
    others = [letter for letter in unkept if letter.message_id not in together]
    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = list(threads.map(lambda letter: _stored(letter, world), others))
    trouble = {each.message_id: said for each, said in zip(others, outcomes, strict=True) if said}
    return len(unkept) - len(trouble), trouble


def _is_kept(letter: DeadLetter, current: Fields | None) -> bool:
    return current is not None and with_letter(current, letter, _case(letter, None)) is None


def _case(letter: DeadLetter, failure: Fields | None) -> Fields:
    return case_of(letter, failure, datetime.now(UTC))


def _parts(letters: list[DeadLetter]) -> Iterator[list[DeadLetter]]:
    """Parts that are small enough for one commit."""
    part: list[DeadLetter] = []
    size = 0
    for letter in letters:
        if part and (size + len(letter.data) > MOST_BYTES or len(part) == MOST_TOGETHER):
            yield part
            part, size = [], 0
        part.append(letter)
        size += len(letter.data)
    if part:
        yield part


def _created(letters: list[DeadLetter], world: World) -> bool:
    """Make new cases in one commit. False if it failed; storing one by one then shows which letter failed."""
    collection = world.firestore.collection(COLLECTION)

    def create(timeout: float) -> None:
        failures = _failures(letters, world, timeout)
        batch = world.firestore.batch()
        for letter in letters:
            batch.create(collection.document(letter.case_id), _case(letter, failures.get(letter.case_id)))
        batch.commit(retry=None, timeout=timeout)

    try:
        call(create, FIRESTORE_MANY, Deadline(WAIT), answers=(AlreadyExists,))
    except (AlreadyExists, StepError):
        return False
    return True


def _failures(letters: list[DeadLetter], world: World, timeout: float) -> dict[str, Fields]:
    """By case id, the failure record of the step where the letter died, if there is one."""
    references = {
        each.case_id: world.failures.reference(each.question_id, each.step) for each in letters if each.step
    }
    found = world.firestore.get_all(list(references.values()), retry=None, timeout=timeout)
    records = {each.id: each.to_dict() for each in found if each.exists}
    return {case_id: records[each.id] for case_id, each in references.items() if each.id in records}


def _stored(letter: DeadLetter, world: World) -> str | None:
    try:
        failure = letter.step and world.failures.find(letter.question_id, letter.step, Deadline(WAIT))
        Cases(world.firestore).store(letter, failure or None, Deadline(WAIT))
    except StepError as error:
        return f"{letter.case_id}: {error}"
    return None
