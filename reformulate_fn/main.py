"""Entry point of `reformulate_fn`: the push subscription on `questions` calls it."""

import functions_framework
from flask import Request

from reformulate_fn.reformulate import reformulate, show_query
from reformulate_fn.services import open_services
from reformulate_fn.settings import Settings
from shared.language.catalogue import check_catalogues
from shared.messages.step import serve
from shared.pipeline import step
from shared.runtime.settings import read

SETTINGS = read(Settings)
check_catalogues()
STEP = serve(step("reformulate"), SETTINGS, open_services, reformulate, show_query)


@functions_framework.http
def main(request: Request) -> tuple[str, int]:
    """Handle one question."""
    return STEP.receive(dict(request.headers), request.get_data())
