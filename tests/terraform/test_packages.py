"""The zips that Terraform uploads are those of `make package`, which test_package.py installs and serves."""

import shutil
from pathlib import Path

import pytest

from shared.pipeline import pipeline
from tests import ROOT
from tests.support.terraform_config import evaluated, files_uploaded, needs_terraform, resources
from tools import package


@pytest.mark.parametrize("function", pipeline().folders)
def test_terraform_uploads_what_is_packaged(function: str) -> None:
    assert files_uploaded(function) == dict(package.contents(function))


@pytest.mark.parametrize("function", pipeline().folders)
def test_every_file_is_text_because_terraform_reads_it_as_such(function: str) -> None:
    for path in files_uploaded(function).values():
        path.read_text(encoding="utf-8")


@needs_terraform
@pytest.mark.slow
def test_terraform_s_own_list_is_the_one_that_is_tested() -> None:
    listed = evaluated("sources")

    assert set(listed) == set(pipeline().folders)
    for function, files in listed.items():
        assert {name: ROOT / path for name, path in files.items()} == files_uploaded(function)


@needs_terraform
@pytest.mark.slow
def test_caches_and_hidden_files_stay_out(tmp_path: Path) -> None:
    for folder in (*pipeline().folders, "shared"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in (".notes.py", "texts/.notes.toml", "__pycache__/step.pyc", ".cache/step.py"):
        path = tmp_path / "shared" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")

    assert set(evaluated("sources", root=tmp_path)["answer_fn"]) == set(files_uploaded("answer_fn"))


def test_other_contents_get_another_name() -> None:
    name = resources()["google_storage_bucket_object.source"]["name"]

    assert "output_sha256" in name
