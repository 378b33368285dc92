"""Options that several commands share."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Note = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why you do this. It is kept in the audit.")
]
WithText = Annotated[
    bool, typer.Option("--with-text", help="Also show questions and answers. They are private.")
]
AsLocation = Annotated[
    str | None,
    typer.Option(
        "--location",
        metavar="REGION",
        help="Region of the corpus. Default: RAG_LOCATION.",
        show_default=False,
    ),
]
