"""What the functions need to be told is what Terraform tells them: one source of truth."""

import importlib
from typing import Any

import pytest

from answer_fn.settings import Settings as AnswerSettings
from ingest_fn.auth import Trusted
from ingest_fn.settings import Settings as IngestSettings
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.pipeline import pipeline
from shared.runtime.settings import CommonSettings, read
from tests.support.terraform_config import (
    CORPUS,
    PROJECT,
    PROJECT_NUMBER,
    defaults,
    evaluated,
    needs_terraform,
    variables_given,
)

SETTINGS: dict[str, type[CommonSettings]] = {
    folder: importlib.import_module(f"{folder}.settings").Settings for folder in pipeline().folders
}
STEPS = [row.name for row in pipeline().functions]
#: Not ours: google-genai and functions-framework read these.
OF_LIBRARIES = {"GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_CLOUD_LOCATION", "THREADS"}
#: For the local cloud and its stand-ins alone; Google's own addresses are their defaults.
LOCAL_ONLY = {"CHAT_ENDPOINT", "RAG_ENDPOINT", "CHAT_CERTS_URL", "CHAT_OWN_CERTS_URL"}
#: Variable of Terraform → the function's setting whose default it repeats.
REPEATED = {
    "rewrite_model": ("reformulate_fn", "rewrite_model"),
    "answer_model": ("answer_fn", "answer_model"),
    "history_hours": ("answer_fn", "history_hours"),
    "rag_top_k": ("retrieve_fn", "rag_top_k"),
    "rag_distance_threshold": ("retrieve_fn", "rag_distance_threshold"),
    "rag_ranker": ("retrieve_fn", "rag_ranker"),
    "search_kind": ("retrieve_fn", "search_kind"),
    "search_fusion": ("retrieve_fn", "search_fusion"),
    "context_tokens": ("retrieve_fn", "context_tokens"),
    "utc_offset_hours": ("reformulate_fn", "utc_offset_hours"),
    "firestore_database": ("answer_fn", "firestore_database"),
    "chat_commands": ("ingest_fn", "commands"),
    "questions_per_minute": ("ingest_fn", "questions_per_minute"),
    "longest_question": ("ingest_fn", "longest_question"),
    "chat_writes_per_second": ("answer_fn", "chat_writes_per_second"),
    "human_contact": ("answer_fn", "human_contact"),
    "log_content": ("answer_fn", "log_content"),
}


INGEST = f"https://asia-northeast1-{PROJECT}.cloudfunctions.net/threadwise-ingest"


def settings_of(step: str) -> type[CommonSettings]:
    return SETTINGS[pipeline().step(step).folder]


def names(settings: type[CommonSettings]) -> set[str]:
    return {field.upper() for field in settings.model_fields}


@pytest.mark.parametrize("step", STEPS)
def test_every_needed_setting_is_given(step: str) -> None:
    needed = {name.upper() for name, field in settings_of(step).model_fields.items() if field.is_required()}

    assert needed <= variables_given(step)


@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_given_that_nobody_reads(step: str) -> None:
    assert variables_given(step) <= names(settings_of(step)) | OF_LIBRARIES


@pytest.mark.parametrize("step", STEPS)
def test_every_setting_can_be_set_in_the_cloud(step: str) -> None:
    # tell shares answer_fn's settings, and asks no model.
    not_its_own = {"ANSWER_MODEL"} if step == "tell" else set()
    last = {"PUBLISHES_TO"} if pipeline().step(step).gives is None else set()

    assert names(settings_of(step)) - LOCAL_ONLY - not_its_own - last <= variables_given(step)


@pytest.mark.parametrize("variable", REPEATED)
def test_a_variable_s_default_is_the_setting_s(variable: str) -> None:
    function, field = REPEATED[variable]

    assert defaults()[variable] == SETTINGS[function].model_fields[field].default


def default(settings: type[CommonSettings], field: str) -> Any:
    return settings.model_fields[field].get_default(call_default_factory=True)


@pytest.mark.parametrize("step", STEPS)
def test_the_topic_that_a_step_gives_to_is_its_default(step: str) -> None:
    if (gives := pipeline().step(step).gives) is not None:
        assert default(settings_of(step), "publishes_to") == gives


WAYS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "over Pub/Sub": {"chat_connection": "pubsub"},
    "by the project's number": {"chat_audience": "project_number"},
    "an add-on": {"chat_app": "add_on"},
    "an add-on over Pub/Sub": {"chat_app": "add_on", "chat_connection": "pubsub"},
    "a second environment": {"name_prefix": "staging", "firestore_database": "staging"},
    "all set": {
        "rag_distance_threshold": 0.6,
        "rag_ranker": "semantic-ranker-default@latest",
        "search_kind": "hybrid",
        "search_fusion": True,
        "context_tokens": 4000,
        "utc_offset_hours": 5.5,
        "source_links": {"gs://kb/": "https://wiki.example/"},
        "history_hours": 48,
        "space_corpora": {"spaces/AAAA": CORPUS.replace("42", "43")},
        "rewrite_model": "gemini-9",
        "allowed_domains": ["example.com", "C0abc"],
        "allowed_spaces": ["spaces/AAAA", "DIRECT_MESSAGE"],
        "questions_per_minute": 3,
        "longest_question": 500,
        "chat_writes_per_second": 0.5,
        "chat_commands": {"7": "help"},
        "languages": ["ja", "en"],
        "human_contact": "[IT](https://it.example/)",
        "log_content": True,
    },
}


@needs_terraform
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_function_starts_with_what_terraform_gives_it(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step, variables in evaluated("environments", rag_corpus=CORPUS, **WAYS[way]).items():
        with monkeypatch.context() as environment:
            for name in names(settings_of(step)):
                environment.delenv(name, raising=False)
            for name, value in variables.items():
                environment.setenv(name, value)
            settings = read(settings_of(step))
        assert settings.google_cloud_project == PROJECT
        assert settings.step_seconds == pipeline().step(step).seconds.step
        assert settings.firestore_database == WAYS[way].get("firestore_database", "(default)")


CLASSIC = Trusted("chat", INGEST, "chat@system.gserviceaccount.com")
ADD_ON = Trusted("chat", INGEST, f"service-{PROJECT_NUMBER}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com")
PUSH = Trusted("pubsub", INGEST, f"push-ingest@{PROJECT}.iam.gserviceaccount.com")
SPEAKERS = {
    ("classic", "http", "url"): {CLASSIC, PUSH},
    ("classic", "http", "project_number"): {Trusted("chat", PROJECT_NUMBER, None), PUSH},
    ("add_on", "http", "url"): {ADD_ON, PUSH},
    ("classic", "pubsub", "url"): {PUSH},
    ("add_on", "pubsub", "url"): {PUSH},
}


@needs_terraform
@pytest.mark.slow
@pytest.mark.parametrize("app, connection, audience", SPEAKERS)
def test_ingest_hears_chat_in_the_one_form_that_is_configured_and_the_subscription(
    app: str, connection: str, audience: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"chat_app": app, "chat_connection": connection, "chat_audience": audience}
    for name, value in evaluated("environments", **given)["ingest"].items():
        monkeypatch.setenv(name, value)

    assert set(read(IngestSettings).trusted) == SPEAKERS[app, connection, audience]


@needs_terraform
@pytest.mark.slow
def test_what_a_person_sets_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    environments = evaluated("environments", rag_corpus=CORPUS, **WAYS["all set"])
    for name, value in {**environments["answer"], **environments["ingest"]}.items():
        monkeypatch.setenv(name, value)

    ingest, answer = read(IngestSettings), read(AnswerSettings)
    assert (ingest.allowed_domains, ingest.allowed_spaces) == (
        ("example.com", "C0abc"),
        ("spaces/AAAA", "DIRECT_MESSAGE"),
    )
    assert (ingest.questions_per_minute, ingest.longest_question, ingest.commands) == (3, 500, {"7": "help"})
    assert ingest.languages == answer.languages == ("ja", "en")
    assert (answer.human_contact, answer.log_content) == ("[IT](https://it.example/)", True)
    assert answer.chat_writes_per_second == 0.5
    for name, value in {**environments["reformulate"], **environments["retrieve"]}.items():
        monkeypatch.setenv(name, value)
    retrieve = read(RetrieveSettings)
    assert (retrieve.search_kind, retrieve.search_fusion, retrieve.context_tokens) == ("hybrid", True, 4000)
    assert retrieve.rag_ranker == "semantic-ranker-default@latest"
    assert read(ReformulateSettings).utc_offset_hours == 5.5
    assert retrieve.space_corpora == {"spaces/AAAA": CORPUS.replace("42", "43")}


@needs_terraform
@pytest.mark.slow
def test_without_a_corpus_retrieve_starts_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in evaluated("environments")["retrieve"].items():
        monkeypatch.setenv(name, value)

    assert isinstance(read(RetrieveSettings), RetrieveSettings)
