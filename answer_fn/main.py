"""Entry point of `answer_fn`: the push subscription on `findings` calls it."""

import functions_framework
from flask import Request

from answer_fn.answer import answer
from answer_fn.services import open_services
from answer_fn.settings import Settings
from shared.settings import read
from shared.step import serve

STEP = serve("answer", read(Settings), open_services, answer)


@functions_framework.http
def main(request: Request) -> tuple[str, int]:
    """Take the findings of one question."""
    return STEP.receive(dict(request.headers), request.get_data())
