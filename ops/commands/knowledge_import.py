"""`knowledge import`: fill or update a corpus."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ops.audit import new_operation
from ops.bucket import Bucket
from ops.console import confirm, note, notes, one_line
from ops.errors import Exit, OpsError
from ops.knowledge import UNEXPLAINED, Import, Outcome, audited, find
from ops.options import AsLocation, Note, Yes
from ops.world import World

#: How many file names are printed. There may be thousands of files.
NAMED = 10
COUNTED = ("uploaded", "imported", "unchanged", "replaced", "failed")


def knowledge_import(
    context: typer.Context,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Its display name or resource name.")],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A folder, or gs://bucket/prefix.")],
    bucket: Annotated[
        str | None,
        typer.Option(metavar="gs://…", help="Bucket for the files of a folder.", show_default=False),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete files from the corpus that are gone from the source.")
    ] = False,
    location: AsLocation = None,
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Fill or update a corpus.

    Only new and changed files are uploaded and imported, so you can run it as often as you like. Files that
    are gone from the source are listed. --delete removes them from the corpus and, if SOURCE is a folder,
    from the bucket.

    \b
    Examples:
      python -m ops knowledge import it-support gs://my-articles/it
      python -m ops knowledge import it-support ./articles --bucket gs://my-articles/it
      python -m ops knowledge import it-support ./articles --bucket gs://my-articles/it --delete
    """
    world: World = context.obj
    in_bucket = source.startswith("gs://")
    if in_bucket and bucket:
        raise OpsError("--bucket is only for folders, and SOURCE is a bucket already.", Exit.INVALID)
    if not in_bucket and not bucket:
        raise OpsError(
            "RAG Engine reads files from a bucket, and links to sources name it. Add "
            "--bucket gs://BUCKET/PREFIX.",
            Exit.INVALID,
        )
    place = Bucket(world.storage, source if in_bucket else bucket or "")
    there, found = find(world, corpus, location or world.settings.rag_location)
    work = Import(there, found, place, None if in_bucket else Path(source))
    told = f"{found.name} {source} {bucket or ''}".strip()
    with audited(world, new_operation("knowledge-import", world.settings.operator, why), told) as counts:
        outcome = _run(work)
        counts.update(outcome.counts)
    _tell(outcome)
    if outcome.gone:
        _name(f"Gone from {source}", [file.uri for file in outcome.gone])
    if outcome.gone and not delete:
        note("The bot still finds them. --delete removes them.")
    elif outcome.gone:
        confirm(f"Delete these {len(outcome.gone)} files from {found.display_name}?", yes=yes)
        with audited(world, new_operation("knowledge-delete", world.settings.operator, why), told) as counts:
            counts["deleted"] += work.delete_gone()
        note(f"{counts['deleted']} deleted")
    if outcome.counts["failed"]:
        raise typer.Exit(Exit.FAILED)


def _run(work: Import) -> Outcome:
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=notes) as progress:
        bar = progress.add_task("looking", total=1.0)
        return work.run(lambda what, share: progress.update(bar, description=what, completed=share))


def _tell(outcome: Outcome) -> None:
    note(", ".join(f"{outcome.counts[name]} {name}" for name in COUNTED if outcome.counts[name]))
    if outcome.left_out:
        _name("Skipped", [f"{name}: {why}" for name, why in outcome.left_out.items()])
    if outcome.failed:
        _name("Failed", outcome.failed)
    if any(UNEXPLAINED in each for each in outcome.failed):
        note(
            "Can RAG Engine read the bucket? Its service account needs roles/storage.objectViewer on it: "
            "service-PROJECT_NUMBER@gcp-sa-vertex-rag.iam.gserviceaccount.com."
        )


def _name(heading: str, lines: list[str]) -> None:
    note(f"{heading}:")
    for line in lines[:NAMED]:
        note(f"  {one_line(line, 200)}")
    if len(lines) > NAMED:
        note(f"  and {len(lines) - NAMED} more")
