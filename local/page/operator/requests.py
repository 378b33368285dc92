"""Checks the requests of the operator view."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from starlette.requests import Request

from local.stand_ins.chat.directory import PEOPLE
from local.stand_ins.http_gate import invalid


class ReplayRequest(BaseModel):
    """Which dead letters to replay, and how. Exactly one of `ids` (case ids), `group` and `every` is given.

    `limit` takes only that many, oldest first. `rate` is messages per second. `even_stale` includes questions
    that are too old to be replayed otherwise. `person` is who asks for the replay.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    ids: list[str] = Field([], max_length=1000)
    group: str | None = Field(None, min_length=1)
    every: bool = False
    limit: int | None = Field(None, ge=1)
    rate: float = Field(10.0, ge=0.5, le=100)
    even_stale: bool = False
    dry_run: bool = False
    person: str

    @field_validator("person")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in PEOPLE:
            raise ValueError("there is no such person")
        return name

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> Self:
        if [bool(self.ids), self.group is not None, self.every].count(True) != 1:
            raise ValueError("give exactly one of ids, group and every")
        return self

    @property
    def by(self) -> str:
        """The person's name, for the audit."""
        return PEOPLE[self.person].display_name


async def replay_request(request: Request) -> ReplayRequest:
    """The replay that a request asks for. Raises RestError 400 if it is not valid."""
    try:
        return ReplayRequest.model_validate_json(await request.body())
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))} {fault['msg']}".strip() for fault in error.errors())
        raise invalid("; ".join(faults)) from error


def whole_number(request: Request, name: str, default: int) -> int:
    """A number from 1 to 100,000 in the query string. Raises RestError 400 for anything else."""
    text = request.query_params.get(name, str(default))
    if not text.isdecimal() or not 0 < int(text) <= 100_000:
        raise invalid(f"{name} must be a whole number from 1 to 100,000.")
    return int(text)
