"""What the product's prompts carry: one `<data>` block of JSON in the last content of the user."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_DATA = re.compile(r"<data>\s*(\{.*\})\s*</data>", re.DOTALL)


class Turn(BaseModel):
    """One turn of the conversation; a user's turn that no assistant's turn follows is still pending."""

    role: Literal["user", "assistant"]
    text: str


class Source(BaseModel):
    """A piece of the knowledge base that the answer may cite by its number."""

    model_config = ConfigDict(frozen=True)

    number: int
    title: str
    text: str


class Ask(BaseModel):
    """A question in its conversation. Without `sources` the search query is wanted, with them the answer."""

    history: list[Turn] = Field(default_factory=list)
    question: str
    language: str
    sources: list[Source] | None = None


def read_ask(prompt: str) -> Ask | None:
    """The question in a prompt; None when the prompt has no such block, more than one, or a malformed one."""
    blocks = _DATA.findall(prompt)
    if len(blocks) != 1:
        return None
    try:
        return Ask.model_validate_json(blocks[0])
    except ValidationError:
        return None
