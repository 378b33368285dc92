"""The settings of `answer_fn`, from environment variables. The SDK's own variables configure Gemini."""

from pydantic import Field

from shared.language.catalogue import Languages, languages
from shared.pipeline import step
from shared.runtime.settings import CommonSettings, StepSeconds


class Settings(CommonSettings):
    """Which model answers, and in which languages."""

    answer_model: str = Field(
        default="gemini-3.5-flash", min_length=1, description="Model that answers questions"
    )
    languages: Languages = Field(
        default_factory=languages,
        description="Languages of apologies, the same as those of questions; the first is the default",
    )
    human_contact: str | None = Field(
        default=None, min_length=1, max_length=300, description="Whom to ask, in Markdown: an e-mail, a link"
    )
    step_seconds: StepSeconds = Field(default_factory=lambda: step("answer").seconds.step)
