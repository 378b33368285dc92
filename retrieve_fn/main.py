"""Entry point of `retrieve_fn`: the push subscription on `queries` calls it."""

import functions_framework
from flask import Request

from retrieve_fn.retrieve import retrieve, show_found
from retrieve_fn.services import open_services
from retrieve_fn.settings import Settings
from shared.language.catalogue import check_catalogues
from shared.messages.step import serve
from shared.pipeline import step
from shared.runtime.settings import read

SETTINGS = read(Settings)
check_catalogues()
STEP = serve(step("retrieve"), SETTINGS, open_services, retrieve, show_found)


@functions_framework.http
def main(request: Request) -> tuple[str, int]:
    """Handle one search query."""
    return STEP.receive(dict(request.headers), request.get_data())
