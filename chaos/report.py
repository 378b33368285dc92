"""The table at the end of a run, and the violations."""

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from rich.console import Console
from rich.table import Table

from chaos.asked import Done
from chaos.verdict import End, Kind, Verdict, Violation

#: How many violations of a kind are shown one by one, before and after the replay. The table counts all.
MOST_SHOWN = 5


@dataclass(frozen=True)
class Figures:
    """What a run has shown. Times are in seconds."""

    seed: int
    quotas: bool
    official: bool
    asked: int
    seconds: float
    not_taken: int
    latencies: list[float]
    hits: Counter[str]
    first: Verdict
    letters: int
    exhausted: int
    cases: int
    second: Verdict
    done: Done

    @property
    def violations(self) -> list[Violation]:
        """The violations before and after the replay."""
        return [*self.first.violations, *self.second.violations]


def show(figures: Figures, console: Console) -> None:
    """Print the table, the faults and the violations."""
    console.print(_table(figures))
    console.print(_faults(figures.hits))
    before = figures.first.violations
    since = [violation for violation in figures.second.violations if violation not in before]
    for when, violations in (("under fault", before), ("after the replay only", since)):
        for kind, found in groupby(sorted(violations, key=_kind), _kind):
            for violation in islice(found, MOST_SHOWN):
                line = f"{kind}, {when}: {violation.question}: {violation.detail}"
                console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def _kind(violation: Violation) -> Kind:
    return violation.kind


def _table(figures: Figures) -> Table:
    where = " on Google's emulators" if figures.official else ""
    table = Table("", "under fault", "after the replay", title=f"Chaos{where}, seed {figures.seed}")
    table.add_row("questions", f"{figures.asked:,}", "")
    table.add_row("not taken by the bot, said so in Chat", f"{figures.not_taken:,}", "")
    for end in End:
        table.add_row(end, f"{figures.first.ends[end]:,}", f"{figures.second.ends[end]:,}")
    for deed, count in _deeds(figures.done):
        table.add_row(deed, f"{count:,}", "")
    table.add_row("dead letters, all replayed", f"{figures.cases:,}", "")
    table.add_row("… messages, copies included", f"{figures.letters:,}", "")
    table.add_row("… of them by Pub/Sub after all attempts", f"{figures.exhausted:,}", "")
    first, second = (
        Counter(violation.kind for violation in verdict.violations)
        for verdict in (figures.first, figures.second)
    )
    for kind in Kind:
        if kind in (Kind.LOST, Kind.DOUBLED) or first[kind] or second[kind]:
            table.add_row(kind, _count(first[kind]), _count(second[kind]))
    covers = [_covers(verdict.covers) for verdict in (figures.first, figures.second)]
    table.add_row("an end covered, and put back: times, longest", *covers)
    p50, p95 = _percentile(figures.latencies, 50), _percentile(figures.latencies, 95)
    table.add_row("first end: p50 / p95", f"{p50:.1f} s / {p95:.1f} s", "")
    table.add_row("Chat's quotas", "on" if figures.quotas else "off", "")
    table.add_row("whole run", f"{figures.seconds / 60:.1f} min", "")
    return table


def _deeds(done: Done) -> Iterator[tuple[str, int]]:
    yield "clicks", done.clicked.total()
    yield "… of them to be answered anew", len(done.anew)
    yield "messages of the bot's deleted", done.deleted.total()
    yield "conversations told to be forgotten", len(done.forgot)


def _covers(covers: list[float]) -> str:
    return f"{len(covers):,}, {max(covers):.1f} s" if covers else "0"


def _faults(hits: Counter[str]) -> Table:
    table = Table("fault", "hits", title="Faults injected")
    for name, count in sorted(hits.items()):
        table.add_row(name, f"{count:,}")
    table.add_row("in all", f"{hits.total():,}", style="bold")
    return table


def _count(violations: int) -> str:
    return f"[bold red]{violations:,}[/]" if violations else "0"


def _percentile(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return sum(values)
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
