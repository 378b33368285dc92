"""The command line of `python -m ops`."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from ops.commands.audit import audit
from ops.commands.dead_archive import dead_archive
from ops.commands.dead_discard import dead_discard
from ops.commands.dead_edit import dead_edit
from ops.commands.dead_export import dead_export
from ops.commands.dead_groups import dead_groups
from ops.commands.dead_import import dead_import
from ops.commands.dead_list import dead_list
from ops.commands.dead_reconcile import dead_reconcile
from ops.commands.dead_replay import dead_replay
from ops.commands.dead_restore import dead_restore
from ops.commands.dead_show import dead_show
from ops.commands.dead_watch import dead_watch
from ops.commands.feedback_export import feedback_export
from ops.commands.feedback_list import feedback_list
from ops.commands.knowledge_create import knowledge_create
from ops.commands.knowledge_import import knowledge_import
from ops.commands.knowledge_list import knowledge_list
from ops.console import harmless
from ops.errors import Exit, explained
from ops.settings import chosen
from ops.world import World

#: Typer's exit code for Ctrl-C.
INTERRUPTED = 130
EXIT_CODES = "Exit codes: 0 done; 1 something failed; 2 wrong command line; " + "; ".join(
    f"{code.value} {code.name.lower().replace('_', ' ')}" for code in Exit if code > 2
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=f"Operate threadwise: inspect and replay dead letters, read ratings, fill the corpus. {EXIT_CODES}.",
)
dead = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Inspect and replay dead letters. Start with `groups`."
)
app.add_typer(dead, name="dead")
app.command("audit")(audit)
COMMANDS: dict[str, Callable[..., None]] = {
    "groups": dead_groups,
    "list": dead_list,
    "show": dead_show,
    "replay": dead_replay,
    "watch": dead_watch,
    "edit": dead_edit,
    "archive": dead_archive,
    "restore": dead_restore,
    "discard": dead_discard,
    "export": dead_export,
    "import": dead_import,
    "reconcile": dead_reconcile,
}
for name, command in COMMANDS.items():
    dead.command(name)(command)
feedback = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Read the ratings of answers.")
app.add_typer(feedback, name="feedback")
feedback.command("list")(feedback_list)
feedback.command("export")(feedback_export)
knowledge = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create, fill and list the corpus that the bot searches.",
)
app.add_typer(knowledge, name="knowledge")
knowledge.command("create")(knowledge_create)
knowledge.command("import")(knowledge_import)
knowledge.command("list")(knowledge_list)


@app.callback()
def operate(
    context: typer.Context,
    project: Annotated[
        str | None, typer.Option(help="Google Cloud project. Default: GOOGLE_CLOUD_PROJECT.")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="Firestore database. Default: FIRESTORE_DATABASE.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Prefix of all resource names. Default: NAME_PREFIX.")
    ] = None,
) -> None:
    """Choose the deployment."""
    given = {"google_cloud_project": project, "firestore_database": database, "name_prefix": prefix}
    world: World = context.obj
    world.open(chosen({name: value for name, value in given.items() if value is not None}))


def main() -> None:
    """Run a command. An error prints what to do about it, and sets the exit code."""
    world = World()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app(obj=world)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            print(
                "Interrupted. Finished work is recorded. Run the same command again to continue.",
                file=sys.stderr,
            )
        raise
    except Exception as error:
        told = explained(error, world.where)
        print(harmless(str(told)), file=sys.stderr)
        sys.exit(told.code)
