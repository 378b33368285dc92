"""The settings of `ingest_fn`, from environment variables."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from ingest_fn.auth import CHAT, Trusted
from shared.chat.events import COMMANDS
from shared.language.catalogue import Languages, languages
from shared.messages.names import OF_SPACES
from shared.pipeline import pipeline, step
from shared.runtime.settings import LOOPBACK, TOPIC, CommonSettings, listed

GOOGLE_CERTS = "https://www.googleapis.com/oauth2/v1/certs"
CHAT_CERTS = f"https://www.googleapis.com/service_accounts/v1/metadata/x509/{CHAT}"
#: The complete address of a service account. A partial match would accept other accounts.
SERVICE_ACCOUNT = r"^[a-z0-9-]+@[a-z0-9.-]+\.gserviceaccount\.com$"
SPACE = rf"^({OF_SPACES}|SPACE|GROUP_CHAT|DIRECT_MESSAGE)$"
DOMAIN = r"^[A-Za-z0-9.-]+$"


def _google_or_loopback(url: str) -> str:
    parts = urlsplit(url)
    loopback = parts.scheme == "http" and parts.hostname in LOOPBACK
    if url not in {GOOGLE_CERTS, CHAT_CERTS} and not loopback:
        raise ValueError("must be Google's certificates, or a stand-in on this machine")
    return url


def _url_or_number(audience: str) -> str:
    parts = urlsplit(audience)
    loopback = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not _is_number(audience) and not loopback and not (parts.scheme == "https" and parts.hostname):
        raise ValueError("must be the https:// URL of the endpoint, or the project's number")
    return audience


Audience = Annotated[str, AfterValidator(_url_or_number)]
Audiences = Annotated[tuple[Audience, ...], NoDecode, BeforeValidator(listed), Field(min_length=1)]
ServiceAccount = Annotated[str, Field(pattern=SERVICE_ACCOUNT)]
ServiceAccounts = Annotated[tuple[ServiceAccount, ...], NoDecode, BeforeValidator(listed)]
Domains = Annotated[tuple[Annotated[str, Field(pattern=DOMAIN)], ...], NoDecode, BeforeValidator(listed)]
Spaces = Annotated[tuple[Annotated[str, Field(pattern=SPACE)], ...], NoDecode, BeforeValidator(listed)]
CertsUrl = Annotated[str, AfterValidator(_google_or_loopback)]


class Settings(CommonSettings):
    """Where questions go, who may call, and the limits."""

    publishes_to: str = Field(
        default_factory=lambda: pipeline().after("ingest").takes,
        pattern=TOPIC,
        description="Topic of the next step",
    )
    chat_audience: Audiences = Field(
        description="Authentication audience in the Chat app's settings: exactly the endpoint's URL, or the "
        "project's number; separate several with commas"
    )
    chat_email: ServiceAccounts = Field(
        default=(CHAT,),
        description="Service account in Chat's token: chat@system.gserviceaccount.com, or for an add-on the "
        "service account in its settings; empty if Chat publishes to a topic",
    )
    push_email: ServiceAccount | None = Field(
        default=None,
        validate_default=True,
        description="Service account that pushes the topic of Chat's events and operators' replays; "
        "unset: pushes are refused",
    )
    push_audience: str | None = Field(
        default=None,
        min_length=1,
        validate_default=True,
        description="Audience of those pushes; unset: the URL in CHAT_AUDIENCE",
    )
    chat_certs_url: CertsUrl = Field(default=GOOGLE_CERTS, description="Certificates of Google's tokens")
    chat_own_certs_url: CertsUrl = Field(
        default=CHAT_CERTS, description="Certificates of the tokens that Chat signs itself"
    )
    allowed_domains: Domains = Field(
        default=(),
        description="Domains of the people who may use the bot, such as example.com, or Google's ids of "
        "them; empty: everyone whom Chat allows",
    )
    allowed_spaces: Spaces = Field(
        default=(),
        description="Spaces where the bot may be used: spaces/AAAA, or a kind of space: SPACE, GROUP_CHAT, "
        "DIRECT_MESSAGE; empty: everywhere",
    )
    commands: dict[str, Literal["ask", "forget", "help"]] = Field(
        default=COMMANDS,
        description="JSON object: id of a Chat app's command → its meaning",
        validate_default=True,
    )
    languages: Languages = Field(
        default_factory=languages,
        description="Languages that the bot speaks, separated by commas; the first is the default",
    )
    longest_question: int = Field(default=2000, ge=1, le=32_000, description="Most characters of a question")
    questions_per_minute: int = Field(default=10, ge=1, description="Most questions of one person a minute")
    step_seconds: float = Field(
        default_factory=lambda: step("ingest").seconds.step,
        gt=10,
        lt=30,
        description="Chat waits 30 s for an answer",
    )

    @field_validator("push_email")
    @classmethod
    def _somebody_may_call(cls, email: str | None, info: ValidationInfo) -> str | None:
        by_number = any(map(_is_number, info.data.get("chat_audience", ())))
        if "chat_email" in info.data and not (email or info.data["chat_email"] or by_number):
            raise ValueError("CHAT_EMAIL and this are both empty: nobody may call")
        return email

    @field_validator("push_audience")
    @classmethod
    def _audience_of_pushes(cls, audience: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("push_email") and not audience and not _url(info.data.get("chat_audience", ())):
            raise ValueError("PUSH_EMAIL is set, but CHAT_AUDIENCE has no URL for its audience")
        return audience

    @property
    def url(self) -> str | None:
        """The URL of this function that Chat calls; None if CHAT_AUDIENCE has no URL."""
        return _url(self.chat_audience)

    @property
    def trusted(self) -> tuple[Trusted, ...]:
        """The callers that are accepted."""
        numbers = [Trusted("chat", each, None) for each in self.chat_audience if _is_number(each)]
        urls = [each for each in self.chat_audience if not _is_number(each)]
        callers = [Trusted("chat", url, email) for url in urls for email in self.chat_email]
        audience = self.push_audience or self.url
        pushes = [Trusted("pubsub", audience, self.push_email)] if audience and self.push_email else []
        return (*numbers, *callers, *pushes)


def _is_number(audience: str) -> bool:
    return audience.isascii() and audience.isdecimal()


def _url(audiences: tuple[str, ...]) -> str | None:
    return next((each for each in audiences if not _is_number(each)), None)
