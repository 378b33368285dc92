"""Checks the rule that no fault may break: each question has exactly one end.

The checker imports nothing from the functions. For each question, Chat, the record, the saved turn and the
case must agree. `chaos/world.py` knows their formats.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from chaos.asked import Asked, Done
from chaos.documents import documents_of, order, strangers
from chaos.forgetting import forgotten
from chaos.match import Matched, match
from chaos.outside import UNREADABLE, Outside
from chaos.verdict import End, Kind, Verdict, Violation
from chaos.watch import place_of
from chaos.world import (
    CASES,
    RECORDS,
    TURNS,
    Ending,
    Json,
    by_question,
    ending_of,
    is_notice,
    is_progress,
    is_taken_back,
    shows,
)

_ENDS = {
    "answer": End.ANSWER,
    "clarification": End.CLARIFICATION,
    "apology": End.APOLOGY,
}


def check(asked: Iterable[Asked], outside: Outside, done: Done | None = None) -> Verdict:
    """Look for violations of the rule. A question that Chat could not deliver may have no end."""
    asked, done = list(asked), done or Done()
    gone, unforgotten = forgotten(asked, outside, done)
    theirs = [question for question in asked if question.name not in gone]
    records = by_question(outside.documents, RECORDS)
    endings = {
        name: ending for name, found in records.items() for ending in map(ending_of, found.values()) if ending
    }
    matched = match(theirs, endings, _entered(outside), outside)
    ended, violations = dict.fromkeys(gone, End.FORGOTTEN), list(unforgotten)
    for end in _ends(theirs, endings, matched, outside, done):
        if isinstance(end, Violation):
            violations.append(end)
        else:
            ended |= end
    violations += [*_spare(theirs, endings, matched, done), *_pointers(theirs, matched)]
    violations += documents_of(theirs, endings, records, ended, outside)
    violations += [*strangers(asked, outside), *order(theirs, outside)]
    if outside.letters[UNREADABLE]:
        violations.append(Violation(Kind.MANGLED, UNREADABLE, f"{outside.letters[UNREADABLE]} dead letters"))
    if not outside.settled:
        violations.append(Violation(Kind.UNSETTLED, "?", "messages that nobody acknowledges"))
    return Verdict(matched.firsts, matched.shown, ended, violations)


def check_replayed(
    asked: Iterable[Asked], outside: Outside, before: Verdict, done: Done | None = None
) -> Verdict:
    """The same after a replay of all dead letters. No apology may be left, and no message may be replaced."""
    done = done or Done()
    verdict = check(asked, outside, done)
    sorry = [
        Violation(Kind.NOT_ANSWERED, name, end)
        for name, end in verdict.ended.items()
        if end in (End.APOLOGY, End.UNTOLD)
    ]
    present = {message["name"] for message in outside.messages}
    replaced = [
        Violation(Kind.NOT_IN_PLACE, name, f"{message['name']} is gone")
        for name, message in before.messages.items()
        if message["name"] not in present and not done.deleted[place_of(message)]
    ]
    return replace(verdict, violations=[*verdict.violations, *sorry, *replaced])


def _ends(
    asked: list[Asked], endings: dict[str, Ending], matched: Matched, outside: Outside, done: Done
) -> Iterator[Violation | dict[str, End]]:
    """The end of each question, or the problem with its messages."""
    cases, entered = by_question(outside.documents, CASES), _entered(outside)
    may_be_deleted = Counter(done.deleted)
    for question in asked:
        name, ending = question.name, endings.get(question.name)
        shown, instead = matched.shown.get(name, []), matched.instead.get(name)
        untold = outside.refused and any(not case.get("told") for case in cases.get(name, {}).values())
        if ending and len(shown) == len(ending.texts):
            yield {name: _ENDS.get(ending.kind, End.FALLBACK)}
            continue
        if ending and shown and not untold:
            yield {name: _ENDS.get(ending.kind, End.FALLBACK)}
            trouble = Violation(
                Kind.NOT_AS_RECORDED, name, f"{len(shown)} of {len(ending.texts)} parts stand"
            )
        elif untold:
            yield {name: End.UNTOLD}
            continue
        elif instead is None:
            trouble = Violation(Kind.LOST, name, f"nothing stands in {question.place}")
        elif ending is None and is_notice(instead) and name not in entered:
            yield {name: End.NOTICE}
            continue
        else:
            trouble = _instead(name, ending, instead)
        if instead is None and may_be_deleted[question.place]:
            may_be_deleted[question.place] -= 1
            yield {name: End.DELETED}
        elif instead is not None or name not in outside.not_taken:
            yield trouble


def _instead(name: str, ending: Ending | None, message: Json) -> Violation:
    said = repr(str(message.get("text", ""))[:60])
    if is_progress(message):
        return Violation(Kind.NO_END, name, f"{message['name']} says {said}")
    if ending is None:
        return Violation(Kind.NOT_RECORDED, name, f"{message['name']} says {said}")
    return Violation(Kind.NOT_AS_RECORDED, name, f"{said} stands, {ending.kind} {ending.again} is recorded")


def _entered(outside: Outside) -> set[str]:
    """The questions with something in Firestore. Questions that only got a short reply have nothing."""
    held = outside.documents.get(TURNS, {}).values()
    entries = (entry for each in held for part in ("turns", "pending") for entry in each.get(part, ()))
    return {str(entry.get("question_id")) for entry in entries} | set(by_question(outside.documents, CASES))


def _spare(
    asked: list[Asked], endings: dict[str, Ending], matched: Matched, done: Done
) -> Iterator[Violation]:
    """Messages that belong to no question."""
    homes, lost = (
        {question.place for question in asked},
        [q for q in asked if q.name in endings and q.name not in matched.shown and not done.deleted[q.place]],
    )
    forgotten_in = {forgot.place for forgot in done.forgot}
    for place, messages in matched.spare.items():
        notices = done.clicked[place]
        for message in messages:
            if place in forgotten_in or is_taken_back(message):
                continue
            stray = next((q for q in lost if shows(message, endings[q.name].texts[0])), None)
            if stray is not None and stray.place != place:
                yield Violation(Kind.WRONG_THREAD, stray.name, f"{message['name']} is in {place}")
            elif is_notice(message) and notices:
                notices -= 1
            elif place not in homes:
                yield Violation(Kind.WRONG_THREAD, "?", f"{message['name']} is in {place}")
            else:
                kind = Kind.LEFT_BESIDE if is_progress(message) else Kind.DOUBLED
                yield Violation(kind, place, f"{message['name']} is one too many")


def _pointers(asked: list[Asked], matched: Matched) -> Iterator[Violation]:
    """Answers with more pointers to them than there are questions that they may answer."""
    questions = Counter((question.place, question.text) for question in asked)
    for place, messages in matched.pointers.items():
        for text, count in Counter(str(message.get("text")) for message in messages).items():
            most = sum(
                number for (home, said), number in questions.items() if home == place and said[:60] in text
            )
            if count > most:
                yield Violation(Kind.POINTED_TWICE, place, f"{count} times {text[:80]!r}")
