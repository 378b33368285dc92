"""Answering by extraction: sentences of the sources, word for word, cited, or an honest no."""

import re

import pytest

from local.runner.cloud import KNOWLEDGE
from local.stand_ins.gemini.extract import Answer, extracted
from local.stand_ins.gemini.passages import blocks_of
from local.stand_ins.gemini.prompt import Ask, Source, Turn
from local.stand_ins.gemini.quote import quoted
from local.stand_ins.gemini.rewrite import rewritten
from local.stand_ins.rag.chunks import Chunk
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import is_japanese
from tests.support.articles import small_index


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
    "question", ["Can you fix my laptop?", "My labtop is broken", "My notebook is damaged", "My pc is broken"]
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


NAMES = [("Phones", "The phone has StarKey."), ("Laptops", "StarKey asks twice.")]
CODES = [("Wi-Fi", "A guest code is valid for 2 days."), ("StarKey", "A backup code is valid for 5 days.")]


@pytest.mark.parametrize(
    ("question", "articles"),
    [
        ("How long does the approval of a trip take?", APPROVALS),  # says which
        ("How long does the travel approval take?", APPROVALS),  # names an article
        ("What is StarKey?", NAMES),  # a name says as much as two words
        ("How long is the code valid?", CODES),  # of two telling words, two short answers are one
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


FACTS = (
    "VPN",
    "A VPN session lasts 12 hours at most.\n\nThe VPN was bought by the IT department.\n\n"
    "The client costs 500 yen.\n\nOne person can use two devices.",
)
FACTS_JA = (
    "VPN",
    "VPNのセッションは最長12時間です。\n\nVPNはIT部門が管理します。\n\nクライアントの費用は500円です。\n\n"
    "1人2台まで使えます。",
)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("How long is a VPN session?", "12 hours"),
        ("How long is the client?", ""),
        ("Who bought the VPN?", "IT department"),
        ("Who lasts a session?", ""),
        ("What does the client cost?", "500 yen"),
        ("What does a VPN session cost?", ""),
        ("When was the VPN bought?", ""),
        ("How often is the VPN bought?", ""),
        ("How heavy is the client?", ""),
        ("How many devices can one person use?", "two devices"),
        ("What is the phone number of the client?", ""),
        ("VPNのセッションは何時間ですか", "12時間"),
        ("VPNのセッションは何人ですか", ""),
        ("VPNは誰が管理しますか", "IT部門"),
        ("セッションは誰ですか", ""),
        ("クライアントの費用はいくらですか", "500円"),
        ("セッションの費用はいくらですか", ""),
        ("1人で何台使えますか", "2台"),
        ("クライアントの重さは？", ""),
    ],
)
def test_a_sentence_answers_only_with_the_kind_of_thing_that_is_asked_for(
    question: str, passage: str
) -> None:
    language = "ja" if is_japanese(question) else "en"
    result = asked(question, FACTS_JA if language == "ja" else FACTS, *OTHERS, language=language)

    assert result.answered == bool(passage)
    assert passage in result.text


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Does the VPN client run on Linux?", "en"),  # no article has it
        ("How do I install the client on ChromeOS?", "en"),
        ("VPNクライアントはLinuxで使えますか", "ja"),
        ("StarKeyのセッションは何時間ですか", "ja"),  # another article's name
    ],
)
def test_a_question_about_a_name_is_not_answered_from_what_does_not_have_it(
    question: str, language: str
) -> None:
    about_clients = (
        "VPN client",
        "Install the VPN client. It runs on the laptop.\n\nVPNクライアントを使えます。",
    )
    other = ("StarKey", "StarKeyは認証アプリです。")
    assert not asked(question, about_clients, FACTS_JA, other, *OTHERS, language=language).answered


def test_words_of_different_paragraphs_are_not_put_together() -> None:
    text = "The server is in Tokyo.\n\nEach meeting has a room."
    assert not asked("Where is the server room?", ("Offices", text), *OTHERS).answered


def test_each_half_of_a_compound_is_asked_for() -> None:
    printing = ("複合機", "複合機で両面に印刷できます。")
    others = [(f"印刷{n}", f"印刷の記録{n}です。") for n in range(3)]
    assert asked("複合機で両面印刷はできますか", printing, *others, language="ja").answered
    assert not asked("複合機で冊子印刷はできますか", printing, *others, language="ja").answered


def test_what_is_said_by_the_way_need_not_be_in_an_article() -> None:
    assert asked("Last month I found that my laptop is broken", LAPTOP, *OTHERS).answered


def test_a_code_is_enough_to_find_what_it_means() -> None:
    articles = [("VPN", "E203: the network blocks it."), ("Client", "HoshinoConnect is the client.")]
    assert "the network blocks" in asked("HoshinoConnect shows E203", *articles, *OTHERS).text


def test_the_sentence_that_answers_is_kept_of_a_long_paragraph() -> None:
    text = (
        "Each trip needs an approval. The approval of a trip is given once. An approval belongs to one trip. "
        "No trip has a second approval. The approval takes 5 days."
    )
    assert (
        "takes 5 days" in asked("How long does the approval of a trip take?", ("Travel", text), *OTHERS).text
    )


TITLE = "How to connect the company VPN from outside over a mobile network"


def steps(*devices: str) -> list[tuple[str, str]]:
    """One passage for each device, of one article with steps that differ by it."""
    texts = (f"## {each}\n\n1. Open the client.\n2. Connect the VPN on the {each}." for each in devices)
    return [(TITLE, text) for text in texts]


@pytest.mark.parametrize(
    ("question", "last_line"),
    [
        ("How do I connect the VPN?", "Other steps: Tablet [2], Phone [3]"),
        ("How do I connect the VPN on the laptop?", "2. Connect the VPN on the Laptop. [1]"),
        (
            "How do I connect the company VPN from outside on the laptop?",
            "2. Connect the VPN on the Laptop. [1]",
        ),
        ("Does the VPN connect?", None),
    ],
)
def test_of_steps_that_differ_by_device_the_others_are_named(question: str, last_line: str | None) -> None:
    result = asked(question, *steps("Laptop", "Tablet", "Phone"), *OTHERS)

    last = result.text.splitlines()[-1]
    assert last == last_line if last_line else not last.startswith("Other steps")
    assert set(result.sources) == {int(number) for number in re.findall(r"\[(\d+)\]", result.text)}


def test_nothing_is_offered_beside_the_steps_that_were_asked_for() -> None:
    question = "How do I connect the company VPN from outside over a mobile network on the laptop?"
    devices = ("Laptop with a blue label", "Tablet with a red label")
    assert "Other steps" not in asked(question, *steps(*devices), *OTHERS).text
    assert "Other steps" in asked(question.replace(" on the laptop", ""), *steps(*devices), *OTHERS).text


def test_a_few_words_go_on_asking_how() -> None:
    index = Index(
        [Chunk(title, title + text[:12], text) for title, text in steps("Laptop", "Tablet", "Phone")]
    )
    given = [Source(number=n, title=c.title, text=c.text) for n, c in enumerate(index.chunks, start=1)]
    history = [
        Turn(role="user", text="How do I connect the VPN?"),
        Turn(role="assistant", text="On a laptop."),
    ]

    result = extracted(Ask(history=history, question="On a tablet?", language="en", sources=given), index)

    assert result.text == "1. Open the client. [2]\n2. Connect the VPN on the Tablet. [2]"


@pytest.mark.parametrize(
    ("question", "on_windows", "step"),
    [
        ("How do I configure the VPN?", "On Windows?", "Restart the Windows laptop"),
        ("VPNの設定方法を教えて", "Windowsでは？", "WindowsのノートPCを再起動します"),
    ],
)
def test_the_answer_on_the_vpn_tells_for_which_devices_there_are_steps(
    question: str, on_windows: str, step: str
) -> None:
    index = Index.from_folder(KNOWLEDGE)
    first = answer(index, question)
    query = rewritten(
        Ask(history=[Turn(role="user", text=question)], question=on_windows, language="en"), index
    )

    assert all(device in first.text for device in ("Windows", "macOS", "iPhone"))
    assert step in answer(index, on_windows, question, first.text, search_query=query).text
