"""Ratings of answers, for operators. The person's name is not kept. The question is shown on demand."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from ops.options import duration
from shared.memory.feedback import COLLECTION, VERDICTS, Reason, Verdict
from shared.memory.firestore import Fields

#: Seconds for reading all ratings.
WAIT_FOR_ALL = 120.0
#: Fields with text that people wrote, or text derived from it.
TEXTS = ("question", "search_query")
_SHOWN = (
    "reference", "question_id", "space", "thread", "verdict", "reason", "again", "sources", "model",
    "language",
)  # fmt: skip
_TIMES = ("asked_at", "at")


@dataclass(frozen=True)
class Wanted:
    """A rating matches if it meets all given conditions."""

    verdict: str | None = None
    reason: str | None = None
    place: str | None = None
    newer: timedelta | None = None

    def takes(self, rating: Fields, now: datetime) -> bool:
        """Whether a rating is wanted."""
        at = rating.get("at")
        recent = self.newer is None or (isinstance(at, datetime) and now - at <= self.newer)
        return (
            self.verdict in {None, rating.get("verdict")}
            and self.reason in {None, rating.get("reason")}
            and (self.place or "") in f"{rating.get('space')} {rating.get('thread')}"
            and recent
        )


AsVerdict = Annotated[Verdict | None, typer.Option(help="Only thumbs up, or only thumbs down.")]
AsReason = Annotated[Reason | None, typer.Option(help="Only ratings with this reason.")]
AsPlace = Annotated[
    str | None, typer.Option("--in", metavar="NAME", help="A space or thread, or part of its name.")
]
AsNewer = Annotated[
    timedelta | None,
    typer.Option(parser=duration, metavar="SPAN", help="Rated less than this long ago, for example 7d."),
]


def ratings(client: Any, wanted: Wanted) -> list[Fields]:
    """The wanted ratings that have not expired, the latest first. Raises GoogleAPICallError."""
    now = datetime.now(UTC)
    found = [rating for rating in _all(client) if _lives(rating, now) and wanted.takes(rating, now)]
    return sorted(found, key=_at, reverse=True)


def as_json(rating: Fields, *, with_text: bool) -> Fields:
    """A rating for scripts. Private text is only there `with_text`."""
    shown = {name: rating.get(name) for name in (*_SHOWN, *(TEXTS if with_text else ()))}
    return shown | {name: at.isoformat() for name in _TIMES if isinstance(at := rating.get(name), datetime)}


def _all(client: Any) -> Iterator[Fields]:
    for snapshot in client.collection(COLLECTION).stream(retry=None, timeout=WAIT_FOR_ALL):
        fields = snapshot.to_dict() or {}
        if fields.get("verdict") in VERDICTS:
            yield fields


def _lives(rating: Fields, now: datetime) -> bool:
    expired_at = rating.get("expired_at")
    return isinstance(expired_at, datetime) and expired_at > now


def _at(rating: Fields) -> datetime:
    at = rating.get("at")
    return at if isinstance(at, datetime) else datetime.min.replace(tzinfo=UTC)
