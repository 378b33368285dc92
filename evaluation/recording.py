"""Writes model responses to a file, and reads them from the file instead of asking again.

Each response is one JSON line: a hash of the model, its instructions and the prompt, and the whole response.
So a replay uses the same code as a real response. If a prompt changes, record again.
"""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

from google.genai import types

from shared.runtime.errors import Permanent

NOT_RECORDED = "not_recorded"


class Recorder:
    """A client that passes every call on and appends the response to a file."""

    def __init__(self, client: Any, file: TextIO) -> None:
        self._client = client
        self._file = file
        self.models = SimpleNamespace(generate_content=self._generate)

    def _generate(self, *, model: str, contents: str, config: types.GenerateContentConfig) -> Any:
        response = self._client.models.generate_content(model=model, contents=contents, config=config)
        line = {
            "key": key(model, contents, config),
            "model": model,
            "response": response.model_dump(
                mode="json", exclude_none=True, exclude={"sdk_http_response", "parsed"}
            ),
        }
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()  # keeps paid responses if a later call fails
        return response


class Replay:
    """A client that answers from such a file. If a prompt has several responses, it gives the last one.

    Raises Permanent (`not_recorded`) if the prompt is not in the file.
    """

    def __init__(self, path: Path) -> None:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        self._responses = {line["key"]: line["response"] for line in lines}
        self.models = SimpleNamespace(generate_content=self._generate)

    def _generate(self, *, model: str, contents: str, config: types.GenerateContentConfig) -> Any:
        response = self._responses.get(key(model, contents, config))
        if response is None:
            raise Permanent(NOT_RECORDED, f"no response of {model} to this prompt. Record again.")
        return types.GenerateContentResponse.model_validate(response)


def key(model: str, contents: str, config: types.GenerateContentConfig) -> str:
    """The parts that identify a call. Time-outs are not among them."""
    asked = [model, str(config.system_instruction), contents]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
