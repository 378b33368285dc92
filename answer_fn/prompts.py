"""What the answering model is asked, and the shape of its answer."""

from typing import Annotated

from google.genai import types
from pydantic import BaseModel, Field

from shared.envelope import Envelope
from shared.prompt import NOTICE, data_block, question_data

SYSTEM = f"""\
You are a helpful colleague who answers questions in a company's chat, only from the given sources.

- Answer the question itself, in the language of the question. The history tells what it refers to;
  do not repeat what was said before.
- Use only what the sources say. Put the number of its source in square brackets after each statement: [1].
- Keep steps as a numbered list and options as a bulleted list. Use Markdown, without headings and tables.
- If the sources do not answer the question, set "answered" to false and say in one sentence what is missing.
- Follow the sources over earlier answers in the history when they differ.
- Give no links except those in the sources, and do not mention people.

{NOTICE}"""

#: Tokens, thinking included: about a page of text, and room to think.
MOST_TOKENS = 4096


class RagAnswer(BaseModel):
    """The model's structured answer."""

    answer: str = Field(description="The answer in Markdown, with source numbers in square brackets")
    sources: list[Annotated[int, Field(ge=0)]] = Field(description="Numbers of the sources that were used")
    answered: bool = Field(description="Whether the sources answer the question")


def prompt(envelope: Envelope) -> str:
    """The history, the person's own words, and the numbered sources, as data."""
    sources = [
        {"number": number, "title": context.title, "text": context.text}
        for number, context in enumerate(envelope.contexts or (), start=1)
    ]
    return data_block(**question_data(envelope), sources=sources)


def config() -> types.GenerateContentConfig:
    """Structured output by schema."""
    return types.GenerateContentConfig(
        system_instruction=SYSTEM,
        max_output_tokens=MOST_TOKENS,
        response_mime_type="application/json",
        response_schema=RagAnswer,
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
    )
