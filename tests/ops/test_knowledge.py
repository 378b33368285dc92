"""`python -m ops knowledge` against the small cloud: make a corpus, fill it, keep it fresh, list it."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from google.cloud.storage import Client
from typer.testing import CliRunner

from local.places import CORPUS, HOST, PROJECT, free_port
from local.runner.environment import environment_of_operators
from local.stand_ins.faults import Faults
from ops import clients as ops_clients
from ops.articles import LARGEST_OTHERS
from ops.cli import app
from ops.corpora import MODEL, Corpora
from ops.errors import Exit, OpsError
from ops.settings import Settings
from ops.world import World
from shared.runtime import clients
from tests import ROOT
from tests.conftest import SmallCloud
from tests.support.articles import written
from tests.support.loopback import http
from tests.support.rag_engine import PARENT, running
from tests.support.stack import Stack

pytest_plugins = ["tests.support.stack_fixtures"]

PAGE = (ROOT / "docs" / "knowledge.md").read_text()
COMMANDS = re.findall(r"^python -m ops knowledge .*$", PAGE, re.MULTILINE)
ARTICLES = {
    "en/parking.md": "# Parking\n\nThe garage of the office has 40 places. Book one on the facility page.\n",
    "ja/parking.md": "# 駐車場\n\n駐車場は40台です。施設のページで予約してください。\n",
    "canteen.txt": "The canteen serves noodles from 11:30 to 14:00.\n",
}


class Watched(World):
    """A deployment that records which methods of RAG Engine are called."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    def rag_data(self, location: str) -> Any:
        client, called = super().rag_data(location), self.called

        class Noting:
            def __getattr__(self, name: str) -> Any:
                called.append(name)
                return getattr(client, name)

        return Noting()


@dataclass
class Operator:
    """Somebody who runs commands; each test has a bucket and a corpus of its own."""

    bucket: str
    corpus: str
    storage: Client
    world: Watched = field(default_factory=Watched)

    def run(self, *arguments: str | Path) -> Any:
        self.world = Watched()
        given = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, given, obj=self.world, catch_exceptions=False)

    def fill(self, folder: Path, *options: str) -> Any:
        return self.run("knowledge", "import", self.corpus, folder, "--bucket", f"{self.bucket}/kb", *options)

    def files(self) -> dict[str, str]:
        """When each file of the corpus was imported, by URI."""
        listed = json.loads(self.run("knowledge", "list", self.corpus, "--json").stdout)
        return {file["uri"]: file["updated"] for file in listed}

    def objects(self) -> set[str]:
        return {blob.name for blob in self.storage.list_blobs(self.bucket.removeprefix("gs://"))}

    def found(self, text: str) -> list[str]:
        """The URIs of the contexts for a query."""
        endpoint = Settings().rag_endpoint
        name = next(each.name for each in self.corpora().all() if each.display_name == self.corpus)
        request = {
            "parent": "/".join(name.split("/")[:4]),
            "vertex_rag_store": {"rag_resources": [{"rag_corpus": name}]},
            "query": {"text": text},
        }
        answer = clients.rag("local", endpoint).retrieve_contexts(request, retry=None, timeout=5)
        return [context.source_uri for context in answer.contexts.contexts]

    def corpora(self) -> Corpora:
        return Corpora(ops_clients.rag_data("local", Settings().rag_endpoint), PROJECT, "local")

    def audit(self) -> dict[str, Any]:
        """The latest operation of the audit."""
        return dict(json.loads(self.run("audit", "--json", "--limit", "1").stdout)[0])


@pytest.fixture
def pointed(small_cloud: SmallCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment that `make run` writes for operators."""
    for line in environment_of_operators(small_cloud.places).splitlines():
        monkeypatch.setenv(*line.removeprefix("export ").split("=", 1))
    monkeypatch.setenv("OPERATOR", "tests")


_number = iter(range(1, 1000))


@pytest.fixture
def operator(pointed: None) -> Iterator[Operator]:
    number = next(_number)
    storage = Client(project=PROJECT)
    storage.create_bucket(f"articles-{number}")
    operator = Operator(f"gs://articles-{number}", f"it-{number}", storage)
    operator.run("knowledge", "create", "--name", operator.corpus)
    yield operator
    storage.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "articles", ARTICLES)


def test_create_prints_the_name_for_terraform_alone_and_is_done_once(operator: Operator) -> None:
    first = operator.run("knowledge", "create", "--name", "made once", "--reason", "new team")
    recorded = operator.audit()
    again = operator.run("knowledge", "create", "--name", "made once")

    assert first.stdout.startswith(f"projects/{PROJECT}/locations/local/ragCorpora/")
    assert len(first.stdout.split()) == 1
    assert again.stdout == first.stdout
    assert f'rag_corpus = "{first.stdout.strip()}"' in first.stderr
    assert (recorded["action"], recorded["by"], recorded["note"]) == ("knowledge-create", "tests", "new team")
    assert recorded["counts"] == {"created": 1}


def test_a_corpus_gets_a_multilingual_model_unless_told(operator: Operator) -> None:
    operator.run("knowledge", "create", "--name", "english", "--embedding-model", "text-embedding-005")
    again = operator.run("knowledge", "create", "--name", "english")

    models = {each.display_name: each.model for each in operator.corpora().all()}
    assert models[operator.corpus] == MODEL
    assert models["english"] == "text-embedding-005"
    assert "keeps its embedding model, text-embedding-005" in again.stderr


def test_a_folder_is_uploaded_imported_and_found_by_its_gs_uri(operator: Operator, folder: Path) -> None:
    result = operator.fill(folder)

    assert result.exit_code == Exit.OK
    assert "3 uploaded, 3 imported" in result.stderr
    assert set(operator.files()) == {f"{operator.bucket}/kb/{name}" for name in ARTICLES}
    assert operator.found("parking garage") == [f"{operator.bucket}/kb/en/parking.md"]
    assert operator.found("駐車場の予約") == [f"{operator.bucket}/kb/ja/parking.md"]
    recorded = operator.audit()
    assert (recorded["action"], recorded["counts"]) == ("knowledge-import", {"uploaded": 3, "imported": 3})
    assert recorded["finished_at"] is not None


def test_a_second_import_does_nothing(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    before = operator.files()

    result = operator.fill(folder)

    assert "3 unchanged\n" in result.stderr
    assert "uploaded" not in result.stderr
    assert "import_rag_files" not in operator.world.called
    assert operator.files() == before


def test_only_what_has_changed_is_imported_again(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    before = operator.files()
    (folder / "canteen.txt").write_text("The canteen serves curry from 11:30 to 14:00.\n")

    result = operator.fill(folder)

    assert "1 uploaded, 1 imported, 2 unchanged" in result.stderr
    changed = {uri for uri, updated in operator.files().items() if updated != before[uri]}
    assert changed == {f"{operator.bucket}/kb/canteen.txt"}


def test_the_old_version_of_a_changed_file_is_not_found_any_more(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    (folder / "canteen.txt").write_text("The canteen serves curry from 11:30 to 14:00.\n")

    result = operator.fill(folder)

    assert "1 replaced" in result.stderr
    assert operator.found("noodles") == []
    assert operator.found("curry") == [f"{operator.bucket}/kb/canteen.txt"]
    assert len(json.loads(operator.run("knowledge", "list", operator.corpus, "--json").stdout)) == 3


def test_a_bucket_is_imported_as_it_is(operator: Operator) -> None:
    bucket = operator.storage.bucket(operator.bucket.removeprefix("gs://"))
    for name in ("kb/a.md", "kb/deep/b.md", "kb/photo.png", "kb2/other.md"):
        bucket.blob(name).upload_from_string(f"# {name}\n\nText.\n")

    result = operator.run("knowledge", "import", operator.corpus, f"{operator.bucket}/kb")
    bucket.blob("kb/a.md").upload_from_string("# Newer\n\nText.\n")
    again = operator.run("knowledge", "import", operator.corpus, f"{operator.bucket}/kb/")

    assert "2 imported" in result.stderr
    assert "1 imported, 1 unchanged" in again.stderr
    assert set(operator.files()) == {f"{operator.bucket}/kb/a.md", f"{operator.bucket}/kb/deep/b.md"}


def test_more_files_than_one_call_takes_are_imported(operator: Operator, tmp_path: Path) -> None:
    many = written(tmp_path / "many", {f"{number:02}.md": f"# {number}\n\nText.\n" for number in range(60)})

    result = operator.fill(many)

    assert "60 uploaded, 60 imported" in result.stderr
    assert len(operator.files()) == 60


def test_what_is_gone_is_told_and_stays(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    (folder / "canteen.txt").unlink()

    result = operator.fill(folder)

    assert f"Gone from {folder}:\n  {operator.bucket}/kb/canteen.txt" in result.stderr
    assert f"{operator.bucket}/kb/canteen.txt" in operator.files()


def test_what_is_gone_is_deleted_only_after_a_yes(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    (folder / "canteen.txt").unlink()

    with pytest.raises(OpsError, match="Without a terminal") as declined:
        operator.fill(folder, "--delete")

    assert declined.value.code == Exit.DECLINED
    assert f"{operator.bucket}/kb/canteen.txt" in operator.files()


def test_delete_removes_from_corpus_and_bucket_what_is_gone_and_nothing_else(
    operator: Operator, folder: Path, tmp_path: Path
) -> None:
    operator.fill(folder)
    elsewhere = f"{operator.bucket}/elsewhere"
    other = written(tmp_path / "other", {"other.md": "# Other\n\nText.\n"})
    operator.run("knowledge", "import", operator.corpus, other, "--bucket", elsewhere)
    bucket = operator.storage.bucket(operator.bucket.removeprefix("gs://"))
    bucket.blob("kb/never-imported.md").upload_from_string("x")
    (folder / "canteen.txt").unlink()

    result = operator.fill(folder, "--delete", "--yes")

    assert "1 deleted" in result.stderr
    left = {f"{operator.bucket}/kb/en/parking.md", f"{operator.bucket}/kb/ja/parking.md"}
    assert set(operator.files()) == {*left, f"{elsewhere}/other.md"}
    assert operator.objects() == {
        "kb/en/parking.md",
        "kb/ja/parking.md",
        "kb/never-imported.md",
        "elsewhere/other.md",
    }
    assert (operator.audit()["action"], operator.audit()["counts"]) == ("knowledge-delete", {"deleted": 1})


def test_files_that_cannot_be_read_are_left_out_and_named(operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / "canteen.txt").write_bytes("社員食堂".encode("shift_jis"))
    (folder / "large.md").write_bytes(b"x" * (LARGEST_OTHERS + 1))
    (folder / ".hidden.md").write_text("# Hidden\n\nText.\n")

    result = operator.fill(folder, "--delete", "--yes")

    assert "photo.png: RAG Engine does not read this file type" in result.stderr
    assert "canteen.txt: not UTF-8: save it as UTF-8" in result.stderr
    assert "large.md: larger than 10 MB" in result.stderr
    assert set(operator.files()) == {f"{operator.bucket}/kb/{name}" for name in ARTICLES}


def test_names_with_accents_are_those_of_the_links(operator: Operator, tmp_path: Path) -> None:
    """macOS keeps が as か and a mark; a link to the file is written with one character."""
    apart = written(tmp_path / "apart", {"\u304b\u3099\u3044\u3059\u3099.md": "# 案内\n\nText.\n"})

    operator.fill(apart)

    assert set(operator.files()) == {f"{operator.bucket}/kb/\u304c\u3044\u305a.md"}


def test_a_file_that_fails_is_named_and_the_others_are_imported(operator: Operator, folder: Path) -> None:
    (folder / "page.html").write_text("<h1>The stand-in reads no HTML</h1>")

    result = operator.fill(folder)

    assert result.exit_code == Exit.FAILED
    assert "3 imported" in result.stderr
    assert "1 failed" in result.stderr
    assert f"{operator.bucket}/kb/page.html: " in result.stderr
    assert "only .md and .txt can be imported here" in result.stderr
    assert operator.audit()["counts"]["failed"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("{corpus}", "{folder}"), Exit.INVALID, "Add --bucket gs://BUCKET/PREFIX"),
        (("{corpus}", "{bucket}", "--bucket", "{bucket}"), Exit.INVALID, "SOURCE is a bucket already"),
        (
            ("{corpus}", "{folder}", "--bucket", "articles"),
            Exit.INVALID,
            "articles does not have the form gs://bucket/prefix",
        ),
        (
            ("{corpus}", "/no/such/folder", "--bucket", "{bucket}"),
            Exit.NOT_FOUND,
            "no folder /no/such/folder",
        ),
        (("{corpus}", "{bucket}/empty"), Exit.NOT_FOUND, "nothing to import in gs://articles-"),
        (("{corpus}", "gs://no-such-bucket"), Exit.NOT_FOUND, "gcloud storage buckets create"),
        (("nobody", "{bucket}"), Exit.NOT_FOUND, "knowledge create --name nobody"),
        (("projects/p/locations/local/ragCorpora/9", "{bucket}"), Exit.NOT_FOUND, "has no such corpus"),
    ],
)
def test_errors_say_what_to_do(
    operator: Operator, folder: Path, arguments: tuple[str, ...], code: Exit, told: str
) -> None:
    names = {"corpus": operator.corpus, "folder": str(folder), "bucket": operator.bucket}

    with pytest.raises(OpsError, match=told) as error:
        operator.run("knowledge", "import", *(argument.format(**names) for argument in arguments))

    assert error.value.code == code


def test_a_name_that_two_corpora_have_is_not_guessed(operator: Operator) -> None:
    names = {operator.corpora().create("twice", MODEL).name for _ in range(2)}

    with pytest.raises(OpsError, match="Several corpora are named twice") as error:
        operator.run("knowledge", "list", "twice")

    assert all(name in str(error.value) for name in names)


def test_list_shows_corpora_and_files(operator: Operator, folder: Path) -> None:
    operator.fill(folder)

    corpora = operator.run("knowledge", "list").stdout
    files = operator.run("knowledge", "list", operator.corpus).stdout.splitlines()

    assert CORPUS in corpora
    assert f"{operator.corpus}  ({MODEL})" in corpora
    assert [line.split()[-1] for line in files] == sorted(f"{operator.bucket}/kb/{name}" for name in ARTICLES)


def test_throttled_calls_are_tried_again(operator: Operator, folder: Path, faults: Faults) -> None:
    faults.switch_on("rag-throttled", share=0.3)

    results = [operator.fill(folder)]
    while not faults.hits.get("rag-throttled") and len(results) < 20:  # which calls it hits is drawn
        results.append(operator.fill(folder))

    assert "3 imported" in results[0].stderr
    assert all(result.exit_code == 0 for result in results)
    assert faults.hits["rag-throttled"] > 0


def test_without_a_database_for_the_audit_a_corpus_is_made_all_the_same(
    operator: Operator, faults: Faults
) -> None:
    faults.switch_on("firestore-down")

    result = operator.run("knowledge", "create", "--name", "before terraform")

    assert result.exit_code == Exit.OK
    assert "ragCorpora/" in result.stdout
    assert "cannot be written (firestore_unavailable). Continuing without it" in result.stderr


def test_another_operation_on_the_corpus_is_waited_for(tmp_path: Path) -> None:
    with running(written(tmp_path), a_file_takes=1.0) as engine:
        corpus, uri = engine.create(), engine.put("a.md", ARTICLES["en/parking.md"])
        first = engine.start_import(corpus, uri)

        done = Corpora(engine.data, "demo", PARENT.split("/")[3]).import_files(
            corpus, [uri], lambda share: None
        )

        assert first.done()
        assert (done.imported, done.unchanged, done.failed) == (0, 1, 0)


def test_an_operation_s_progress_is_told(tmp_path: Path) -> None:
    with running(written(tmp_path), a_file_takes=0.3) as engine:
        corpus = engine.create()
        uris = [engine.put(f"{number}.md", f"# {number}\n\nText.\n") for number in range(4)]
        shares: list[float] = []

        Corpora(engine.data, "demo", PARENT.split("/")[3]).import_files(corpus, uris, shares.append)

        assert shares == sorted(shares)
        assert any(0 < share < 1 for share in shares)
        assert shares[-1] == 1.0


@pytest.mark.parametrize("endpoint", ["http://rag.example.com:80", "https://127.0.0.1:1", "127.0.0.1:1"])
def test_an_endpoint_that_is_not_on_this_machine_is_refused(
    operator: Operator, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("RAG_ENDPOINT", endpoint)

    with pytest.raises(OpsError, match=r"RAG_ENDPOINT: Value error, must be http://127\.0\.0\.1:PORT"):
        operator.run("knowledge", "list")


@pytest.mark.slow
def test_a_region_that_does_not_answer_is_named(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ENDPOINT", f"http://{HOST}:{free_port()}")

    with pytest.raises(OpsError, match="RAG Engine does not answer in local") as error:
        operator.run("knowledge", "list")

    assert error.value.code == Exit.UNREACHABLE


def test_the_other_commands_load_none_of_it() -> None:
    loaded = "[name for name in sys.modules if 'aiplatform' in name or 'cloud.storage' in name]"
    code = f"import ops.cli, sys; print({loaded})"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_runs(command: str, operator: Operator, folder: Path) -> None:
    operator.fill(folder)
    names = {"it-support": operator.corpus, "./articles": str(folder), "europe-west4": "local"}
    names |= {
        "gs://MY-ARTICLES/it": f"{operator.bucket}/kb",
        "gs://threadwise-knowledge/mine": f"{operator.bucket}/mine",
    }
    for name, ours in names.items():
        command = command.replace(name, ours)
    result = operator.run(*shlex.split(command)[3:])

    assert result.exit_code == Exit.OK, result.output


@pytest.mark.slow
def test_the_bot_answers_from_a_new_article_without_a_restart(
    stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in environment_of_operators(stack.places).splitlines():
        monkeypatch.setenv(*line.removeprefix("export ").split("=", 1))
    question = "How many places does the parking garage have?"
    before = stack.final(stack.ask(question))
    arguments = ["knowledge", "import", "local", str(folder), "--bucket", "gs://threadwise-knowledge/new"]
    CliRunner().invoke(app, arguments, obj=World(), catch_exceptions=False)

    after = stack.final(stack.ask(question))

    assert "40 places" not in str(before)
    assert "40 places" in str(after)
    link = f"{stack.places.url}/knowledge/new/en/parking.md"
    assert link in str(after)
    assert http.get(link).text == ARTICLES["en/parking.md"]
