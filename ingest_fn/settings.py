"""What `ingest_fn` is told by its environment."""

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
#: A whole address of a service account; a part of one would let others in.
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
    """Where questions go, who may speak to us, and what is asked too much."""

    publishes_to: str = Field(
        default_factory=lambda: pipeline().after("ingest").takes,
        pattern=TOPIC,
        description="Topic of the next step",
    )
    chat_audience: Audiences = Field(
        description="Authentication audience of the Chat app, as its settings have it: the endpoint's URL, "
        "to the letter, or the project's number; with a comma between several"
    )
    chat_email: ServiceAccounts = Field(
        default=(CHAT,),
        description="Identity that Chat calls the URL with: chat@system.gserviceaccount.com, or for an "
        "add-on the service account of its settings; empty where Chat publishes to a topic",
    )
    push_email: ServiceAccount | None = Field(
        default=None,
        validate_default=True,
        description="Identity that pushes the topic of Chat's events (and what operators replay to it); "
        "unset: no push is taken",
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
        "them; empty: whoever Chat lets in",
    )
    allowed_spaces: Spaces = Field(
        default=(),
        description="Spaces the bot may be used in: spaces/AAAA, or all of a kind: SPACE, GROUP_CHAT, "
        "DIRECT_MESSAGE; empty: everywhere",
    )
    commands: dict[str, Literal["ask", "forget", "help"]] = Field(
        default=COMMANDS,
        description="What the ids of the Chat app's commands mean, as JSON",
        validate_default=True,
    )
    languages: Languages = Field(
        default_factory=languages,
        description="Languages the bot speaks, commas between them; the first is for whoever speaks none",
    )
    longest_question: int = Field(default=2000, ge=1, le=32_000, description="Characters of a question")
    questions_per_minute: int = Field(default=10, ge=1, description="Questions of one person a minute")
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
            raise ValueError("CHAT_EMAIL is empty, and so is this: nobody may call")
        return email

    @field_validator("push_audience")
    @classmethod
    def _audience_of_pushes(cls, audience: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("push_email") and not audience and not _url(info.data.get("chat_audience", ())):
            raise ValueError("PUSH_EMAIL is set, and there is no URL in CHAT_AUDIENCE to go with it")
        return audience

    @property
    def url(self) -> str | None:
        """The URL that Chat calls this function by, if it was told."""
        return _url(self.chat_audience)

    @property
    def trusted(self) -> tuple[Trusted, ...]:
        """Who may speak to us."""
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
