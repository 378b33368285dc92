"""What the rewriting model is asked."""

from google.genai import types

from shared.envelope import Envelope
from shared.prompt import NOTICE, data_block, question_data

SYSTEM = f"""\
You rewrite the last question of a conversation so that it can be understood without the conversation.
It will be used to search a company's knowledge base.

- Answer with the rewritten question only: one sentence on one line, no quotes, no label, no explanation.
- Keep the language of the question. Keep names, numbers and product words exactly as they are written.
- Replace pronouns and what is left out by what they stand for in the conversation.
- If the question can be understood alone, or starts a new topic, repeat it unchanged.
- Repeat greetings and thanks unchanged. Never answer the question.

{NOTICE}"""

#: Tokens: a question is one sentence; more than this is no rewrite.
MOST_TOKENS = 256


def prompt(envelope: Envelope) -> str:
    """The history and the question, as data."""
    return data_block(**question_data(envelope))


def config() -> types.GenerateContentConfig:
    """Minimal thinking: the rewrite is on the way of every follow-up, and is short."""
    return types.GenerateContentConfig(
        system_instruction=SYSTEM,
        max_output_tokens=MOST_TOKENS,
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.MINIMAL),
    )
