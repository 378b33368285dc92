"""Entry points of `answer_fn`: the push subscriptions on `findings` and, for `tell`, on `dead-letters`."""

import functions_framework
from flask import Request

from answer_fn.answer import answer
from answer_fn.services import open_services, open_tell_services
from answer_fn.settings import Settings
from answer_fn.sweep import Sweeper
from answer_fn.tell import Teller
from shared.language.catalogue import check_catalogues
from shared.messages.step import serve
from shared.pipeline import pipeline, step
from shared.runtime.settings import read

SETTINGS = read(Settings)
check_catalogues()
STEP = serve(step("answer"), SETTINGS, open_services, answer)
TELLER = Teller(lambda: open_tell_services(SETTINGS), spoken=SETTINGS.languages)
SWEEPER = Sweeper(lambda: TELLER.services)


@functions_framework.http
def main(request: Request) -> tuple[str, int]:
    """Handle the passages found for one question."""
    return STEP.receive(dict(request.headers), request.get_data())


@functions_framework.http
def tell(request: Request) -> tuple[str, int]:
    """Handle one dead letter. At the path of the scheduler, run the sweep."""
    if request.path == pipeline().sweep.path:
        return SWEEPER.receive(dict(request.headers), request.get_data())
    return TELLER.receive(dict(request.headers), request.get_data())
