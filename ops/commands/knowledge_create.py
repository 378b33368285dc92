"""`knowledge create`: a corpus to search in."""

from typing import Annotated

import typer

from ops.audit import new_operation
from ops.console import note, say
from ops.corpora import MODEL
from ops.knowledge import corpora
from ops.knowledge_audit import audited
from ops.options import AsLocation, Note
from ops.world import World


def knowledge_create(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The corpus's display name.", show_default=False)],
    location: AsLocation = None,
    embedding_model: Annotated[
        str,
        typer.Option(help="A publisher model of Google, or an endpoint's name. It cannot be changed later."),
    ] = MODEL,
    why: Note = "",
) -> None:
    """Make a corpus, unless there is one of that name.

    Prints its resource name: the value of rag_corpus in terraform.tfvars.

    \b
    Examples:
      python -m ops knowledge create --name it-support
      python -m ops knowledge create --name it-support --location europe-west3
    """
    world: World = context.obj
    there = corpora(world, location or world.settings.rag_location)
    found = [each for each in there.all() if each.display_name == name]
    if found:
        note(f"There is a corpus of that name already; it keeps its embedding model, {found[0].model}.")
        if len(found) > 1:
            note(f"There are {len(found)} of that name; this is the oldest. Give the others' resource names.")
        corpus = found[0]
    else:
        operation = new_operation("knowledge-create", world.settings.operator, why)
        with audited(world, operation, name) as counts:
            corpus = there.create(name, embedding_model)
            counts["created"] += 1
    say(corpus.name)
    note(f'For terraform.tfvars: rag_corpus = "{corpus.name}"')
    note(f"Fill it: python -m ops knowledge import {name} FOLDER --bucket gs://BUCKET")
