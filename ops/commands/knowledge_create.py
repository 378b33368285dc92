"""`knowledge create`: create a corpus."""

from typing import Annotated

import typer

from ops.audit import new_operation
from ops.console import note, say
from ops.corpora import MODEL
from ops.knowledge import audited, corpora
from ops.options import AsLocation, Note
from ops.world import World


def knowledge_create(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="Display name of the corpus.", show_default=False)],
    location: AsLocation = None,
    embedding_model: Annotated[
        str,
        typer.Option(
            help="One of Google's embedding models, or the name of an endpoint. You cannot change it later."
        ),
    ] = MODEL,
    why: Note = "",
) -> None:
    """Create a corpus, unless one with this name exists.

    Prints its resource name. It is the value of rag_corpus in terraform.tfvars.

    \b
    Examples:
      python -m ops knowledge create --name it-support
      python -m ops knowledge create --name it-support --location europe-west3
    """
    world: World = context.obj
    there = corpora(world, location or world.settings.rag_location)
    found = [each for each in there.all() if each.display_name == name]
    if found:
        note(f"A corpus with this name already exists. It keeps its embedding model, {found[0].model}.")
        if len(found) > 1:
            note(
                f"{len(found)} corpora have this name. This is the oldest. Use resource names for the others."
            )
        corpus = found[0]
    else:
        operation = new_operation("knowledge-create", world.settings.operator, why)
        with audited(world, operation, name) as counts:
            corpus = there.create(name, embedding_model)
            counts["created"] += 1
    say(corpus.name)
    note(f'Put this into terraform.tfvars: rag_corpus = "{corpus.name}"')
    note(f"To fill it: python -m ops knowledge import {name} FOLDER --bucket gs://BUCKET")
