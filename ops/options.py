"""Options that several commands share."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Note = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why you do this; kept in the audit.")]
WithText = Annotated[
    bool, typer.Option("--with-text", help="Show what people wrote and were answered: it is private.")
]
AsLocation = Annotated[
    str | None,
    typer.Option(
        "--location", metavar="REGION", help="Region of the corpus; else RAG_LOCATION.", show_default=False
    ),
]
