"""`knowledge list`: list the corpora of a region, or the files of one corpus."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from ops.console import note, one_line, say
from ops.knowledge import corpora, find
from ops.options import AsJson, AsLocation
from ops.world import World


def knowledge_list(
    context: typer.Context,
    corpus: Annotated[
        str | None,
        typer.Argument(metavar="[CORPUS]", help="List the files of this corpus.", show_default=False),
    ] = None,
    location: AsLocation = None,
    as_json: AsJson = False,
) -> None:
    """List the corpora, or the files of one corpus.

    \b
    Examples:
      python -m ops knowledge list
      python -m ops knowledge list it-support --json
    """
    world: World = context.obj
    where = location or world.settings.rag_location
    if corpus is None:
        _corpora(world, where, as_json=as_json)
        return
    there, found = find(world, corpus, where)
    files = sorted(there.files(found.name), key=lambda file: file.uri or file.display_name)
    if as_json:
        say(json.dumps([asdict(file) for file in files], ensure_ascii=False, indent=1, default=str))
        return
    for file in files:
        state = "" if file.active else f"  not searchable: {one_line(file.error) or 'no reason given'}"
        say(f"{file.updated:%Y-%m-%d %H:%M}  {one_line(file.uri or file.display_name, 400)}{state}")
    note(f"{len(files)} files in {found.name}")


def _corpora(world: World, where: str, *, as_json: bool) -> None:
    found = corpora(world, where).all()
    if as_json:
        say(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1, default=str))
        return
    for each in found:
        say(f"{each.created:%Y-%m-%d}  {one_line(each.display_name)}  ({each.model or 'no embedding model'})")
        say(f"    {each.name}")
    if not found:
        note(f"There is no corpus in {where}. Create one: python -m ops knowledge create --name NAME")
