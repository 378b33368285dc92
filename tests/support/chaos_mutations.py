"""Ways to break a healthy world, for any world: each harms one question, and chaos must say how."""

from collections.abc import Callable, Iterator
from copy import deepcopy

from chaos.asked import Asked
from chaos.outside import Outside
from chaos.verdict import Kind
from chaos.watch import place_of
from chaos.world import CASES, RECORDS, TURNS, document_of
from tests.support.chaos_asked import APOLOGY, PROGRESS, TITLE, TOO_MANY, Json

#: Harms the question whose end the first message at its place shows that says the recorded text.
Mutation = Callable[[Outside, Asked], object]
ELSEWHERE = "spaces/AAAAsalestyo/threads/elsewhere"


def message_of(outside: Outside, asked: Asked) -> Json:
    text = record_of(outside, asked)["final"]["text"]
    here = (each for each in outside.messages if place_of(each) == asked.place)
    return next(each for each in here if each.get("text") == text and each["createTime"] > asked.created)


def record_of(outside: Outside, asked: Asked) -> Json:
    return outside.documents[RECORDS][document_of(asked.name)]


def case_of(outside: Outside, asked: Asked) -> Json:
    return outside.documents[CASES][document_of(asked.name)]


def turns_of(outside: Outside, asked: Asked) -> Iterator[Json]:
    return (turn for turn in outside.turns(asked.place) if turn["question_id"] == asked.name)


def beside(outside: Outside, asked: Asked, **other: object) -> Json:
    """One more message in the thread."""
    message = {**deepcopy(message_of(outside, asked)), "name": f"{asked.name}-beside", **other}
    outside.messages.append(message)
    return message


def lose(outside: Outside, asked: Asked) -> None:
    outside.messages.remove(message_of(outside, asked))


def move(outside: Outside, asked: Asked) -> None:
    message_of(outside, asked).update(
        space={"name": ELSEWHERE.partition("/threads/")[0]}, thread={"name": ELSEWHERE}
    )


def point_twice(outside: Outside, asked: Asked) -> None:
    for number in (1, 2):
        text = f"↑ Answered above, late: {asked.text}"
        beside(outside, asked, text=text, cardsV2=[], name=f"{asked.name}-{number}")


def leave_progress(outside: Outside, asked: Asked) -> None:
    message_of(outside, asked).update(text=TITLE, cardsV2=[PROGRESS])


def say(text: str) -> Mutation:
    """Let the question's message say something else, without a card."""
    return lambda outside, asked: message_of(outside, asked).update(text=text, cardsV2=[])


def remember_something_else(outside: Outside, asked: Asked) -> None:
    [answer] = [turn for turn in turns_of(outside, asked) if turn["role"] == "assistant"]
    answer["text"] = "Something else. [1]"


def forget_turn(outside: Outside, asked: Asked) -> None:
    held = outside.turns(asked.place)
    held[:] = [turn for turn in held if turn["question_id"] != asked.name]


def remember_twice(outside: Outside, asked: Asked) -> None:
    outside.turns(asked.place).extend(deepcopy(list(turns_of(outside, asked))))


def leave_pending(outside: Outside, asked: Asked) -> None:
    held = outside.documents[TURNS][document_of(asked.place)]
    held["pending"] = [{"question_id": asked.name, "text": asked.text}]


def drop_record(outside: Outside, asked: Asked) -> None:
    del outside.documents[RECORDS][document_of(asked.name)]


def never_close(outside: Outside, asked: Asked) -> None:
    case = {"question_id": asked.name, "reference": "TW-00000000", "told": True, "answered_at": None}
    outside.documents.setdefault(CASES, {})[document_of(asked.name)] = case


def file_twice(outside: Outside, asked: Asked) -> None:
    never_close(outside, asked)
    case_of(outside, asked)["answered_at"] = asked.created
    outside.documents[CASES]["another-name"] = dict(case_of(outside, asked))


#: Each harms an answered question.
MUTATIONS: dict[str, tuple[Mutation, Kind]] = {
    "its answer is gone": (lose, Kind.LOST),
    "it is answered twice": (beside, Kind.DOUBLED),
    "its answer is in another thread": (move, Kind.WRONG_THREAD),
    "its turn is gone": (forget_turn, Kind.TURN_MISSING),
    "its turn is there twice": (remember_twice, Kind.TURN_DOUBLED),
    "its dead letter is no case": (
        lambda outside, asked: outside.letters.update([asked.name]),
        Kind.CASE_MISSING,
    ),
    "a progress card stands": (leave_progress, Kind.NO_END),
    "a progress card is left beside its answer": (
        lambda outside, asked: beside(outside, asked, text=TITLE, cardsV2=[PROGRESS]),
        Kind.LEFT_BESIDE,
    ),
    "it is pointed to twice": (point_twice, Kind.POINTED_TWICE),
    "progress without a card stands": (say(TITLE), Kind.NO_END),
    "a notice stands": (say(TOO_MANY), Kind.NOT_AS_RECORDED),
    "Chat says other than its record": (say("Something else. [1]"), Kind.NOT_AS_RECORDED),
    "what is remembered is other than its record": (remember_something_else, Kind.TURN_DIFFERS),
    "an apology stands, an answer is recorded": (say(APOLOGY), Kind.NOT_AS_RECORDED),
    "it has no record": (drop_record, Kind.NOT_RECORDED),
    "its case was never closed": (never_close, Kind.CASE_DIFFERS),
    "it is answered and pending": (leave_pending, Kind.STILL_PENDING),
    "it has a second case": (file_twice, Kind.CASE_DOUBLED),
}
