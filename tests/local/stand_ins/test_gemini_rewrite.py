"""Rewriting by rule: a follow-up gets the words it leaves unsaid, everything else stays as it is."""

from pathlib import Path

import pytest

from local.runner.cloud import KNOWLEDGE
from local.stand_ins.gemini.prompt import Ask, Turn
from local.stand_ins.gemini.rewrite import rewritten
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import is_japanese
from tests.support.articles import small_index

VPN = ("How do I configure the VPN?", "Open the catalogue and install the VPN client. [1]")
VPN_JA = ("VPNの設定方法を教えて", "カタログを開き、VPNクライアントをインストールします。 [1]")
PASSWORD = ("How do I reset my password?", 'Open the password page and choose "Forgotten". [1]')


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return small_index(tmp_path_factory.mktemp("articles"))


def query(index: Index, question: str, *said: str) -> str:
    """The rewrite of a question after these turns, the user's and the assistant's by turns."""
    roles = ("user", "assistant") * len(said)
    history = [
        Turn.model_validate({"role": role, "text": text}) for role, text in zip(roles, said, strict=False)
    ]
    return rewritten(Ask(history=history, question=question, language=_language(question)), index)


def _language(question: str) -> str:
    return "ja" if is_japanese(question) else "en"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can you explain in more detail?", "Can you explain in more detail? (VPN, configure)"),
        ("on a Mac", "on a Mac (VPN, configure, catalogue, install)"),
        ("on a Mac at home with Wi-Fi", "on a Mac at home with Wi-Fi (VPN, configure)"),
    ],
)
def test_a_follow_up_gets_the_words_of_the_topic(index: Index, question: str, expected: str) -> None:
    assert query(index, question, *VPN) == expected


@pytest.mark.parametrize("question", ["もっと詳しく", "Macの場合は？", "その手順は？"])
def test_a_japanese_follow_up_gets_whole_words(index: Index, question: str) -> None:
    assert query(index, question, *VPN_JA).startswith(f"{question}（VPN 設定方法")


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my password?",
        "My printer has a paper jam",
        "Where do guests get a code?",
        "How do I choose the Wi-Fi?",
        "What is the capital of France?",
    ],
)
def test_a_question_on_a_new_topic_is_not_dragged_back(index: Index, question: str) -> None:
    assert query(index, question, *VPN) == question


@pytest.mark.parametrize("question", ["パスワードを忘れました", "プリンターで紙詰まりが起きた"])
def test_a_japanese_question_on_a_new_topic_is_not_dragged_back(index: Index, question: str) -> None:
    assert query(index, question, *VPN_JA) == question


def test_a_follow_up_is_about_the_newest_topic(index: Index) -> None:
    rewrite = query(index, "Tell me more", *VPN, "on a Mac?", "Allow it. [1]", *VPN, *PASSWORD)
    assert rewrite == "Tell me more (password, reset)"


def test_a_topic_lasts_through_follow_ups_without_words_of_their_own(index: Index) -> None:
    rewrite = query(index, "and then?", *VPN, "Can you explain in more detail?", "Press Connect. [1]")
    assert rewrite == "and then? (VPN, configure)"


def test_a_pending_question_counts_though_it_has_no_answer(index: Index) -> None:
    assert "VPN" in query(index, "on a Mac", "how do I configure the VPN")


def test_a_pronoun_that_the_question_explains_itself_is_no_follow_up(index: Index) -> None:
    question = "My printer has a paper jam, how do I solve it?"
    assert query(index, question, *VPN) == question


@pytest.mark.parametrize(
    "question", ["Thanks, that worked!", "Hello", "ok", "ありがとうございます！", "了解です"]
)
def test_small_talk_stays_as_it_is(index: Index, question: str) -> None:
    assert query(index, question, *VPN) == question


def test_without_history_a_question_stays_as_it_is(index: Index) -> None:
    assert query(index, "Can you explain in more detail?") == "Can you explain in more detail?"


def test_citations_and_numbers_are_never_searched_for(index: Index) -> None:
    rewrite = query(index, "Tell me more", "Anything?", "A session lasts 12 hours. [12]")
    assert "12" not in rewrite


CONVERSATIONS = [
    (VPN, "on a Mac", "en/vpn.md", "system extension"),
    (VPN, "Can you explain in more detail?", "en/vpn.md", "VPN client"),
    (VPN, "How many hours does it last?", "en/vpn.md", "12 hours"),
    (PASSWORD, "How long does it take?", "en/password.md", "5 minutes"),
    (PASSWORD, "Can you tell me more?", "en/password.md", "password"),
    (VPN, "My printer has a paper jam", "en/printers.md", "jam"),
    (VPN_JA, "もっと詳しく", "ja/vpn.md", "VPN"),
    (VPN_JA, "Macの場合は？", "ja/vpn.md", "システム拡張"),
    (VPN_JA, "最長で何時間ですか", "ja/vpn.md", "12時間"),
    (VPN_JA, "パスワードを忘れました", "ja/password.md", "忘れた"),
]


def test_rewriting_beats_searching_the_last_turn(index: Index) -> None:
    def found(text: str, uri: str, passage: str) -> bool:
        hits = index.search(text, 2)
        return any(hit.chunk.uri.endswith(uri) and passage in hit.chunk.text for hit in hits)

    last_turn = sum(found(question, uri, passage) for _, question, uri, passage in CONVERSATIONS)
    rewrite = sum(
        found(query(index, question, *said), uri, passage) for said, question, uri, passage in CONVERSATIONS
    )
    assert rewrite == len(CONVERSATIONS)
    assert last_turn <= len(CONVERSATIONS) - 3


def test_the_same_conversation_is_rewritten_the_same_way_again(index: Index, tmp_path: Path) -> None:
    again = small_index(tmp_path)
    assert query(again, "Tell me more", *VPN, *PASSWORD) == query(index, "Tell me more", *VPN, *PASSWORD)


@pytest.fixture(scope="module")
def whole() -> Index:
    """The index of all sample articles."""
    return Index.from_folder(KNOWLEDGE)


@pytest.mark.parametrize(
    "question",
    [
        "What is MFA?",
        "My printer doesn't work",
        "How do I reset my password?",
        "Who approves a new laptop?",
        "メールが届かない",
        "プリンターが動きません",
        "スマホをなくしました",
        "パスワードを忘れました",
    ],
)
def test_a_new_topic_of_a_few_words_is_left_as_it_is(question: str, whole: Index) -> None:
    assert query(whole, question, *(VPN_JA if is_japanese(question) else VPN)) == question


@pytest.mark.parametrize(
    "question",
    [
        "on a Mac?",
        "And on my phone?",
        "how long does that take?",
        "what about Windows?",
        "Macの場合は？",
        "つながらないときは？",
    ],
)
def test_a_follow_up_of_a_few_words_names_the_topic(question: str, whole: Index) -> None:
    assert "VPN" in query(whole, question, *(VPN_JA if is_japanese(question) else VPN))


@pytest.mark.parametrize(
    "question",
    [
        "How do I book a meeting room?",
        "HoshinoConnectとは何ですか",
        "What is StarKey and how do I set it up?",
        "What is the weather in Paris?",
    ],
)
def test_a_question_that_says_itself_what_it_is_about_stays_as_it_is(question: str, whole: Index) -> None:
    assert query(whole, question, *(VPN_JA if is_japanese(question) else VPN)) == question


@pytest.mark.parametrize(
    "question",
    ["時間がかかりますか", "手当はありますか", "StarKeyが使えないときは？", "弁償しないといけませんか"],
)
def test_what_is_asked_of_the_topic_is_no_new_topic(question: str, whole: Index) -> None:
    assert "VPN" in query(whole, question, *(VPN_JA if is_japanese(question) else VPN))


def test_what_the_article_under_discussion_answers_best_is_no_new_topic(whole: Index) -> None:
    leave = ("育児休業中、アカウントはどうなりますか", "アカウントは停止されますが、削除はされません。")
    assert "アカウント" in query(whole, "ノートPCは返さないといけませんか", *leave)


def test_what_one_passage_answers_as_it_is_asked_stays_as_it_is(whole: Index) -> None:
    toner = ("Who replaces the toner?", "Toner is replaced by General Affairs. [1]")
    question = "How many colour pages may I print a month?"
    assert query(whole, question, *toner) == question
