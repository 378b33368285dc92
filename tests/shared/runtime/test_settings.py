"""A wrong setting stops the function at its start and is named."""

import pytest

from answer_fn.settings import Settings as AnswerSettings
from ingest_fn.settings import Settings as IngestSettings
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.runtime.settings import CommonSettings, read

GOOD = {
    "GOOGLE_CLOUD_PROJECT": "demo",
    "CHAT_AUDIENCE": "https://example.com/ingest",
    "RAG_CORPUS": "projects/demo/locations/europe-west3/ragCorpora/1",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in GOOD.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize("settings", [IngestSettings, ReformulateSettings, RetrieveSettings, AnswerSettings])
def test_the_project_is_needed_everywhere(settings: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")

    with pytest.raises(SystemExit, match="GOOGLE_CLOUD_PROJECT is not set"):
        read(settings)


@pytest.mark.parametrize(
    "settings, variable, value",
    [
        (IngestSettings, "CHAT_AUDIENCE", ""),
        (IngestSettings, "HISTORY_HOURS", "a day"),
        (IngestSettings, "HISTORY_HOURS", "0"),
        (IngestSettings, "STEP_SECONDS", "31"),
        (IngestSettings, "LANGUAGES", "en,xx"),
        (IngestSettings, "LANGUAGES", ","),
        (AnswerSettings, "LANGUAGES", "English"),
        (AnswerSettings, "LOG_CONTENT", "sometimes"),
        (IngestSettings, "CHAT_CERTS_URL", "https://evil.example/certs"),
        (IngestSettings, "CHAT_CERTS_URL", "http://www.googleapis.com/oauth2/v1/certs"),
        (IngestSettings, "CHAT_ENDPOINT", "http://chat.evil.example:80"),
        (ReformulateSettings, "CHAT_ENDPOINT", "https://127.0.0.1:1"),
        (RetrieveSettings, "RAG_CORPUS", "my-corpus"),
        (RetrieveSettings, "RAG_TOP_K", "0"),
        (RetrieveSettings, "RAG_DISTANCE_THRESHOLD", "near"),
        (AnswerSettings, "STEP_SECONDS", "601"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_wrong(
    settings: type, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(SystemExit, match=f"the environment variable {variable} is"):
        read(settings)


def test_languages_are_listed_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGES", "ja, en")

    assert read(IngestSettings).languages == read(AnswerSettings).languages == ("ja", "en")


@pytest.mark.parametrize("settings", [IngestSettings, ReformulateSettings, RetrieveSettings, AnswerSettings])
def test_what_people_say_is_not_logged_unless_told(
    settings: type[CommonSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(settings).log_content is False
    monkeypatch.setenv("LOG_CONTENT", "true")

    assert read(settings).log_content is True


def test_settings_cannot_be_changed_later() -> None:
    settings = read(RetrieveSettings)

    with pytest.raises(ValueError, match="frozen"):
        setattr(settings, "rag_top_k", 9)  # noqa: B010 - mypy sees that it is frozen


def test_the_region_is_the_corpus_s_own() -> None:
    assert read(RetrieveSettings).rag_location == "europe-west3"


def test_links_are_read_from_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_LINKS", '{"gs://kb/": "https://kb.example/"}')

    assert read(RetrieveSettings).source_links == {"gs://kb/": "https://kb.example/"}


def test_links_that_are_no_json_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_LINKS", "gs://kb=https://kb.example")

    with pytest.raises(SystemExit, match="SOURCE_LINKS"):
        read(RetrieveSettings)


def test_an_endpoint_on_loopback_is_a_host_and_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_ENDPOINT", "http://127.0.0.1:8080")

    assert read(AnswerSettings).chat_endpoint == "127.0.0.1:8080"
