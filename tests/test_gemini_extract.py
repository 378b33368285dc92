"""Answering by extraction: sentences of the sources, word for word, cited, or an honest no."""

import re

import pytest

from local.cloud import KNOWLEDGE
from local.gemini.extract import Answer, extracted
from local.gemini.passages import blocks_of
from local.gemini.prompt import Ask, Source, Turn
from local.gemini.quote import quoted
from local.gemini.rewrite import rewritten
from local.rag.chunks import Chunk
from local.rag.index import Index
from local.rag.terms import is_japanese
from tests.articles import small_index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return small_index(tmp_path_factory.mktemp("articles"))


def sources(index: Index, search_query: str) -> list[Source]:
    hits = [hit.chunk for hit in index.search(search_query, 6)]
    return [Source(number=n, title=c.title, text=c.text) for n, c in enumerate(hits, start=1)]


def answer(index: Index, question: str, *said: str, search_query: str = "") -> Answer:
    roles = ("user", "assistant") * len(said)
    history = [
        Turn.model_validate({"role": role, "text": text}) for role, text in zip(roles, said, strict=False)
    ]
    found = sources(index, search_query or question)
    language = "ja" if is_japanese(question) else "en"
    return extracted(Ask(history=history, question=question, language=language, sources=found), index)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("My printer has a paper jam", "open the door that is lit"),
        ("How long does a VPN session last?", "A VPN session lasts 12 hours at most."),
        ("How long does a password reset take?", "about 5 minutes"),
        ("紙詰まりを直したい", "光っている扉を開けてください。"),
        ("VPNの設定方法を教えて", "1. カタログを開き"),
    ],
)
def test_the_passage_that_answers_is_quoted(index: Index, question: str, passage: str) -> None:
    result = answer(index, question)
    assert result.answered
    assert passage in result.text


@pytest.mark.parametrize("question", ["How do I configure the VPN?", "VPNの設定方法を教えて"])
def test_every_line_is_word_for_word_from_the_source_it_cites(index: Index, question: str) -> None:
    result = answer(index, question)
    by_number = {source.number: source.text for source in sources(index, question)}
    quotes = re.findall(r"(?:^(?:\d+\.|-) )?(\S.*?) \[(\d+)\](?= |$)", result.text, re.MULTILINE)
    assert len(quotes) == len(re.findall(r"\[\d+\]", result.text)) >= 2
    assert all(quote in by_number[int(number)] for quote, number in quotes)
    assert sorted({int(number) for _, number in quotes}) == list(result.sources)


def test_steps_stay_a_whole_numbered_list_for_somebody_who_asks_how(index: Index) -> None:
    lines = answer(index, "How do I configure the VPN?").text.splitlines()
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert not any(line.startswith("#") for line in lines)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "How do I order a parking permit for the office?",
        "Thanks!",
        "社員食堂のメニューは？",
        "駐車場の申請方法",
    ],
)
def test_thin_evidence_is_no_answer(index: Index, question: str) -> None:
    result = answer(index, question, search_query="VPN password printer パスワード プリンター")
    assert (result.answered, result) == (False, Answer())


def test_no_sources_are_no_answer(index: Index) -> None:
    ask = Ask(question="How do I configure the VPN?", language="en", sources=[])
    assert not extracted(ask, index).answered


def test_the_asker_s_language_is_preferred(index: Index) -> None:
    both = sources(index, "VPN client VPNクライアント")
    assert len({is_japanese(source.text) for source in both}) == 2
    english = extracted(Ask(question="VPN", language="en", sources=both), index)
    japanese = extracted(Ask(question="VPN", language="ja", sources=both), index)
    assert (is_japanese(english.text), is_japanese(japanese.text)) == (False, True)


@pytest.mark.parametrize(
    ("question", "follow_up"),
    [
        ("How do I configure the VPN?", "Can you explain in more detail?"),
        ("VPNの設定方法を教えて", "もっと詳しく"),
    ],
)
def test_more_detail_says_what_has_not_been_said(index: Index, question: str, follow_up: str) -> None:
    first = answer(index, question)
    more = answer(index, follow_up, question, first.text, search_query=question)
    assert more.answered
    assert not set(more.text.splitlines()) & set(first.text.splitlines()) - {""}
    assert "VPN" in more.text


def test_a_follow_up_is_answered_for_the_topic_under_discussion(index: Index) -> None:
    result = answer(
        index, "on a Mac", "How do I configure the VPN?", "Press Connect. [1]", search_query="VPN Mac"
    )
    assert "allow the system extension" in result.text


def test_points_that_do_not_bear_on_the_question_are_left_out(index: Index) -> None:
    text = answer(index, "How long does a VPN session last?").text
    assert "Private computers" not in text


def test_a_text_is_taken_apart_into_sentences_and_items() -> None:
    sentences = "One ends here. Version 5.2 is next! 三つ目です。「引用です。」と続く。"
    text = f"# Title\n\n{sentences}\n\n- a\n  goes on\n- b\n\n| t |\n"
    assert [(block.kind, block.units) for block in blocks_of(text)] == [
        ("paragraph", ("One ends here.", "Version 5.2 is next! 三つ目です。", "「引用です。」と続く。")),
        ("points", ("a goes on", "b")),
    ]


def test_code_stays_with_the_step_or_the_words_before_it_and_a_table_keeps_its_rows() -> None:
    code = "```sh\nrestart vpn\n\nstatus\n```"
    steps = "1. Type:\n   ```\n   cd /tmp\n   ```\n2. Press Enter."
    text = (
        f"Run this:\n\n{code}\n\n{steps}\n\n| Plan | Price |\n|---|---|\n| Basic | 5 yen |\n| Pro | 9 yen |\n"
    )

    quotes = [quoted(block, 2) for block in blocks_of(text)]

    assert quotes == [
        "Run this: [2]",
        code,
        "1. Type: [2]\n   ```\n   cd /tmp\n   ```\n2. Press Enter. [2]",
        "| Plan | Price |\n|---|---|\n| Basic | 5 yen [2] |\n| Pro | 9 yen [2] |",
    ]


@pytest.mark.parametrize("text", ["```\nnever closed", "| a | b |\nno table", "~~~\n```\n~~~"])
def test_what_is_half_written_breaks_nothing(text: str) -> None:
    for block in blocks_of(text):
        assert block.units[0].splitlines()[0] == block.units[0].splitlines()[-1] or block.kind != "code"


def asked(question: str, *sources: tuple[str, str], language: str = "en") -> Answer:
    """What is answered from articles of this title and text."""
    index = Index([Chunk(title, f"gs://kb/{title}.md", text) for title, text in sources])
    given = [Source(number=n, title=title, text=text) for n, (title, text) in enumerate(sources, start=1)]
    return extracted(Ask(question=question, language=language, sources=given), index)


SERVER = "Restart the server with this command:\n\n```\nsystemctl restart mail\n```\n\nThe lamp is green."
OTHERS = [(f"Article {n}", f"The number {n} is not about that, and {n} tells nothing.") for n in range(5)]


def test_a_command_is_quoted_with_the_words_before_it() -> None:
    result = asked("How do I restart the server?", ("Mail server", SERVER), *OTHERS)

    assert "command: [1]\n\n```\nsystemctl restart mail\n```" in result.text


def test_of_a_table_the_rows_that_answer_are_quoted() -> None:
    table = "| Plan | Price |\n|---|---|\n| Basic plan | 5 yen |\n| Gold plan | 9 yen |"
    result = asked("What does the gold plan cost?", ("Plans", table), *OTHERS)

    assert result.text == "| Plan | Price |\n|---|---|\n| Gold plan | 9 yen [1] |"


LAPTOP = ("Laptops", "A broken laptop is repaired within 3 days. For the Wi-Fi choose HOSHINO.")


@pytest.mark.parametrize(
    "question", ["Who fixes my laptop?", "My labtop is broken", "My notebook is damaged", "My pc is broken"]
)
def test_another_word_or_a_slip_is_evidence_too(question: str) -> None:
    assert "repaired within 3 days" in asked(question, LAPTOP, *OTHERS).text


@pytest.mark.parametrize(
    "question", ["Which piano does the laptop play?", "When is the laptop office in London open?"]
)
def test_a_word_that_no_article_has_weighs_most(question: str) -> None:
    assert not asked(question, LAPTOP, *OTHERS).answered


def test_a_japanese_verb_is_found_in_any_of_its_forms() -> None:
    source = ("パスワード", "パスワードを忘れた場合は、再設定してください。")

    assert asked("パスワードを忘れました", source, language="ja").answered


APPROVALS = [
    ("Laptops: order and repair", "The approval of a laptop takes 2 days."),
    ("Travel", "The approval of a trip takes 5 days."),
    ("Shared mailboxes", "The approval of a mailbox takes a day."),
]
APPROVALS_JA = [
    ("ノートPC：申請", "ノートPCの承認には2日かかります。"),
    ("出張", "出張の承認には5日かかります。"),
    ("共有メール", "共有メールの承認には1日かかります。"),
]


def test_an_unclear_question_is_asked_back_with_the_articles_it_may_be_about() -> None:
    english = asked("How long does the approval take?", *APPROVALS)
    japanese = asked("承認には何日かかりますか", *APPROVALS_JA, language="ja")

    assert english == Answer(ask_back="Which one do you mean: “Laptops”, “Travel” or “Shared mailboxes”?")
    assert japanese == Answer(ask_back="どれについてのご質問でしょうか：「ノートPC」「出張」「共有メール」？")


def test_the_reply_to_a_question_back_is_answered() -> None:
    index = Index.from_folder(KNOWLEDGE)
    unclear, reply = "How do I connect on a Mac?", "Shared drives"
    back = extracted(Ask(question=unclear, language="en", sources=sources(index, unclear)), index).ask_back
    history = [Turn(role="user", text=unclear), Turn(role="assistant", text=back)]

    query = rewritten(Ask(history=history, question=reply, language="en"), index)
    found = sources(index, query)
    result = extracted(Ask(history=history, question=reply, language="en", sources=found), index)

    assert "“Shared drives, file recovery and backups”" in back
    assert "smb://files.hoshino.example/dept" in result.text


@pytest.mark.parametrize(
    ("question", "articles"),
    [
        ("How long does the approval of a trip take?", APPROVALS),  # says which
        ("How long does the travel approval take?", APPROVALS),  # names an article
        ("How long does the approval take?", APPROVALS[:2]),  # two short answers are one
        (
            "Approval?",
            [(f"Approval of {title}", text) for title, text in APPROVALS],
        ),  # all have it as their topic
    ],
)
def test_a_question_that_is_clear_enough_is_answered(question: str, articles: list[tuple[str, str]]) -> None:
    assert asked(question, *articles).answered


def test_nobody_is_asked_back_in_a_conversation_that_tells_what_is_meant() -> None:
    index = Index([Chunk(title, title, text) for title, text in APPROVALS])
    given = [Source(number=n, title=title, text=text) for n, (title, text) in enumerate(APPROVALS, start=1)]
    history = [Turn(role="user", text="How do I order a laptop?"), Turn(role="assistant", text="Like this.")]
    question = "How long does the approval take?"

    result = extracted(Ask(history=history, question=question, language="en", sources=given), index)

    assert "a laptop takes 2 days" in result.text


def test_a_sentence_that_only_sends_the_reader_elsewhere_is_not_quoted() -> None:
    text = 'The client is needed. For problems read the article "VPN problems".'
    assert [block.units for block in blocks_of(text)] == [("The client is needed.",)]
