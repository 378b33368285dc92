"""Search over the articles, and RAG Engine's `RetrieveContexts` as the real client sees it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud.aiplatform_v1.services.vertex_rag_service import VertexRagServiceClient
from google.cloud.aiplatform_v1.services.vertex_rag_service.transports.grpc import (
    VertexRagServiceGrpcTransport,
)
from grpc import insecure_channel

from local.stand_ins.faults import Faults
from local.stand_ins.rag.corpora import Corpora
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.service import Rag
from local.stand_ins.rag.terms import terms, words
from tests.support.articles import small_index, written
from tests.support.serving import serving

PARENT = "projects/demo/locations/europe-west3"


class _Served(Rag):
    """`Rag` on corpora that are opened and closed with it."""

    def __init__(self, folder: Path) -> None:
        self._opened = Corpora(None, folder)
        super().__init__(self._opened)

    async def start(self) -> None:
        self._opened.open()

    async def stop(self) -> None:
        self._opened.close()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return small_index(tmp_path_factory.mktemp("articles"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VertexRagServiceClient]:
    folder = written(tmp_path_factory.mktemp("served"))
    with serving("rag", _Served(folder), Faults()) as address:
        channel = insecure_channel(address)
        yield VertexRagServiceClient(transport=VertexRagServiceGrpcTransport(channel=channel))
        channel.close()


def request(text: str = "How do I configure the VPN?", **changes: Any) -> dict[str, Any]:
    corpus = changes.pop("corpus", f"{PARENT}/ragCorpora/local")
    return {
        "parent": changes.pop("parent", PARENT),
        "vertex_rag_store": {"rag_resources": [{"rag_corpus": corpus, **changes.pop("resource", {})}]},
        "query": {"text": text, "rag_retrieval_config": changes},
    }


def retrieved(client: VertexRagServiceClient, **changes: Any) -> list[Any]:
    return list(client.retrieve_contexts(request(**changes), timeout=5, retry=None).contexts.contexts)


def test_english_words_are_stemmed_and_stop_words_left_out() -> None:
    assert terms("How do I configure the printers?") == ["configur", "printer"]


@pytest.mark.parametrize(("written_so", "term"), [("Wi-Fi", "wifi"), ("ＶＰＮ", "vpn"), ("e-mail", "email")])
def test_spellings_of_one_word_are_one_term(written_so: str, term: str) -> None:
    assert terms(written_so) == [term]


def test_japanese_runs_become_bigrams_and_single_characters_stay() -> None:
    assert terms("VPNの設定方法を教えてください") == ["vpn", "設定", "定方", "方法"]
    assert terms("鍵") == ["鍵"]
    assert terms("ﾌﾟﾘﾝﾀｰ") == terms("プリンター")


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("How do I configure the VPN?", "en/vpn.md"),
        ("forgotten password", "en/password.md"),
        ("There is a paper jam", "en/printers.md"),
        ("VPNの設定方法を教えて", "ja/vpn.md"),
        ("パスワードを忘れました", "ja/password.md"),
        ("紙詰まりを直したい", "ja/printers.md"),
    ],
)
def test_the_article_on_the_subject_is_nearest(index: Index, question: str, article: str) -> None:
    assert index.search(question, 3)[0].chunk.uri == f"gs://threadwise-knowledge/{article}"


def test_a_useful_threshold_separates_what_is_known_from_what_is_not(index: Index) -> None:
    known = [
        "How do I configure the VPN?",
        "paper jam",
        "VPNの設定方法",
        "how long does a password reset take",
    ]
    unknown = [
        "the salary of an office assistant",
        "social insurance number",
        "社員食堂のメニュー",
        "駐車場の申請",
    ]
    assert all(index.search(text, 1)[0].distance < 0.7 for text in known)
    assert all(hit.distance > 0.7 for text in unknown for hit in index.search(text, 1))


def test_distances_rise_and_stay_between_0_and_1(index: Index) -> None:
    distances = [hit.distance for hit in index.search("VPN client on a Mac", 20)]
    assert len(distances) > 3
    assert distances == sorted(distances)
    assert 0 < distances[0] <= distances[-1] < 1


def test_nothing_is_found_where_no_word_is_shared(index: Index) -> None:
    assert index.search("sourdough bread", 5) == []
    assert index.search("もっと詳しく", 5) == []


def test_ties_are_broken_by_the_order_of_the_chunks(tmp_path: Path) -> None:
    same = "# Same\n\nThe badge opens the door.\n"
    index = Index.from_folder(written(tmp_path, {f"{name}.md": same for name in "cab"}))
    assert [hit.chunk.uri[-4:] for hit in index.search("badge", 3)] == ["a.md", "b.md", "c.md"]


def test_words_in_brackets_do_not_outweigh_the_question(index: Index) -> None:
    hits = index.search("printer job (VPN, client, configure, catalogue)", 5)
    assert hits[0].chunk.uri.endswith("en/printers.md")
    assert any("vpn" in hit.chunk.uri for hit in hits)


def test_the_language_of_the_query_is_preferred(index: Index) -> None:
    assert index.search("VPN?", 1)[0].chunk.uri.endswith("en/vpn.md")
    assert index.search("VPNは？", 1)[0].chunk.uri.endswith("ja/vpn.md")


def test_bigrams_where_two_known_words_meet_are_not_asked_for(index: Index) -> None:
    assert set(index.asked_for(words("利用方法"))) == {"利用", "方法"}
    assert set(index.asked_for(words("駐車場"))) == {"駐車", "車場"}


def test_a_chunk_is_made_of_whole_paragraphs_and_lists_and_keeps_the_title(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {number} " + "is of some length. " * 20 for number in range(6)]
    steps = "\n".join(f"{number}. Do step {number} of the very long list." for number in range(1, 40))
    text = "# The title\n\n" + "\n\n".join(paragraphs) + f"\n\n## Steps\n\nIn this order:\n\n{steps}\n"
    chunks = Index.from_folder(written(tmp_path, {"long.md": text})).chunks
    assert {chunk.title for chunk in chunks} == {"The title"}
    assert chunks[-1].text == f"## Steps\n\nIn this order:\n\n{steps}"
    assert all(len(chunk.text) <= 1000 for chunk in chunks[:-1])
    whole = "\n".join(chunk.text for chunk in chunks)
    assert all(paragraph.strip() in whole for paragraph in paragraphs)


def test_a_folder_without_articles_finds_nothing_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    assert Index.from_folder(tmp_path).search("VPN", 5) == []
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Index.from_folder(tmp_path / "nowhere")


def test_a_context_names_its_source_and_gives_a_distance(client: VertexRagServiceClient) -> None:
    first, second, *_ = retrieved(client)
    assert first.source_uri == "gs://threadwise-knowledge/en/vpn.md"
    assert first.source_display_name == "Setting up the VPN"
    assert "VPN" in first.text
    assert first.text == first.chunk.text
    assert 0 < first.score <= second.score


def test_top_k_and_the_distance_threshold_are_kept(client: VertexRagServiceClient) -> None:
    everything = retrieved(client)
    assert len(retrieved(client, top_k=2)) == 2
    limit = everything[2].score
    near = retrieved(client, filter={"vector_distance_threshold": limit})
    assert near == [context for context in everything if context.score < limit]
    assert retrieved(client, filter={"vector_distance_threshold": 0.0}) == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"corpus": f"{PARENT}/ragCorpora/4711"}, exceptions.NotFound),
        ({"corpus": "local"}, exceptions.InvalidArgument),
        ({"corpus": "projects/demo/locations/elsewhere/ragCorpora/local"}, exceptions.InvalidArgument),
        ({"parent": "europe-west3"}, exceptions.InvalidArgument),
        ({"text": " "}, exceptions.InvalidArgument),
        ({"top_k": -1}, exceptions.InvalidArgument),
        ({"filter": {"vector_similarity_threshold": 0.5}}, exceptions.MethodNotImplemented),
        ({"filter": {"metadata_filter": "a = 1"}}, exceptions.MethodNotImplemented),
        ({"ranking": {"rank_service": {}}}, exceptions.MethodNotImplemented),
        ({"resource": {"rag_file_ids": ["1"]}}, exceptions.MethodNotImplemented),
    ],
)
def test_what_is_wrong_or_not_served_is_refused(
    client: VertexRagServiceClient, changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        retrieved(client, **changes)


def test_a_request_without_a_corpus_is_refused(client: VertexRagServiceClient) -> None:
    with pytest.raises(exceptions.InvalidArgument, match="exactly one"):
        client.retrieve_contexts({**request(), "vertex_rag_store": {}}, timeout=5, retry=None)


def test_other_methods_are_unimplemented(client: VertexRagServiceClient) -> None:
    with pytest.raises(exceptions.MethodNotImplemented):
        client.augment_prompt({"parent": PARENT}, timeout=5, retry=None)


def test_an_article_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "sjis.md").write_bytes("# 設定".encode("shift_jis"))

    with pytest.raises(ValueError, match=r"sjis\.md is not UTF-8"):
        Index.from_folder(tmp_path)
