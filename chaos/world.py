"""The formats of documents and messages. No other module in chaos knows them.

Firestore: `questions/<message name with _>` has the ending of a question in `final` (kind, again, text, more,
plain, search_query). `chat_threads` has the saved turns, `dead_letters` the cases, and `forgotten` the
conversations to forget. Chat: progress has a card with that name or, if cards are refused, only its title. A
message counts as an ending only if it has the recorded text.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
#: Documents by collection and id.
Documents = dict[str, dict[str, Json]]

TURNS, RECORDS, CASES, TOMBSTONES = "chat_threads", "questions", "dead_letters", "forgotten"
#: These may still name a forgotten question, because they contain only names and times.
WITHOUT_WORDS = frozenset({TOMBSTONES, "audit", "askers"})
ANSWER, CLARIFICATION, APOLOGY = "answer", "clarification", "apology"
#: The kinds that are remembered as turns.
REMEMBERED = frozenset({ANSWER, CLARIFICATION})
POINTER = "↑"
PROGRESS_TITLES = frozenset({"Working on your question…", "ご質問を確認しています…"})
#: The text that replaces a surplus part of an earlier, longer answer.
TAKEN_BACK = frozenset(
    {
        "*(This was part of an earlier answer. The answer above replaces it.)*",
        "*（以前の回答の一部でした。上の回答をご覧ください。）*",
    }
)
#: What a person is told once a conversation is forgotten. It replies to their command, and to no question.
FORGOT = frozenset(
    {
        "Done. I have deleted everything I had saved from this conversation.",
        "この会話について保存していたものをすべて削除しました。",
    }
)
#: What stands in the place of a forgotten question. No other question can end with it.
FORGOTTEN_QUESTION = frozenset(
    {
        "I have deleted this question, because I was asked to forget this conversation.",
        "この会話を忘れるよう頼まれたため、この質問は削除しました。",
    }
)
#: Replies that do not enter the pipeline: too many questions, a question that is too long or unclear, and a
#: button that is too old.
NOTICES = re.compile(
    r"You have asked more than \d|質問できるのは1分間に\d+件まで"
    r"|Your question is \d+ characters|ご質問は\d+文字"
    r"|I cannot tell what you mean|何についてのご質問か分かりませんでした"
    r"|This button no longer works|このボタンはもう使えません"
)
REFERENCE = re.compile(r"TW-[0-9a-f]{8}\b", re.IGNORECASE)
FORGET_WORDS = "/forget yes"
#: The actions of buttons: a rating, and two ways to have a question answered anew.
RATE_ACTION, AGAIN_ACTIONS = "rate", frozenset({"again", "literal"})


@dataclass(frozen=True)
class Ending:
    """The recorded end of a question. Its texts are those of its messages, in order."""

    kind: str
    again: int
    texts: tuple[str, ...]
    plain: str
    search_query: str

    @property
    def rank(self) -> tuple[int, bool]:
        """Of two endings the one with the higher rank stands: apology 0 < answer 0 < apology 1 < …"""
        return self.again, self.kind != APOLOGY


def ending_of(record: Json | None) -> Ending | None:
    """The ending that a record holds; None for none."""
    final = (record or {}).get("final")
    if not isinstance(final, dict) or not final.get("text"):
        return None
    return Ending(
        kind=str(final.get("kind")),
        again=int(final.get("again") or 0),
        texts=(str(final["text"]), *map(str, final.get("more") or ())),
        plain=str(final.get("plain", "")),
        search_query=str(final.get("search_query", "")),
    )


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts are the same, except for sources at the end of one, whose card Chat refused."""
    short, long = sorted((one, other), key=len)
    return bool(short) and (long == short or long.startswith(f"{short}\n\n**"))


def shows(message: Json, text: str) -> bool:
    """Whether a message has a recorded text. If Chat refused its card, the sources follow the text."""
    said = str(message.get("text", ""))
    with_sources = said.startswith(f"{text}\n\n**") and not cards(message)
    return not is_progress(message) and (said == text or with_sources)


def is_progress(message: Json) -> bool:
    """Whether a message shows progress, with its card or without."""
    named = (card.get("cardId") for card in cards(message))
    return "progress" in named or message.get("text") in PROGRESS_TITLES


def is_pointer(message: Json) -> bool:
    """Whether a message points to a late answer."""
    return str(message.get("text", "")).startswith(POINTER)


def is_taken_back(message: Json) -> bool:
    """Whether a message is a replaced surplus part."""
    return message.get("text") in TAKEN_BACK


def is_notice(message: Json) -> bool:
    """Whether a message is a short reply that does not enter the pipeline."""
    return NOTICES.match(str(message.get("text", ""))) is not None and not cards(message)


def cards(message: Json) -> list[Json]:
    """The cards of a message."""
    return list(message.get("cardsV2", ()))


def shows_sources(message: Json) -> bool:
    """Whether a card lists anything under a heading. The search query has no heading."""
    sections = (section for card in cards(message) for section in card.get("card", {}).get("sections", ()))
    return any("header" in section for section in sections)


def document_of(name: str) -> str:
    """The id of the document of a resource name."""
    return name.replace("/", "_")


def by_question(documents: Documents, collection: str) -> dict[str, dict[str, Json]]:
    """The documents of each question, by their ids: one at most, if all is well."""
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    for name, document in documents.get(collection, {}).items():
        found[str(document.get("question_id", name))][name] = document
    return found


def question_in(data: bytes) -> str | None:
    """The owner of a dead letter: its question, or the message in the event from Chat."""
    try:
        letter = json.loads(data)
        return str(letter["message"]["name"] if "type" in letter else letter["question"]["id"])
    except (ValueError, TypeError, KeyError):
        return None


def buttons(part: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The function and the parameters of every button in a message, at any depth."""
    if isinstance(part, list):
        for each in part:
            yield from buttons(each)
    if not isinstance(part, dict):
        return
    action = part.get("action")
    if isinstance(action, dict) and "function" in action:
        given = action.get("parameters", [])
        yield action["function"], {each["key"]: each.get("value", "") for each in given}
    for each in part.values():
        yield from buttons(each)
