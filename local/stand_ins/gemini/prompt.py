"""The data in the product's prompts: one `<data>` block of JSON in the last content of the user."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_DATA = re.compile(r"<data>\s*(\{.*\})\s*</data>", re.DOTALL)


class Turn(BaseModel):
    """One turn of the conversation. A user's turn is pending if no assistant's turn follows it."""

    role: Literal["user", "assistant", "quoted"]
    text: str


class Source(BaseModel):
    """A piece of the knowledge base that the answer may cite by its number."""

    model_config = ConfigDict(frozen=True)

    number: int
    title: str
    text: str


class Ask(BaseModel):
    """A question in its conversation. Without `sources` it needs a search query, with them an answer."""

    history: list[Turn] = Field(default_factory=list)
    question: str
    language: str
    sources: list[Source] | None = None


def read_ask(prompt: str) -> Ask | None:
    """The question in a prompt. None if the prompt has no such block, several blocks, or a malformed one."""
    blocks = _DATA.findall(prompt)
    if len(blocks) != 1:
        return None
    try:
        return Ask.model_validate_json(blocks[0])
    except ValidationError:
        return None
