"""RAG Engine's corpora and files as the real client sees them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud.aiplatform_v1 import types

from local.stand_ins.rag import protos
from local.stand_ins.rag.corpora import LOCAL
from local.stand_ins.rag.data import MOST_URIS
from tests.support.articles import written
from tests.support.rag_engine import PARENT, Engine, running

BUCKET = "gs://threadwise-knowledge"
MODEL = f"{PARENT}/publishers/google/models/text-multilingual-embedding-002"
PARKING = "# Parking\n\nThe garage of the office has 40 places. Book a place on the facility page.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("articles"))


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    with running(folder) as engine:
        yield engine


def test_a_corpus_keeps_what_it_was_made_with(engine: Engine) -> None:
    model = {"vertex_prediction_endpoint": {"endpoint": MODEL}}
    config = {"rag_managed_db": {}, "rag_embedding_model_config": model}
    name = engine.create("helpdesk", vector_db_config=config, description="IT")

    corpus = engine.data.get_rag_corpus(name=name, retry=None, timeout=5)

    assert name.startswith(f"{PARENT}/ragCorpora/")
    assert (corpus.display_name, corpus.description) == ("helpdesk", "IT")
    assert corpus.vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint.endpoint == MODEL
    assert corpus.corpus_status.state == types.CorpusStatus.State.ACTIVE
    assert name in [each.name for each in engine.data.list_rag_corpora(parent=PARENT, retry=None, timeout=5)]


def test_names_need_not_be_unique(engine: Engine) -> None:
    assert engine.create("twice") != engine.create("twice")


def test_a_corpus_is_found_in_its_own_location_only(engine: Engine) -> None:
    name = engine.create()

    with pytest.raises(exceptions.NotFound):
        engine.data.get_rag_corpus(name=name.replace("europe-west3", "europe-west4"), retry=None, timeout=5)


def test_an_imported_file_is_listed_and_found(engine: Engine) -> None:
    corpus, uri = engine.create(), engine.put("parking.md", PARKING)

    assert engine.imported(corpus, uri) == (1, 0, 0)

    file = engine.files(corpus)[uri]
    assert file.name.startswith(f"{corpus}/ragFiles/")
    assert file.display_name == "parking.md"
    assert file.file_status.state == types.FileStatus.State.ACTIVE
    assert engine.found(corpus, "parking garage") == [uri]


def test_an_unchanged_file_is_skipped_and_a_changed_one_comes_beside_the_old(engine: Engine) -> None:
    corpus, uri = engine.create(), engine.put("lunch.md", "# Lunch\n\nThe canteen serves noodles.\n")
    engine.imported(corpus, uri)
    before = engine.files(corpus)[uri]
    assert engine.imported(corpus, uri) == (0, 1, 0)

    engine.put("lunch.md", "# Lunch\n\nThe canteen serves curry.\n")

    assert engine.imported(corpus, uri) == (1, 0, 0)
    after = engine.files(corpus)[uri]
    assert after.name != before.name
    assert engine.found(corpus, "noodles") == [uri]
    assert engine.found(corpus, "curry") == [uri]


def test_a_directory_is_imported_with_all_below_it(engine: Engine) -> None:
    corpus = engine.create()
    inside = {engine.put(f"tree/{name}", f"# {name}\n\nText.\n") for name in ("a.md", "deep/b.md")}
    engine.put("treehouse.md", "# Not below it\n\nText.\n")

    assert engine.imported(corpus, f"{BUCKET}/tree") == (2, 0, 0)

    assert set(engine.files(corpus)) == inside


def test_what_cannot_be_read_fails_alone_and_is_named(engine: Engine) -> None:
    corpus = engine.create()
    good = engine.put("good.md", PARKING)
    sjis = engine.put("sjis.md", "# 設定".encode("shift_jis"))
    image, missing = engine.put("photo.png", b"\x89PNG"), f"{BUCKET}/missing.md"

    operation = engine.start_import(corpus, sjis, image, missing, good)
    done = operation.result(timeout=10)

    assert (done.imported_rag_files_count, done.failed_rag_files_count) == (1, 3)
    failures = [status.message for status in operation.metadata.generic_metadata.partial_failures]
    assert all(uri in failure for uri, failure in zip((sjis, image, missing), failures, strict=True))
    assert operation.metadata.progress_percentage == 100
    assert list(engine.files(corpus)) == [good]


def test_a_deleted_file_is_not_found_any_more(engine: Engine) -> None:
    corpus, uri = engine.create(), engine.put("old.md", PARKING)
    engine.imported(corpus, uri)
    name = engine.files(corpus)[uri].name

    engine.data.delete_rag_file(name=name, retry=None, timeout=5).result(timeout=10)

    assert engine.files(corpus) == {}
    assert engine.found(corpus, "parking garage") == []
    with pytest.raises(exceptions.NotFound):
        engine.data.delete_rag_file(name=name, retry=None, timeout=5)


def test_files_are_listed_in_pages(engine: Engine) -> None:
    corpus = engine.create()
    uris = {engine.put(f"paged/{number}.md", f"# {number}\n\nText.\n") for number in range(5)}
    engine.imported(corpus, f"{BUCKET}/paged")

    pages = list(engine.data.list_rag_files({"parent": corpus, "page_size": 2}, retry=None, timeout=5).pages)

    assert [len(page.rag_files) for page in pages] == [2, 2, 1]
    assert {file.gcs_source.uris[0] for page in pages for file in page.rag_files} == uris


def test_one_operation_at_a_time_changes_a_corpus(folder: Path) -> None:
    with running(folder, a_file_takes=60) as engine:
        corpus, other, uri = engine.create(), engine.create(), engine.put("slow.md", PARKING)
        operation = engine.start_import(corpus, uri)
        assert not operation.done()

        with pytest.raises(exceptions.FailedPrecondition, match="other operations running on the RagCorpus"):
            engine.start_import(corpus, uri)

        assert not engine.start_import(other, uri).done()


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"gcs_source": {"uris": []}}, exceptions.InvalidArgument),
        ({"gcs_source": {"uris": ["https://example.com/a.md"]}}, exceptions.InvalidArgument),
        ({"gcs_source": {"uris": [f"{BUCKET}/a.md"] * (MOST_URIS + 1)}}, exceptions.InvalidArgument),
        ({"google_drive_source": {"resource_ids": [{"resource_id": "x"}]}}, exceptions.MethodNotImplemented),
        (
            {"gcs_source": {"uris": [f"{BUCKET}/a.md"]}, "max_embedding_requests_per_min": 9},
            exceptions.MethodNotImplemented,
        ),
    ],
)
def test_imports_that_are_wrong_or_not_served_are_refused(
    engine: Engine, config: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        engine.start_import(engine.create(), **config)


def test_other_methods_are_unimplemented(engine: Engine) -> None:
    with pytest.raises(exceptions.MethodNotImplemented):
        engine.data.delete_rag_corpus(name=engine.create(), retry=None, timeout=5)


def test_an_unknown_operation_is_not_found(engine: Engine) -> None:
    with pytest.raises(exceptions.NotFound):
        engine.data.transport.operations_client.get_operation(f"{PARENT}/operations/1", timeout=5)


def test_corpora_and_files_survive_the_process(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path / "state") as engine:
        corpus, uri = engine.create("kept"), engine.put("kept.md", PARKING)
        engine.imported(corpus, uri)

    with running(folder, tmp_path / "state") as engine:
        assert engine.data.get_rag_corpus(name=corpus, retry=None, timeout=5).display_name == "kept"
        assert engine.found(corpus, "parking garage") == [uri]


def test_the_local_corpus_holds_the_folder_and_what_was_imported(folder: Path, tmp_path: Path) -> None:
    local = f"{PARENT}/ragCorpora/{LOCAL}"
    with running(folder, tmp_path / "state") as engine:
        assert f"{BUCKET}/en/vpn.md" in engine.files(local)
        engine.imported(local, engine.put("en/vpn.md", PARKING), engine.put("new.md", PARKING))

    with running(folder, tmp_path / "state") as engine:
        assert engine.served.corpora.article(f"{BUCKET}/en/vpn.md") == PARKING
        assert f"{BUCKET}/new.md" in engine.found(local, "parking garage")
        assert f"{BUCKET}/en/wifi.md" in engine.files(local)


def test_an_article_that_was_changed_after_it_was_imported_wins(tmp_path: Path) -> None:
    local = f"{PARENT}/ragCorpora/{LOCAL}"
    articles = written(tmp_path / "articles", {"a.md": "# Old\n\nText.\n"})
    with running(articles, tmp_path / "state") as engine:
        engine.imported(local, engine.put("a.md", PARKING))

    (articles / "a.md").write_text("# Newest\n\nText.\n")
    later = time.time() + 60
    os.utime(articles / "a.md", (later, later))

    for _ in range(2):
        with running(articles, tmp_path / "state") as engine:
            assert engine.served.corpora.article(f"{BUCKET}/a.md") == "# Newest\n\nText.\n"
            assert len(engine.files(local)) == 1


def test_the_messages_have_the_field_numbers_and_types_of_the_sdk_s() -> None:
    seen: set[str] = set()

    def compare(ours: Any, theirs: Any) -> None:
        if ours.file.package != protos.PACKAGE or ours.name in seen:
            return
        seen.add(ours.name)
        for field in ours.fields:
            other = theirs.fields_by_name[field.name]
            assert (field.number, field.type) == (other.number, other.type)
            assert field.is_repeated == other.is_repeated
            if field.message_type is not None:
                compare(field.message_type, other.message_type)
            if field.enum_type is not None:
                numbers = {value.name.partition("_")[2]: value.number for value in field.enum_type.values}
                known = {value.name: value.number for value in other.enum_type.values}
                assert numbers.items() <= known.items()

    for name in protos.MESSAGES:
        if hasattr(types, name):
            compare(protos.CLASSES[name].DESCRIPTOR, getattr(types, name).pb().DESCRIPTOR)
    assert seen == set(protos.MESSAGES)
