"""Entry point of `ingest_fn`: Google Chat calls it over HTTPS."""

import functions_framework
from flask import Request

from ingest_fn.door import Door
from ingest_fn.services import open_services
from ingest_fn.settings import Settings
from shared.language.catalogue import check_catalogues
from shared.runtime import logs
from shared.runtime.receiver import HttpReply
from shared.runtime.settings import read

SETTINGS = read(Settings)
check_catalogues()
logs.set_up(SETTINGS.google_cloud_project, content=SETTINGS.log_content)
DOOR = Door(lambda: open_services(SETTINGS), SETTINGS.step_seconds, SETTINGS.dead_letter_topic)


@functions_framework.http
def main(request: Request) -> HttpReply:
    """Handle one event of Google Chat."""
    return DOOR.receive(dict(request.headers), request.get_data())
