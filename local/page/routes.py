"""Serves the chat page: `/`, and the files it loads from `/static/`."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Route

HERE = Path(__file__).parent / "static"
#: Given here because some systems map JavaScript to `text/plain`, which browsers do not run.
MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
#: A card may show pictures from anywhere. Everything else must come from this server.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' https:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def page_routes() -> list[BaseRoute]:
    """The routes of the page's files. `local.page.api` serves the calls under `/page/`."""
    files = {path.name: path for path in HERE.iterdir() if path.suffix in MEDIA_TYPES}

    async def index(_: Request) -> FileResponse:
        return _file(files["index.html"])

    async def static(request: Request) -> FileResponse:
        path = files.get(request.path_params["name"])
        if path is None:
            raise HTTPException(404)
        return _file(path)

    return [Route("/", index), Route("/static/{name}", static)]


def _file(path: Path) -> FileResponse:
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=HEADERS)
