"""The page for people: static files, read once."""

from __future__ import annotations

import hashlib
import mimetypes
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from arcrank.server.router import Route

__all__ = ["page_routes"]

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def page_routes() -> list[Route]:
    """A route for each file; index.html is also the root."""
    found = [item for item in files("arcrank.server").joinpath("static").iterdir() if item.is_file()]
    routes = [_route(f"/static/{item.name}", item.name, item.read_bytes()) for item in found]
    page = next(item for item in found if item.name == "index.html")
    return [_route("/", page.name, page.read_bytes()), *routes]


def _route(path: str, name: str, content: bytes) -> Route:
    suffix = name[name.rfind(".") :]
    kind = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=kind)

    return "GET", path, serve
