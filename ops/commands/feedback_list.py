"""`feedback list`: list ratings, the latest first."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import typer

from ops.console import note, one_line, say, shown
from ops.options import AsJson, WithText
from ops.ratings import AsNewer, AsPlace, AsReason, AsVerdict, Wanted, as_json, ratings
from ops.world import World
from shared.memory.firestore import Fields

#: Columns for what people wrote.
LONGEST = 74


def feedback_list(
    context: typer.Context,
    verdict: AsVerdict = None,
    reason: AsReason = None,
    place: AsPlace = None,
    newer: AsNewer = None,
    limit: Annotated[int, typer.Option(min=1, help="How many ratings to show.")] = 20,
    with_text: WithText = False,
    json_wanted: AsJson = False,
) -> None:
    """List ratings of answers, the latest first.

    \b
    Examples:
      python -m ops feedback list --verdict down --newer 7d
      python -m ops feedback list --reason outdated --with-text
    """
    world: World = context.obj
    found = ratings(world.firestore, Wanted(verdict, reason, place, newer))
    if json_wanted:
        listed = [as_json(each, with_text=with_text) for each in found[:limit]]
        say(json.dumps(listed, ensure_ascii=False, indent=1))
        return
    for each in found[:limit]:
        for line in _lines(each, with_text=with_text):
            say(line)
    counts = Counter(str(each["verdict"]) for each in found)
    if found:
        note(f"{min(limit, len(found))} of {len(found)}: {counts['up']} up, {counts['down']} down")
    else:
        note(f"No ratings match in {world.where}.")


def _lines(rating: Fields, *, with_text: bool) -> list[str]:
    at = rating.get("at")
    age = shown(datetime.now(UTC) - at) if isinstance(at, datetime) else "–"
    sources = rating.get("sources")
    count = len(sources) if isinstance(sources, list) else 0
    verdict, reason = str(rating["verdict"]), one_line(str(rating.get("reason") or ""), 12)
    lines = [
        f"{one_line(str(rating.get('reference'))):<11}  {verdict:<4}  {reason:<12}  {age:>6}  "
        f"{count} sources  {one_line(str(rating.get('model') or '–'), 24)}"
    ]
    if with_text:
        asked, searched = (str(rating.get(name) or "") for name in ("question", "search_query"))
        lines.append(f"    {one_line(asked, LONGEST)}")
        if searched != asked:
            lines.append(f"    searched: {one_line(searched, LONGEST - 10)}")
    return lines
