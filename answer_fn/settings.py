"""What `answer_fn` is told by its environment. Gemini is set up by the SDK's own variables."""

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
        description="Languages of apologies, the same as of questions; the first is for whoever speaks none",
    )
    human_contact: str | None = Field(
        default=None, min_length=1, max_length=300, description="Whom to ask, in Markdown: an e-mail, a link"
    )
    step_seconds: StepSeconds = Field(default_factory=lambda: step("answer").seconds.step)
