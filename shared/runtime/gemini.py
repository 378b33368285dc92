"""One call of Gemini, and the meaning of its response.

The SDK raises nothing for a blocked prompt, a cut-off answer or an empty answer. So the response is checked
in this order: prompt feedback, finish reason, text, and then the caller's `parse`, which raises ValueError
for text that it cannot use. Reason codes: gemini_blocked, gemini_cut_off, gemini_empty, gemini_invalid.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

from google.genai import types

from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from shared.runtime.retry import MOST_UNUSABLE, Policy, call

T = TypeVar("T")

_BLOCKED = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"}
#: The API refuses a shorter server-side deadline. The SDK would derive one from the timeout.
LEAST_SERVER_SECONDS = 10


class _Unusable(Transient):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail, retry_after=0)  # the service is not overloaded, so do not wait


def generate(
    client: Any,
    *,
    model: str,
    prompt: str,
    config: types.GenerateContentConfig,
    parse: Callable[[str], T],
    policy: Policy,
    deadline: Deadline,
) -> T:
    """Ask the model and return `parse(text)`.

    Raises Permanent if the prompt or the answer was blocked, or if the last attempt gave an unusable answer.
    Raises Transient if Gemini could not be reached in time.
    """

    unusable = 0

    def ask(seconds: float) -> T:
        nonlocal unusable
        # The SDK counts in milliseconds; its own retries stay off as long as retry_options is not set.
        server = {"X-Server-Timeout": str(max(LEAST_SERVER_SECONDS, math.ceil(seconds)))}
        options = types.HttpOptions(timeout=max(1, int(seconds * 1000)), headers=server)
        response = client.models.generate_content(
            model=model, contents=prompt, config=config.model_copy(update={"http_options": options})
        )
        _log_usage(model, response.usage_metadata)
        try:
            return _parsed(_text(response), parse)
        except _Unusable as trouble:
            unusable += 1
            if unusable < MOST_UNUSABLE:
                raise
            raise Permanent(trouble.reason, f"{unusable} times in a row") from None

    return call(ask, policy, deadline)


def _log_usage(model: str, usage: types.GenerateContentResponseUsageMetadata | None) -> None:
    """Log the tokens, because unusable answers cost money, too. Thoughts cost as much as the answer."""
    if usage is None:
        return
    logs.info(
        "Model asked",
        model=model,
        input_tokens=usage.prompt_token_count or 0,
        output_tokens=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
    )


def _parsed(text: str, parse: Callable[[str], T]) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise _Unusable("gemini_invalid", type(error).__name__) from None


def _text(response: types.GenerateContentResponse) -> str:
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        raise Permanent("gemini_blocked", f"prompt: {feedback.block_reason.name}")
    candidate = response.candidates[0] if response.candidates else None
    reason = candidate.finish_reason.name if candidate and candidate.finish_reason else "none"
    if reason in _BLOCKED:
        raise Permanent("gemini_blocked", f"answer: {reason}")
    if reason == "MAX_TOKENS":
        raise _Unusable("gemini_cut_off", "the answer is longer than max_output_tokens")
    parts = candidate.content.parts if candidate and candidate.content else None
    text = "".join(part.text for part in parts or [] if part.text and not part.thought)
    if not text.strip():
        raise _Unusable("gemini_empty", f"finish reason {reason}")
    return text
