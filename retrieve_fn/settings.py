"""The settings of `retrieve_fn`, from environment variables."""

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
    """Where the passages go, and how the corpus is searched."""

    publishes_to: str | None = Field(
        default_factory=lambda: step("retrieve").gives, pattern=TOPIC, description="Topic of the next step"
    )
    rag_corpus: str = Field(pattern=_CORPUS, description="projects/P/locations/L/ragCorpora/C")
    space_corpora: Annotated[Json[dict[Space, CorpusName]], NoDecode] = Field(
        default_factory=dict,
        validate_default=False,
        description="JSON object: space → corpus for its questions, instead of RAG_CORPUS; all corpora have "
        "the same project and location",
    )
    rag_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for RAG Engine")
    rag_top_k: int = Field(default=6, ge=1, le=50, description="Number of passages to fetch")
    rag_distance_threshold: float | None = Field(
        default=None, gt=0, description="Passages with a greater distance are left out"
    )
    rag_ranker: str | None = Field(
        default=None,
        pattern=_RANKER,
        description="Model of Google's ranking service that sorts the passages",
    )
    search_kind: SearchKind = Field(
        default="dense",
        description="Kind of search: dense (embeddings), lexical (words) or hybrid",
    )
    search_fusion: bool = Field(
        default=False, description="Search for a follow-up with two queries, and fuse the results"
    )
    context_tokens: int = Field(
        default=8000, ge=500, le=200_000, description="Most tokens of passages for one answer"
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
            raise ValueError(f"every corpus must be in {place}, like RAG_CORPUS")
        return corpora

    @property
    def rag_location(self) -> str:
        """The region of the corpus."""
        return self.rag_corpus.split("/")[3]
