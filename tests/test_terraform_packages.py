"""The zips that Terraform uploads are those of `make package`, which test_package.py installs and serves."""

from pathlib import Path

import pytest

from tests.terraform_config import ROOT, evaluated, files_uploaded, needs_terraform, resources
from tools import package


@pytest.mark.parametrize("function", package.FUNCTIONS)
def test_terraform_uploads_what_is_packaged(function: str) -> None:
    assert files_uploaded(function) == dict(package.contents(function))


@pytest.mark.parametrize("function", package.FUNCTIONS)
def test_every_file_is_text_because_terraform_reads_it_as_such(function: str) -> None:
    for path in files_uploaded(function).values():
        path.read_text(encoding="utf-8")


@needs_terraform
@pytest.mark.slow
def test_terraform_s_own_list_is_the_one_that_is_tested() -> None:
    listed = evaluated("sources")

    assert set(listed) == set(package.FUNCTIONS)
    for function, files in listed.items():
        assert {name: ROOT / path for name, path in files.items()} == files_uploaded(function)


@needs_terraform
@pytest.mark.slow
def test_caches_and_hidden_files_stay_out(tmp_path: Path) -> None:
    stray = [ROOT / "shared/texts/.notes.toml", ROOT / "shared/.notes.py"]
    for path in stray:
        path.write_text("")
    try:
        names = set(evaluated("sources")["answer_fn"])
    finally:
        for path in stray:
            path.unlink()
    assert not [name for name in names if "/." in name or "pycache" in name]


def test_other_contents_get_another_name() -> None:
    name = resources()["google_storage_bucket_object.source"]["name"]

    assert "output_sha256" in name
