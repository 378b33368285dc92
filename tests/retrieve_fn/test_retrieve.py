"""Retrieval: what comes back from RAG Engine, and what is made of it."""

from typing import Any

import pytest
from pydantic import ValidationError

from local.places import CORPUS, HOST
from retrieve_fn.retrieve import Services, retrieve
from retrieve_fn.search import link
from retrieve_fn.services import open_services
from retrieve_fn.settings import Settings
from shared.messages.envelope import Context, Envelope
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.conftest import SmallCloud
from tests.support.factories import envelope, question


@pytest.fixture(scope="module")
def settings(small_cloud: SmallCloud) -> Any:
    def make(**fields: Any) -> Settings:
        defaults = {
            "rag_corpus": CORPUS,
            "rag_endpoint": f"http://{HOST}:{small_cloud.places.rag}",
            "chat_endpoint": small_cloud.places.url,
            "source_links": '{"gs://threadwise-knowledge/": "https://kb.example/"}',
        }
        return Settings(**{**defaults, **fields})

    return make


@pytest.fixture(scope="module")
def services(settings: Any) -> Services:
    return open_services(settings())


def search(query: str, services: Services, seconds: float = 30) -> tuple[Context, ...]:
    found = retrieve(envelope(search_query=query), services, Deadline(seconds)).contexts
    assert found is not None
    return found


def test_passages_about_the_question_are_found_nearest_first(services: Services) -> None:
    found = search("How do I configure the VPN on a Mac?", services)

    assert "VPN" in found[0].title
    assert [context.distance for context in found] == sorted(context.distance for context in found)


def test_a_japanese_question_finds_a_japanese_article(services: Services) -> None:
    assert search("VPNの設定方法を教えて", services)[0].title == "VPNの設定方法"


def test_nothing_found_is_a_result(services: Services) -> None:
    assert search("xyzzy plugh", services) == ()


def test_nothing_is_searched_for_with_thanks(services: Services, faults: Any) -> None:
    faults.switch_on("rag-down")
    thanks = envelope(question=question(text="Thanks, that worked!"), search_query="Thanks, that worked!")

    assert retrieve(thanks, services, Deadline(5)).contexts == ()


def test_a_space_may_have_a_corpus_of_its_own(settings: Any) -> None:
    elsewhere = CORPUS.replace("ragCorpora/local", "ragCorpora/elsewhere")
    sales = f'{{"spaces/AAAAsalestyo": "{elsewhere}"}}'
    divided = open_services(settings(space_corpora=sales))

    assert search("VPN", divided)
    there = envelope(search_query="VPN", question=question(space="spaces/AAAAsalestyo", thread=None))
    with pytest.raises(Permanent, match="rag_refused"):  # there is no such corpus in the stand-in
        retrieve(there, divided, Deadline(5))


@pytest.mark.parametrize(
    "corpora",
    [
        '{"DIRECT_MESSAGE": "projects/threadwise-local/locations/local/ragCorpora/x"}',
        '{"spaces/A": "ragCorpora/x"}',
        '{"spaces/A": "projects/other/locations/local/ragCorpora/x"}',
        '{"spaces/A": "projects/threadwise-local/locations/other/ragCorpora/x"}',
    ],
)
def test_a_space_s_corpus_is_a_whole_name_of_the_same_place(settings: Any, corpora: str) -> None:
    with pytest.raises(ValidationError):
        settings(space_corpora=corpora)


def test_no_more_passages_than_were_asked_for(settings: Any) -> None:
    assert len(search("VPN", open_services(settings(rag_top_k=2)))) == 2


def test_passages_that_are_too_far_away_are_left_out(settings: Any) -> None:
    near = search("VPN", open_services(settings(rag_distance_threshold=0.5)))

    assert all(context.distance <= 0.5 for context in near)


def test_the_same_passage_has_the_same_id_again_and_no_two_share_one(services: Services) -> None:
    first, second = search("VPN", services), search("VPN", services)

    assert first == second
    assert len({context.id for context in first}) == len(first)


def test_links_come_from_the_mapping(services: Services) -> None:
    assert search("How do I configure the VPN?", services)[0].link == "https://kb.example/en/vpn-setup.md"


@pytest.mark.parametrize(
    "uri, expected",
    [
        ("https://wiki.example/vpn", "https://wiki.example/vpn"),
        ("gs://kb/en/vpn.md", "https://kb.example/english/vpn.md"),
        ("gs://kb/ja/vpn.md", "https://kb.example/ja/vpn.md"),
        ("gs://other/vpn.md", None),
        ("http://wiki.example/vpn", None),
        ("javascript:alert(1)", None),
        ("", None),
    ],
)
def test_a_link_is_https_as_it_is_or_mapped_by_its_longest_prefix(uri: str, expected: str | None) -> None:
    links = {"gs://kb/": "https://kb.example/", "gs://kb/en/": "https://kb.example/english/"}

    assert link(uri, links) == expected


def test_a_corpus_that_is_not_there_is_permanent(settings: Any) -> None:
    services = open_services(settings(rag_corpus="projects/p/locations/l/ragCorpora/gone"))

    with pytest.raises(Permanent, match="rag_refused"):
        search("VPN", services)


def test_a_search_that_is_down_is_transient(services: Services, faults: Any) -> None:
    faults.switch_on("rag-down")

    with pytest.raises(Transient, match="rag_unavailable"):
        search("VPN", services, seconds=0.5)


def test_a_search_that_hangs_ends_within_the_step_s_time(services: Services, faults: Any) -> None:
    faults.switch_on("rag-hang")

    with pytest.raises(Transient, match=r"rag_unavailable|deadline"):
        search("VPN", services, seconds=0.5)


def test_brief_trouble_of_the_search_is_not_noticed(services: Services, faults: Any) -> None:
    faults.switch_on("rag-throttled", share=0.4)

    assert all(search("VPN", services) for _ in range(4))


def test_an_envelope_without_a_query_is_permanent(services: Services) -> None:
    sent: Envelope = envelope()

    with pytest.raises(Permanent, match="envelope_incomplete"):
        retrieve(sent, services, Deadline(5))
