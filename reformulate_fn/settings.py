"""The settings of `reformulate_fn`, from environment variables. The SDK's own variables configure Gemini."""

from pydantic import Field

from shared.pipeline import step
from shared.runtime.settings import TOPIC, CommonSettings, StepSeconds


class Settings(CommonSettings):
    """Where queries go, and which model rewrites."""

    publishes_to: str | None = Field(
        default_factory=lambda: step("reformulate").gives, pattern=TOPIC, description="Topic of the next step"
    )
    rewrite_model: str = Field(
        default="gemini-3.5-flash-lite", min_length=1, description="Model that rewrites questions"
    )
    utc_offset_hours: float = Field(
        default=0,
        ge=-12,
        le=14,
        description="Hours that the askers' local time is ahead of UTC; decides what 'today' means",
    )
    step_seconds: StepSeconds = Field(default_factory=lambda: step("reformulate").seconds.step)
