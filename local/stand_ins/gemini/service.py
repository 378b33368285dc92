"""The Gemini API's `generateContent` over HTTP, answered by rule instead of by a model."""

import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.stand_ins.faults import Faults
from local.stand_ins.gemini.extract import Answer, extracted
from local.stand_ins.gemini.prompt import Ask, read_ask
from local.stand_ins.gemini.rewrite import rewritten
from local.stand_ins.gemini.wire import Refusal, Request, check_caller, check_deadline, read_request
from local.stand_ins.http_gate import gated, google_error
from local.stand_ins.rag.index import Index
from shared.language.pointing import pointed_out

HONEST = (
    "This is threadwise's local model. It rewrites follow-up questions by rule and answers by quoting the "
    "knowledge base; it has nothing to say to any other request."
)
#: The fields of the one schema that is served.
ANSWER_FIELDS = {"status", "answer", "sources", "missing", "ask_back"}
#: How many tokens a long answer has: several of Chat's messages, and no more than the bot lets a model say.
LONG_TOKENS = 3_500
#: What is said where no JSON is wanted.
NOT_ANSWERED = {
    "en": "The knowledge base does not answer this question.",
    "ja": "ナレッジベースには、この質問への回答がありません。",
}


@dataclass(frozen=True)
class _Said:
    """The text of the candidate (None: a candidate without parts) and why it ended."""

    text: str | None
    finish_reason: str = "STOP"


class Gemini:
    """Answers `generateContent` from an index of articles."""

    def __init__(self, index: Index, faults: Faults) -> None:
        self._index = index
        self._faults = faults

    def routes(self) -> list[Route]:
        """The method under both API versions, behind the faults of "gemini"; every other path is a 404."""
        endpoint = gated("gemini", self._faults, self._generate)
        paths = [f"/{version}/models/{{model}}:generateContent" for version in ("v1beta", "v1")]
        return [Route(path, endpoint, methods=["POST"]) for path in paths]

    async def _generate(self, http: HttpRequest) -> Response:
        model = http.path_params["model"]
        try:
            check_caller(model, http.headers.get("x-goog-api-key") or http.query_params.get("key"))
            check_deadline(http.headers.get("x-server-timeout"))
            request = read_request(await http.body())
            text = self._text(request)
        except Refusal as refusal:
            return google_error(refusal.http_status, refusal.status, str(refusal))
        prompt_tokens = _tokens("".join(content.text for content in request.contents))
        if self._faults.drawn("gemini-blocked"):
            usage = _usage(prompt_tokens, 0)
            blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage}
            return JSONResponse({**blocked, "modelVersion": model})
        said = self._spoilt(_cut_to(text, request.generation_config.max_output_tokens))
        usage = _usage(prompt_tokens, _tokens(said.text or ""))
        return JSONResponse({"candidates": [_candidate(said)], "usageMetadata": usage, "modelVersion": model})

    def _text(self, request: Request) -> str:
        """What the model says. Raises Refusal (501) for a schema that this model cannot fill."""
        config = request.generation_config
        ask = read_ask(request.contents[-1].text)
        answers = ask is not None and ask.sources is not None
        if config.response_mime_type == "application/json" and not (answers and _fits(config.schema_wanted)):
            fields = ", ".join(sorted(ANSWER_FIELDS))
            raise Refusal(
                501, "UNIMPLEMENTED", f"The local model writes JSON for answers only, with {fields}"
            )
        if ask is None:
            return HONEST
        said = [turn.text for turn in ask.history if turn.role == "assistant"]
        ask = ask.model_copy(update={"question": pointed_out(ask.question, said)})
        if not answers:
            return rewritten(ask, self._index)
        return self._answer(ask, as_json=config.response_mime_type == "application/json")

    def _answer(self, ask: Ask, *, as_json: bool) -> str:
        answer = extracted(ask, self._index)
        if not as_json:
            return answer.text or answer.ask_back or NOT_ANSWERED.get(ask.language, NOT_ANSWERED["en"])
        fields = {
            "status": _status(answer),
            "answer": self._long(answer.text),
            "sources": answer.sources,
            "missing": "",
            "ask_back": answer.ask_back,
        }
        return json.dumps(fields, ensure_ascii=False)

    def _long(self, text: str) -> str:
        """An answer. If that fault is on, it is repeated until it needs several messages."""
        if not text or not self._faults.drawn("gemini-long"):
            return text
        times = max(1, LONG_TOKENS // _tokens(text))
        return "\n\n".join(f"{number}. {text}" for number in range(1, times + 1))

    def _spoilt(self, said: _Said) -> _Said:
        """The response after the faults that are on have changed it."""
        if self._faults.drawn("gemini-empty"):
            return _Said(None)
        if self._faults.drawn("gemini-cut-off"):
            text = said.text or ""
            return _Said(text[: len(text) // 2], "MAX_TOKENS")
        if self._faults.drawn("gemini-invalid"):
            return _Said('{"answer": ["not a string"], "sources": "one"')
        return said


def _status(answer: Answer) -> str:
    if answer.answered:
        return "answered"
    return "needs_clarification" if answer.ask_back else "not_in_knowledge_base"


def _fits(schema: Any) -> bool:
    """Whether an object of `ANSWER_FIELDS` can follow the schema; without a schema, any object can."""
    return not schema or set(schema.get("properties", {})) == ANSWER_FIELDS


def _candidate(said: _Said) -> dict[str, Any]:
    content: dict[str, Any] = {"role": "model"}
    if said.text is not None:
        content["parts"] = [{"text": said.text}]
    return {"content": content, "finishReason": said.finish_reason, "index": 0}


def _usage(prompt: int, answer: int) -> dict[str, int]:
    return {"promptTokenCount": prompt, "candidatesTokenCount": answer, "totalTokenCount": prompt + answer}


def _tokens(text: str) -> int:
    """About how many tokens a text has: four ASCII characters, or one Japanese one, make a token."""
    ascii_characters = sum(character.isascii() for character in text)
    return -(-ascii_characters // 4) + len(text) - ascii_characters


def _cut_to(text: str, most_tokens: int) -> _Said:
    if _tokens(text) <= most_tokens:
        return _Said(text)
    while text and _tokens(text) > most_tokens:
        text = text[:-1]
    return _Said(text, "MAX_TOKENS")
