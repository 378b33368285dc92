"""What `retrieve_fn` is told by its environment."""

from typing import Annotated

from pydantic import Field, Json, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from retrieve_fn.queries import SearchKind
from shared.messages.names import OF_SPACES
from shared.pipeline import step
from shared.runtime.settings import TOPIC, CommonSettings, LoopbackEndpoint, StepSeconds

_CORPUS = r"^projects/[\w.:-]+/locations/[\w-]+/ragCorpora/[\w-]+$"
_LINK = r"^https?://"
_SPACE = rf"^{OF_SPACES}$"
# The names of the ranking API: https://cloud.google.com/generative-ai-app-builder/docs/ranking
_RANKER = r"^semantic-ranker-[\w.-]+@[\w.-]+$"

Link = Annotated[str, Field(pattern=_LINK)]
Space = Annotated[str, Field(pattern=_SPACE)]
CorpusName = Annotated[str, Field(pattern=_CORPUS)]


class Settings(CommonSettings):
    """Where findings go, and what is searched."""

    publishes_to: str | None = Field(
        default_factory=lambda: step("retrieve").gives, pattern=TOPIC, description="Topic of the next step"
    )
    rag_corpus: str = Field(pattern=_CORPUS, description="projects/P/locations/L/ragCorpora/C")
    space_corpora: Annotated[Json[dict[Space, CorpusName]], NoDecode] = Field(
        default_factory=dict,
        validate_default=False,
        description="JSON object: space → the corpus that is searched there in place of RAG_CORPUS; all are "
        "of its project and location",
    )
    rag_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for RAG Engine")
    rag_top_k: int = Field(default=6, ge=1, le=50, description="How many passages are fetched")
    rag_distance_threshold: float | None = Field(
        default=None, gt=0, description="Passages farther away than this are left out"
    )
    rag_ranker: str | None = Field(
        default=None,
        pattern=_RANKER,
        description="Model of Google's ranking service, which puts passages in order",
    )
    search_kind: SearchKind = Field(
        default="dense",
        description="What the corpus is searched by: dense (embeddings), lexical (words), hybrid",
    )
    search_fusion: bool = Field(
        default=False, description="Search for a follow-up in two ways and fuse what they find"
    )
    context_tokens: int = Field(
        default=8000, ge=500, le=200_000, description="Most tokens of passages that an answer is made from"
    )
    source_links: Annotated[Json[dict[str, Link]], NoDecode] = Field(
        default_factory=dict,
        validate_default=False,
        description='JSON object: prefix of a source\'s URI → prefix of its link, {"gs://kb/": "https://…/"}',
    )
    step_seconds: StepSeconds = Field(default_factory=lambda: step("retrieve").seconds.step)

    @field_validator("space_corpora")
    @classmethod
    def _of_one_place(cls, corpora: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        place = str(info.data.get("rag_corpus", "")).rpartition("/ragCorpora/")[0]
        if place and any(name.rpartition("/ragCorpora/")[0] != place for name in corpora.values()):
            raise ValueError(f"every corpus must be in {place}, as RAG_CORPUS is")
        return corpora

    @property
    def rag_location(self) -> str:
        """The corpus's own region."""
        return self.rag_corpus.split("/")[3]
