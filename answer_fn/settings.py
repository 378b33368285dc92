"""What `answer_fn` is told by its environment. Gemini is set up by the SDK's own variables."""

from pydantic import Field

from shared.language.catalogue import Languages, languages
from shared.pipeline import step
from shared.runtime.settings import CommonSettings, Hours, LoopbackEndpoint


class Settings(CommonSettings):
    """Which model answers, and for how long a conversation is remembered."""

    history_hours: Hours = Field(default=24, description="How long a conversation is remembered")
    chat_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for Google Chat")
    answer_model: str = Field(
        default="gemini-3.5-flash", min_length=1, description="Model that answers questions"
    )
    languages: Languages = Field(
        default_factory=languages,
        description="Languages of apologies, as ingest_fn has them; the first is for whoever speaks none",
    )
    human_contact: str | None = Field(
        default=None, min_length=1, max_length=300, description="Whom to ask, in Markdown: an e-mail, a link"
    )
    step_seconds: float = Field(
        default_factory=lambda: step("answer").seconds.step,
        ge=20,
        lt=600,
        description="Deadline of the step, in seconds",
    )
