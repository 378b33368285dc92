"""The configuration in `terraform/`, read without a cloud, and evaluated where Terraform is installed."""

import functools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import hcl2
import pytest

from shared.pipeline import pipeline
from tests import ROOT

FOLDER = ROOT / "terraform"
#: They refer to variables and to the project's number alone, so no provider is needed to evaluate them.
PROVIDERLESS = ("variables.tf", "pipeline.tf")
PROJECT, PROJECT_NUMBER = "my-project-123", "400000000001"
CORPUS = f"projects/{PROJECT}/locations/europe-west4/ragCorpora/42"
#: Who, which role, on what.
Grant = tuple[str, str, str]

needs_terraform = pytest.mark.skipif(
    shutil.which("terraform") is None, reason="terraform is not installed here"
)


@functools.cache
def parsed(name: str) -> Any:
    """A file below `terraform/`: blocks as nested dicts of lists, expressions as `${…}`."""
    with (FOLDER / name).open() as file:
        return _plain(hcl2.load(file))


def own_settings(step: str) -> Any:
    """The settings that are one function's own. What depends on a variable is an expression."""
    return local("own_settings").get(step, {})


def local(name: str) -> Any:
    """A local value of `pipeline.tf`."""
    return parsed("pipeline.tf")["locals"][0][name]


def defaults() -> dict[str, Any]:
    """The variables' defaults; a variable without one must be given."""
    variables = {name: block for part in parsed("variables.tf")["variable"] for name, block in part.items()}
    return {name: block["default"] for name, block in variables.items() if "default" in block}


def configuration_files() -> list[str]:
    """Every file of the configuration, relative to its folder; not the tests of it."""
    return [str(path.relative_to(FOLDER)) for path in sorted(FOLDER.rglob("*.tf"))]


def resources() -> dict[str, dict[str, Any]]:
    """Every resource by its address; those of the module begin with `module.step.`."""
    found = {}
    for name in configuration_files():
        prefix = "module.step." if name.startswith("modules/step/") else ""
        for part in parsed(name).get("resource", []):
            for kind, named in part.items():
                found.update({f"{prefix}{kind}.{label}": block for label, block in named.items()})
    return found


def variables_given(step: str) -> set[str]:
    """The environment variables that a function can be given, from the text of the expressions."""
    row, own = pipeline().step(step), own_settings(step)
    given = set(own) if isinstance(own, dict) else set(_keys(own))
    for name in ("human_contact", "spoken"):
        if f"local.{name}" in str(own):
            given.update(_keys(local(name)))
    for key in _keys(local("environments")):
        asks_gemini = key.startswith("GOOGLE_GENAI") or key == "GOOGLE_CLOUD_LOCATION"
        if (key == "PUBLISHES_TO" and row.gives is None) or (asks_gemini and "gemini" not in row.calls):
            continue
        given.add(key)
    return given


def evaluated(name: str, *, root: Path = ROOT, **variables: Any) -> Any:
    """A local value of `pipeline.tf`, evaluated by Terraform itself; the functions' sources are in `root`."""
    given = {"project_id": PROJECT, **variables}
    with tempfile.TemporaryDirectory() as folder:
        # With the sources beside it, because the lists of files are relative to the configuration.
        configuration = Path(folder, "terraform")
        configuration.mkdir()
        for file in PROVIDERLESS:
            shutil.copy(FOLDER / file, configuration)
        for source in (*sorted(root.glob("*_fn")), root / "shared"):
            Path(folder, source.name).symlink_to(source)
        Path(configuration, "number.tf").write_text(f'locals {{ project_number = "{PROJECT_NUMBER}" }}')
        Path(configuration, "given.auto.tfvars.json").write_text(json.dumps(given))
        ran = subprocess.run(
            ["terraform", "console"], input=f"jsonencode(local.{name})\n", cwd=configuration,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(json.loads(ran.stdout))


def files_uploaded(function: str) -> dict[str, Path]:
    """What Terraform packs for a function, name in the zip → file, from the pattern in `pipeline.tf`."""
    pattern: str = local("packaged")
    found = re.fullmatch(r"\*\*/\*\.\{([a-z]+(?:,[a-z]+)*)\}", pattern)
    assert found, f"another kind of pattern: {pattern}"
    endings = {f".{ending}" for ending in found[1].split(",")}
    files = {name: ROOT / function / name for name in ("main.py", "requirements.txt")}
    for package in (function, "shared"):
        for path in sorted((ROOT / package).rglob("*")):
            inside = path.relative_to(ROOT)
            hidden = any(part.startswith(".") for part in inside.parts)
            if path.suffix in endings and not hidden and inside != Path(function, "main.py"):
                files[inside.as_posix()] = path
    return files


def documented() -> tuple[set[Grant], set[Grant]]:
    """The tables of docs/security.md: what is granted over HTTP, and what the Pub/Sub connection adds."""
    page = (ROOT / "docs/security.md").read_text()
    main, added = page.split('With `chat_connection = "pubsub"`')
    return _rows(main), _rows(added.split("## ")[0])


def _rows(text: str) -> set[Grant]:
    rows = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    return {(who.replace("`", ""), role, on.replace("`", "")) for who, role, on in rows}


def _keys(expression: str) -> list[str]:
    return re.findall(r"\b([A-Z][A-Z0-9_]+)\s*=(?!=)", expression)


def _plain(value: Any) -> Any:
    """Without the parser's marks: quotes around strings and names, comments, and what is a block."""
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items() if not str(key).startswith("__")}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value
