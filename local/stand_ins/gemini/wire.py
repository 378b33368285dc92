"""The requests of `generateContent` as the SDK sends them, and the requests that the 3.5 models refuse.

Both spellings of a key are accepted, camelCase and snake_case, and an unknown key is an error.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

#: The models served here: the product's defaults.
MODELS = ("gemini-3.5-flash", "gemini-3.5-flash-lite")


class Refusal(Exception):
    """The request is refused with this HTTP status and the status name of Google's APIs."""

    def __init__(self, http_status: int, status: str, message: str) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.status = status


class _Message(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="forbid"
    )


class Part(_Message):
    """A part of a content; only text is understood here."""

    text: str


class Content(_Message):
    """One turn. A missing role means the user."""

    role: Literal["user", "model"] = "user"
    parts: list[Part] = Field(min_length=1)

    @property
    def text(self) -> str:
        """The text of all parts."""
        return "".join(part.text for part in self.parts)


class Instruction(_Message):
    """The system instruction. Its role is ignored."""

    role: str = ""
    parts: list[Part]


class ThinkingConfig(_Message):
    """How much the model thinks. The 3.5 models take a level; older models took a number of tokens."""

    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = None
    include_thoughts: bool = False


class GenerationConfig(_Message):
    """The fields that the product may send. Temperature, top-p and top-k are read and ignored."""

    response_mime_type: Literal["text/plain", "application/json"] = "text/plain"
    response_schema: dict[str, Any] | None = None
    response_json_schema: Any = None
    max_output_tokens: int = Field(default=65536, ge=1)
    thinking_config: ThinkingConfig = ThinkingConfig()
    candidate_count: Literal[1] = 1
    stop_sequences: list[str] = Field(default_factory=list, max_length=0)
    seed: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0

    @property
    def schema_wanted(self) -> Any:
        """The schema that the answer must follow, if there is one."""
        return self.response_schema or self.response_json_schema


class Request(_Message):
    """The body of `generateContent`."""

    contents: list[Content] = Field(min_length=1)
    system_instruction: Instruction | None = None
    generation_config: GenerationConfig = GenerationConfig()
    safety_settings: list[dict[str, str]] = Field(default_factory=list)
    labels: dict[str, str] = Field(default_factory=dict)


def read_request(body: bytes) -> Request:
    """The request in a body. Raises Refusal (400) if the real models would refuse it, too."""
    try:
        request = Request.model_validate_json(body)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        raise _invalid(f"Invalid JSON payload received. {'; '.join(problems)}") from error
    config = request.generation_config
    if request.contents[-1].role == "model":
        raise _invalid("Requests ending with a model turn are not supported.")
    # A penalty of 0 passes (google-gemini/cookbook issue 1290).
    if config.presence_penalty or config.frequency_penalty:
        raise _invalid("Penalty is not enabled for this model")
    if config.schema_wanted and config.response_mime_type != "application/json":
        raise _invalid("A response schema needs response_mime_type application/json")
    return request


#: Seconds; a server-side deadline below this is refused by the real API.
LEAST_DEADLINE = 10


def check_deadline(seconds: str | None) -> None:
    """Raises Refusal for a server-side deadline below 10 s, which the real API refuses."""
    if seconds is not None and float(seconds) < LEAST_DEADLINE:
        raise Refusal(
            400,
            "INVALID_ARGUMENT",
            f"Manually set deadline {seconds}s is too short. Minimum allowed deadline is {LEAST_DEADLINE}s.",
        )


def check_caller(model: str, key: str | None) -> None:
    """Raises Refusal: 403 without an API key, 404 for a model that is not served."""
    if not key:
        raise Refusal(
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
        )
    if model not in MODELS:
        raise Refusal(
            404,
            "NOT_FOUND",
            f"models/{model} is not found for this API version, or is not supported for generateContent. "
            f"Served here: {', '.join(MODELS)}",
        )


def _invalid(message: str) -> Refusal:
    return Refusal(400, "INVALID_ARGUMENT", message)
