"""Model responses written to a file, and read from it again instead of asking.

One JSON line a response: a hash of the model, its instructions and the prompt, and the whole response, so
that what is scored again goes through the same code. A changed prompt is a new question: record again.
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
        self._file.flush()  # what was paid for is kept when a later call fails
        return response


class Replay:
    """A client that answers from such a file; of several responses to one prompt, with the last.

    Raises Permanent (`not_recorded`) for a prompt that is not in it.
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
    """What tells one call from another; time-outs do not."""
    asked = [model, str(config.system_instruction), contents]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
