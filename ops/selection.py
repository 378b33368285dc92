"""Which cases a command works on: the filters that the commands share."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

import typer

from ops.case import Case
from ops.errors import Exit, OpsError
from ops.options import duration
from shared.memory.cases import OPEN

State = Literal["open", "replayed", "answered", "archived", "discarded", "any"]


@dataclass(frozen=True)
class Selection:
    """A case is selected if it meets all given conditions."""

    ids: tuple[str, ...] = ()
    step: str | None = None
    reason: str | None = None
    error: str | None = None
    place: str | None = None
    group: str | None = None
    older: timedelta | None = None
    newer: timedelta | None = None
    state: str = OPEN

    @property
    def narrow(self) -> bool:
        """Whether any condition besides the state is given."""
        return self != Selection(state=self.state)

    def takes(self, case: Case) -> bool:
        """Whether a case is selected."""
        return (
            (not self.ids or not {case.id, case.question_id, case.reference}.isdisjoint(self.ids))
            and self.state in {"any", case.status}
            and self.step in {None, case.step}
            and self.reason in {None, case.reason}
            and self.group in {None, case.group}
            and (self.error or "").lower() in (case.error or case.reason).lower()
            and (self.place or "") in f"{case.space} {case.thread} {case.question_id}"
            and (self.older is None or case.age >= self.older)
            and (self.newer is None or case.age <= self.newer)
        )

    def __str__(self) -> str:
        given = {name: value for name, value in vars(self).items() if value is not None and name != "ids"}
        words = [f"{name}={value}" for name, value in given.items()]
        return " ".join([*self.ids, *words])


_Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...", help="References (TW-…), question ids or case ids.", show_default=False
    ),
]
_Step = Annotated[str | None, typer.Option(help="The step that failed, for example `answer`.")]
_REASON_HELP = "The reason code, for example `gemini_unavailable`."
_Reason = Annotated[str | None, typer.Option("--reason-code", "--reason", help=_REASON_HELP)]
#: The name of the filter in commands whose `--reason` is the operator's own reason.
_ReasonCode = Annotated[str | None, typer.Option("--reason-code", help=_REASON_HELP)]
_Error = Annotated[str | None, typer.Option(metavar="TEXT", help="Part of the error text.")]
_Place = Annotated[
    str | None, typer.Option("--in", metavar="NAME", help="A space or thread, or part of its name.")
]
_Group = Annotated[str | None, typer.Option(help="Id of a group, as `dead groups` shows it.")]
_Older = Annotated[
    timedelta | None,
    typer.Option(parser=duration, metavar="SPAN", help="Asked more than this long ago, for example 2h."),
]
_Newer = Annotated[
    timedelta | None,
    typer.Option(parser=duration, metavar="SPAN", help="Asked less than this long ago, for example 30m."),
]
_State = Annotated[State, typer.Option(help="State of the dead letter.")]


def select(
    ids: _Ids = None,
    step: _Step = None,
    reason: _Reason = None,
    error: _Error = None,
    place: _Place = None,
    group: _Group = None,
    older: _Older = None,
    newer: _Newer = None,
    state: _State = "open",
) -> Selection:
    """The selection of a command line. Raises OpsError for an empty value."""
    named = tuple(name.upper() if name.upper().startswith("TW-") else name for name in ids or ())
    if "" in {*named, step, reason, error, place, group}:  # a script's variable that was not set
        raise OpsError(
            "An ID or a filter is empty and would select everything. Nothing was done.", Exit.INVALID
        )
    return Selection(named, step, reason, error, place, group, older, newer, state)


def selecting(command: Callable[..., None]) -> Callable[..., None]:
    """Add the filter options to a command, and build its parameter `selection` from them.

    If the command has a parameter `why`, `--reason` fills that, and only `--reason-code` is a filter.
    """
    own = inspect.signature(command).parameters
    filters = dict(inspect.signature(select).parameters)
    if "why" in own:
        filters["reason"] = filters["reason"].replace(annotation=_ReasonCode)
    others = [own[name] for name in own if name != "selection"]
    positional = [each for each in others if each.default is inspect.Parameter.empty]
    optional = [each for each in others if each.default is not inspect.Parameter.empty]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in filters}
        command(**given, selection=select(**chosen))

    parameters = [*positional, *filters.values(), *optional]
    # Typer reads both of these. Through __wrapped__ it would read the original command's.
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    del called.__wrapped__
    return called
