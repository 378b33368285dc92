"""Compares Firestore's documents about each question with its recorded end."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from chaos.asked import Asked
from chaos.outside import Outside
from chaos.verdict import End, Kind, Violation
from chaos.watch import place_of
from chaos.world import APOLOGY, CASES, REMEMBERED, TURNS, Ending, Json, by_question, document_of

Found = dict[str, dict[str, Json]]


def documents_of(
    asked: Iterable[Asked],
    endings: dict[str, Ending],
    records: Found,
    ended: dict[str, End],
    outside: Outside,
) -> Iterator[Violation]:
    """Problems with the turns, the case and the search queries of each question."""
    cases = by_question(outside.documents, CASES)
    said: dict[str, list[Json]] = defaultdict(list)
    for message in outside.messages:
        said[place_of(message)].append(message)
    for question in asked:
        ending = endings.get(question.name)
        turns = [turn for turn in outside.turns(question.place) if turn.get("question_id") == question.name]
        yield from _turns(question, ending, turns)
        yield from _pending(question, ending, outside)
        if ended.get(question.name) is not End.UNTOLD:  # its case waits for an operator
            yield from _case(question, ending, cases.get(question.name, {}), outside)
        yield from _crossed(question, ending, turns, said[question.place])
        for found in (records, cases):
            if len(found.get(question.name, {})) > 1:
                yield Violation(Kind.CASE_DOUBLED, question.name, ", ".join(found[question.name]))


def _turns(question: Asked, ending: Ending | None, turns: list[Json]) -> Iterator[Violation]:
    roles = Counter(turn.get("role") for turn in turns)
    if ending is None or ending.kind not in REMEMBERED:
        if turns:
            recorded = ending.kind if ending else "nothing"
            yield Violation(
                Kind.TURN_UNEARNED, question.name, f"{recorded} is recorded, with turns {dict(roles)}"
            )
        return
    if max(roles.values(), default=0) > 1:
        yield Violation(Kind.TURN_DOUBLED, question.name, f"turns {dict(roles)}")
    elif roles["user"] + roles["assistant"] < 2:
        yield Violation(Kind.TURN_MISSING, question.name, f"turns {dict(roles)}")
    elif not any(turn.get("text") == question.text for turn in turns):
        yield Violation(Kind.CROSSED_OVER, question.name, "its turn holds another question's words")
    else:
        [remembered] = [turn for turn in turns if turn.get("role") == "assistant"]
        if (remembered.get("text"), remembered.get("again", 0)) != (ending.plain, ending.again):
            said = repr(str(remembered.get("text"))[:60])
            yield Violation(Kind.TURN_DIFFERS, question.name, f"{said} is remembered")


def _pending(question: Asked, ending: Ending | None, outside: Outside) -> Iterator[Violation]:
    waiting = [entry.get("question_id") for entry in outside.turns(question.place, "pending")]
    if ending and ending.kind in REMEMBERED and question.name in waiting:
        yield Violation(Kind.STILL_PENDING, question.name, f"{ending.kind} is recorded")


def _case(
    question: Asked, ending: Ending | None, cases: dict[str, Json], outside: Outside
) -> Iterator[Violation]:
    case = next(iter(cases.values()), None)
    apologised = ending is not None and ending.kind == APOLOGY
    if case is None:
        if apologised or question.name in outside.letters:
            yield Violation(Kind.CASE_MISSING, question.name, "its dead letter is not among the cases")
        return
    if ending is None:
        return
    if apologised and str(case.get("reference")) not in ending.texts[0]:
        yield Violation(Kind.CASE_MISSING, question.name, f"the asker was not told {case.get('reference')}")
    if apologised == bool(case.get("answered_at")):
        state = "closed" if apologised else "never closed"
        yield Violation(Kind.CASE_DIFFERS, question.name, f"{ending.kind} is recorded, its case was {state}")


def _crossed(
    question: Asked, ending: Ending | None, turns: list[Json], said: list[Json]
) -> Iterator[Violation]:
    """Search queries with words from other conversations that this conversation never contained."""
    heard = [str(each.get("text")) for each in said if str(each["createTime"]) < question.created]
    known = "\n".join(heard).lower()
    queries = {ending.search_query if ending else None, *(turn.get("search_query") for turn in turns)}
    for query in filter(None, queries):
        for key in question.conversation.foreign:
            if key.lower() in query.lower() and key.lower() not in known:
                yield Violation(Kind.CROSSED_OVER, question.name, f"searched for {query!r}")


def strangers(asked: Iterable[Asked], outside: Outside) -> Iterator[Violation]:
    """Turns that are saved in the wrong conversation."""
    home = {question.name: document_of(question.place) for question in asked}
    for name, conversation in outside.documents.get(TURNS, {}).items():
        for question in {str(turn.get("question_id")) for turn in conversation.get("turns", [])}:
            if home.get(question) != name:
                yield Violation(Kind.CROSSED_OVER, question, f"its turn is in {name}")


def order(asked: Iterable[Asked], outside: Outside) -> Iterator[Violation]:
    """Turns that are not in the order of asking."""
    created = {question.name: question.created for question in asked}
    for place in {question.place for question in asked}:
        names = dict.fromkeys(str(turn.get("question_id")) for turn in outside.turns(place))
        ours = [name for name in names if name in created]
        if ours != sorted(ours, key=created.__getitem__):
            yield Violation(Kind.TURN_ORDER, ", ".join(ours), f"in {place}")
