"""The local model's answers to questions as people write them in a chat, with greetings and background."""

import os
import subprocess
import sys

import pytest

from local.stand_ins.gemini.clauses import Form, form_of
from local.stand_ins.gemini.extract import Answer, extracted
from local.stand_ins.gemini.prompt import Ask, Source, Turn
from local.stand_ins.rag.chunks import Chunk
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import is_japanese
from tests import ROOT

ARTICLES = [
    (
        "Laptops",
        "A broken laptop is repaired within 3 days. The memory has 16 GB. The help desk checks each repair.",
    ),
    (
        "Offices",
        "A visitor signs in at the reception on Monday. The reception desk opens the door of the garage.",
    ),
    (
        "Rooms",
        "The meeting room Sirius has seats for 20 people.\n\nA room can be booked for 4 hours on the tablet.",
    ),
    ("Cards", "A corporate card is ordered in the portal and arrives within 15 days."),
    ("ノートPC", "壊れたノートPCは3日以内に修理します。代替機を貸し出します。"),
    ("電子契約", "招待の期限が切れた場合は、内線4357に連絡してください。"),
    ("受付", "来客は受付でサインインします。受付は月曜から金曜です。"),
    *((f"Article {n}", f"The number {n} is not about that, and {n} tells nothing.") for n in range(5)),
]


def asked(question: str, *said: str) -> Answer:
    """What is answered from these articles, after a user and an assistant have said so by turns."""
    index = Index([Chunk(title, f"gs://kb/{title}.md", text) for title, text in ARTICLES])
    given = [Source(number=n, title=title, text=text) for n, (title, text) in enumerate(ARTICLES, start=1)]
    history = [
        Turn(role="assistant" if number % 2 else "user", text=text) for number, text in enumerate(said)
    ]
    language = "ja" if is_japanese(question) else "en"
    return extracted(Ask(history=history, question=question, language=language, sources=given), index)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        # greetings, feelings and fillers, which no article has
        (
            "Hi all, sorry to bother you, my laptop is broken and I'm really worried. Any idea?",
            "within 3 days",
        ),
        ("Is a card honestly, seriously, obviously, luckily, hopefully ordered?", "in the portal"),
        ("Do you find, take, hold, turn, put, use or make a broken laptop for repair?", "within 3 days"),
        ("お疲れ様です。今朝ノートPCが壊れてしまって困っています。どうすればいいですか？", "3日以内"),
        # what happened, in words that no article has
        ("It slipped off the sofa and is broken now. Can a laptop be repaired?", "within 3 days"),
        ("My daughter flew to Denver, and my laptop is broken. Is it repaired?", "within 3 days"),
        # much of what articles have, but not this one
        (
            "A visitor at the garage door of the reception saw it: my laptop is broken, no repair. Why?",
            "within 3 days",
        ),
        # an ordinal and a day of the week are no names
        ("Does a visitor sign in on Tuesday the 12th?", "at the reception"),
        ("Is the laptop repaired on Monday?", "within 3 days"),
        ("How many people fit in Sirius?", "20 people"),
    ],
)
def test_what_is_said_around_a_question_need_not_be_in_an_article(question: str, passage: str) -> None:
    assert passage in asked(question).text


@pytest.mark.parametrize(
    "question",
    [
        "Hi all, sorry to bother you, I'm really worried. Which piano does the choir in the reception play?",
        "My laptop is broken, and I'm really worried. Is there a piano festival in Denver?",
        "What is the monthly limit of the piano card?",
        "お疲れ様です。受付のピアノはどこですか？",
        "受付に窓はありますか",
        "How heavy is the memory of a repaired broken laptop?",
        "How many people repaired a laptop?",
    ],
)
def test_what_is_asked_for_must_be_in_the_article_however_it_is_wrapped(question: str) -> None:
    assert asked(question) == Answer()


def test_a_question_of_everyday_words_alone_is_about_what_is_under_discussion() -> None:
    said = ("Is a broken laptop repaired?", "A broken laptop is repaired within 3 days.")

    assert "help desk checks each repair" in asked("Does anybody look at that?", *said).text
    assert not asked("Does anybody look at that?", "Thanks", "You are welcome.").answered


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How do I book a room?", Form()),
        ("I need a room, can you help me?", Form(at_length=True)),
        ("I fly at noon, and StarKey wants a code. Is that right?", Form(tells=True, at_length=True)),
        ("My VPN drops", Form(tells=True, at_length=True)),
        ("Hi all, how do I book a room? Thanks a lot!", Form()),
        ("お疲れ様です。会議室を予約できますか", Form()),
        ("会議が長引いているんですが、延長できますか", Form(tells=True, at_length=True)),
        ("部屋を使いたいのですが、どこで予約しますか", Form(at_length=True)),
    ],
)
def test_a_question_asks_at_length_when_it_has_several_clauses_or_tells_something(
    question: str, form: Form
) -> None:
    assert form_of(question) == form


def test_answers_do_not_depend_on_the_order_of_sets() -> None:
    script = (
        "from local.runner.cloud import KNOWLEDGE\n"
        "from local.stand_ins.gemini.extract import extracted\n"
        "from local.stand_ins.gemini.prompt import Ask, Source\n"
        "from local.stand_ins.rag.index import Index\n"
        "index = Index.from_folder(KNOWLEDGE)\n"
        "question = 'パスワードを忘れました'\n"
        "hits = enumerate(index.search(question, 6), start=1)\n"
        "given = [Source(number=n, title=hit.chunk.title, text=hit.chunk.text) for n, hit in hits]\n"
        "print(ascii(extracted(Ask(question=question, language='ja', sources=given), index).text))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "23")
    }
    assert len(answers) == 1
