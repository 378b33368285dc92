"""Write the tables in the documentation that come from `shared/pipeline.json` (`make tables`).

A table is between `<!-- pipeline: <name> -->` and `<!-- end -->`. A test checks that it is up to date.
"""

import re
from pathlib import Path

from shared.pipeline import pipeline

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("docs/messages.md", "docs/reliability.md")
_MARKED = re.compile(r"(<!-- pipeline: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def topics() -> list[str]:
    """Each topic between two steps: who sends, who takes, and which fields of the envelope are new."""
    rows = ["| topic | sent by | taken by | adds |", "|---|---|---|---|"]
    for sender in pipeline().steps[:-1]:
        added = ", ".join(f"`{name}`" for name in sender.adds) or "–"
        taker = pipeline().after(sender.name)
        rows.append(f"| `{sender.gives}` | `{sender.folder}` | `{taker.folder}` | {added} |")
    return rows


def times() -> list[str]:
    """The times of each function, from the shortest to the longest."""
    rows = [
        "| step | one attempt of a call, at most | deadline of the step | time-out of the function "
        "| ack deadline |",
        "|---|---|---|---|---|",
    ]
    for row in pipeline().functions:
        in_turn = (row.seconds.attempt, row.seconds.step, row.seconds.function, row.seconds.ack)
        rows.append(f"| `{row.name}` | {' | '.join(f'{seconds} s' for seconds in in_turn)} |")
    return rows


def written(page: str) -> str:
    """The page with up-to-date tables. Raises KeyError for an unknown table."""
    tables = {"topics": topics, "times": times}
    return _MARKED.sub(lambda found: found[1] + "\n".join([*tables[found[2]](), ""]) + found[3], page)


def main() -> None:
    """Write the tables into their pages."""
    for name in PAGES:
        page = ROOT / name
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
