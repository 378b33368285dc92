"""The prompt of the rewriting model."""

from datetime import timedelta

from google.genai import types

from shared.language.untrusted import NOTICE, data_block, question_data
from shared.messages.envelope import Envelope

SYSTEM = f"""\
You rewrite the last question of a conversation so that it can be understood without the conversation.
It will be used to search a company's knowledge base.

- Answer with the rewritten question only: one sentence on one line, no quotes, no label, no explanation.
- Keep the language of the question. Keep names, numbers, codes and product words exactly as they are written.
- Replace pronouns and what is left out by what they stand for in the conversation. Add nothing else of it.
- A "quoted" turn is the message that the turn after it quotes: "this" and "it" may stand for what it says.
- Replace relative dates (yesterday, next Friday, 来週) by the date, counted from "today".
- If the question answers what the assistant has asked ("yes", "the second one"), write out what is now asked.
- If the question can be understood alone, or starts a new topic, repeat it unchanged.
- Repeat greetings and thanks unchanged. Never answer the question.

Examples (what was asked, what was answered, the question -> what you answer):
How do I set up StarGate on Windows? | Install the client. | And on a Mac?
-> How do I set up StarGate on a Mac?
経費精算の締め日はいつですか？ | 毎月25日です。 | 過ぎたらどうなりますか？
-> 経費精算の締め日を過ぎたらどうなりますか？
How do I reset my password? | Of the laptop or of the mailbox? | the second one
-> How do I reset the password of my mailbox?
有給休暇の申請方法は？ | 人事システムで申請します。 | 明日の分は？ ("today" is 2026-04-01)
-> 2026年4月2日の有給休暇の申請方法は？
How do I set up StarGate on Windows? | Install the client. | Where is the canteen?
-> Where is the canteen?
経費精算の締め日はいつですか？ | 毎月25日です。 | ありがとうございます！
-> ありがとうございます！

{NOTICE}"""

#: Most tokens of a rewrite, which is one sentence.
MOST_TOKENS = 256


def prompt(envelope: Envelope, utc_offset: float = 0.0) -> str:
    """The history, the question and the day on which it was asked, as data.

    `utc_offset` is how many hours the askers' local time is ahead of UTC.
    """
    asked = envelope.question.asked_at + timedelta(hours=utc_offset)
    return data_block(today=asked.strftime("%A, %Y-%m-%d"), **question_data(envelope))


def config() -> types.GenerateContentConfig:
    """Minimal thinking, because every follow-up waits for the rewrite, and the rewrite is short."""
    return types.GenerateContentConfig(
        system_instruction=SYSTEM,
        max_output_tokens=MOST_TOKENS,
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.MINIMAL),
    )
