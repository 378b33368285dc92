"""One question, one end: the rule that no fault may break, checked from outside alone.

It imports nothing of the functions. A question is matched to its message by where it stands and what it
says, never by how the bot derives its ids: that derivation is what is tested.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from chaos.load import Asked
from chaos.outside import UNREADABLE, Json, Outside
from chaos.verdict import End, Kind, Verdict, Violation, end_of
from chaos.watch import is_final, place_of


def check(asked: Iterable[Asked], outside: Outside) -> Verdict:
    """Look for violations of the rule; a question that Chat could not even hand over may have no end."""
    asked = list(asked)
    messages, violations = _matched(asked, outside)
    said = _said(outside)
    for question in asked:
        message = messages.get(question.name)
        violations += _turns(question, message, outside)
        violations += _case(question, message, outside)
        violations += _crossed(question, outside, said[question.place])
    violations += [*_strangers(asked, outside), *_order(asked, outside)]
    if outside.letters[UNREADABLE]:
        violations.append(Violation(Kind.MANGLED, UNREADABLE, f"{outside.letters[UNREADABLE]} dead letters"))
    if not outside.settled:
        violations.append(Violation(Kind.UNSETTLED, "?", "messages that nobody acknowledges"))
    return Verdict(messages, violations)


def check_replayed(asked: Iterable[Asked], outside: Outside, before: Verdict) -> Verdict:
    """The same once all dead letters were replayed: no apology is left, and no message has been replaced."""
    verdict = check(asked, outside)
    apologies = [
        Violation(Kind.NOT_ANSWERED, name, message["text"][:80])
        for name, message in verdict.messages.items()
        if end_of(message) is End.APOLOGY
    ]
    present = {message["name"] for message in outside.messages}
    replaced = [
        Violation(Kind.NOT_IN_PLACE, name, f"{message['name']} is gone")
        for name, message in before.messages.items()
        if message["name"] not in present
    ]
    return Verdict(verdict.messages, [*verdict.violations, *apologies, *replaced])


def _matched(asked: list[Asked], outside: Outside) -> tuple[dict[str, Json], list[Violation]]:
    """The final message of each question, and what is lost, doubled or in the wrong place."""
    questions: dict[str, list[Asked]] = defaultdict(list)
    finals: dict[str, list[Json]] = defaultdict(list)
    for question in asked:
        questions[question.place].append(question)
    for message in filter(is_final, outside.messages):
        finals[place_of(message)].append(message)
    matched: dict[str, Json] = {}
    for place, of_place in questions.items():
        matched |= _pairs(of_place, finals[place], outside)
    taken = {message["name"] for message in matched.values()}
    spare = [message for messages in finals.values() for message in messages if message["name"] not in taken]
    missing = [each for each in asked if each.name not in matched and each.name not in outside.not_taken]
    return matched, list(_unmatched(missing, spare, questions, outside))


def _pairs(questions: list[Asked], messages: list[Json], outside: Outside) -> dict[str, Json]:
    """Questions of one place with their messages: by the text that was noted, the others in order."""
    left, pairs = list(messages), dict[str, Json]()

    def pair(question: Asked, text: str | None = None) -> None:
        for message in left:
            if message["createTime"] > question.created and text in (None, message["text"]):
                pairs[question.name] = message
                left.remove(message)
                return

    # From the newest on: of two with the same answer, the later one cannot have the earlier message.
    for question in reversed(questions):
        if noted := _final(question, outside).get("text"):
            pair(question, noted)
    for question in reversed(questions):
        if question.name not in pairs and question.name not in outside.not_taken:
            pair(question)
    for question in questions:
        if question.name not in pairs:
            pair(question)
    return pairs


def _unmatched(
    missing: list[Asked], spare: list[Json], questions: dict[str, list[Asked]], outside: Outside
) -> Iterator[Violation]:
    missing = list(missing)
    for message in spare:
        place = place_of(message)
        stray = next((q for q in missing if _final(q, outside).get("text") == message["text"]), None)
        if stray is not None:
            missing.remove(stray)
        if stray is not None or place not in questions:
            name = stray.name if stray else "?"
            yield Violation(Kind.WRONG_THREAD, name, f"{message['name']} is in {place}")
        else:
            names = ", ".join(question.name for question in questions[place])
            yield Violation(Kind.DOUBLED, names, f"{message['name']} is one too many in {place}")
    for question in missing:
        yield Violation(Kind.LOST, question.name, f"no final message in {question.place}")


def _turns(question: Asked, message: Json | None, outside: Outside) -> Iterator[Violation]:
    turns = [turn for turn in _turns_of(question.place, outside) if turn.get("question_id") == question.name]
    roles = Counter(turn.get("role") for turn in turns)
    remembered = message is not None and end_of(message) in {End.ANSWER, End.CLARIFICATION}
    if not remembered:
        if turns and message is not None:
            yield Violation(Kind.TURN_UNEARNED, question.name, f"{end_of(message)}, with turns {dict(roles)}")
        return
    if max(roles.values(), default=0) > 1:
        yield Violation(Kind.TURN_DOUBLED, question.name, f"turns {dict(roles)}")
    elif roles["user"] + roles["assistant"] < 2:
        yield Violation(Kind.TURN_MISSING, question.name, f"turns {dict(roles)}")
    elif not any(turn.get("text") == question.text for turn in turns):
        yield Violation(Kind.CROSSED_OVER, question.name, "its turn holds another question's words")


def _case(question: Asked, message: Json | None, outside: Outside) -> Iterator[Violation]:
    case = outside.cases.get(question.name)
    apologised = message is not None and end_of(message) is End.APOLOGY
    if case is None and (apologised or question.name in outside.letters):
        yield Violation(Kind.CASE_MISSING, question.name, "its dead letter is not among the cases")
    elif case and message and apologised and case["reference"] not in message["text"]:
        yield Violation(Kind.CASE_MISSING, question.name, f"the asker was not told {case['reference']}")


def _said(outside: Outside) -> dict[str, list[Json]]:
    """The bot's messages in each place, oldest first."""
    said: dict[str, list[Json]] = defaultdict(list)
    for message in outside.messages:
        said[place_of(message)].append(message)
    return said


def _crossed(question: Asked, outside: Outside, said: list[Json]) -> Iterator[Violation]:
    """A search for what only other conversations are about: not even an earlier answer in this one."""
    heard = [str(each.get("text")) for each in said if str(each["createTime"]) < question.created]
    known = "\n".join(heard).lower()
    queries = {
        _final(question, outside).get("search_query"),
        *(
            turn.get("search_query")
            for turn in _turns_of(question.place, outside)
            if turn.get("question_id") == question.name
        ),
    }
    for query in filter(None, queries):
        for key in question.conversation.foreign:
            if key.lower() in query.lower() and key.lower() not in known:
                yield Violation(Kind.CROSSED_OVER, question.name, f"searched for {query!r}")


def _strangers(asked: list[Asked], outside: Outside) -> Iterator[Violation]:
    """Turns in a conversation that the question was not asked in."""
    home = {question.name: _document(question.place) for question in asked}
    for name, conversation in outside.conversations.items():
        for question in {str(turn.get("question_id")) for turn in conversation.get("turns", [])}:
            if home.get(question) != name:
                yield Violation(Kind.CROSSED_OVER, question, f"its turn is in {name}")


def _order(asked: list[Asked], outside: Outside) -> Iterator[Violation]:
    created = {question.name: question.created for question in asked}
    for place in {question.place for question in asked}:
        names = dict.fromkeys(str(turn.get("question_id")) for turn in _turns_of(place, outside))
        ours = [name for name in names if name in created]
        if ours != sorted(ours, key=created.__getitem__):
            yield Violation(Kind.TURN_ORDER, ", ".join(ours), f"in {place}")


def _final(question: Asked, outside: Outside) -> Json:
    final: Json = outside.questions.get(question.name, {}).get("final") or {}
    return final


def _turns_of(place: str, outside: Outside) -> list[Json]:
    turns: list[Json] = outside.conversations.get(_document(place), {}).get("turns", [])
    return turns


def _document(place: str) -> str:
    return place.replace("/", "_")
