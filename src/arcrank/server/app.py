"""The ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from arcrank.server.forwarding import Forwarder, start_receiver
from arcrank.server.metrics import Metrics
from arcrank.server.middleware import Guard
from arcrank.server.operations import OPERATIONS, Operation
from arcrank.server.page import page_routes
from arcrank.server.routes import Routes
from arcrank.server.settings import Settings
from arcrank.server.store import ModelStore, model_names

__all__ = ["Application"]

Endpoint = Callable[[Request], Awaitable[Response]]


class Application:
    """All that one process serves.

    Parameters
    ----------
    paths : list of Path
        The model files.
    settings : Settings
        Limits, token, ...
    socket : Path or None
        Where processes hand over what is to be written, if there are several.
    writes : bool
        Whether this process learns, where the settings allow it.
    """

    def __init__(
        self, paths: list[Path], settings: Settings, *, socket: Path | None = None, writes: bool = True
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self._writes = writes and settings.allow_learning
        self._socket = socket
        self.store = ModelStore(model_names(paths), settings, writes=self._writes)
        forwards = socket is not None and settings.allow_learning and not writes
        forwarder = Forwarder(socket) if forwards and socket is not None else None
        self.routes = Routes(self.store, settings, self.metrics, forwarder)
        self.asgi: ASGIApp = Guard(_starlette(self.routes, self._lifespan), settings, self.metrics)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        self.store.start_watching()
        receiver = None
        if self._socket is not None and self._writes:
            receiver = await start_receiver(self._socket, self.routes.handle)
        try:
            yield
        finally:
            if receiver is not None:
                receiver.close()
            self.store.close()


def _starlette(routes: Routes, lifespan: Any) -> ASGIApp:
    """The routes without Starlette's own middleware: Guard turns all errors into problems."""
    found = [Route(one.path, _endpoint(routes, one), methods=[one.method]) for one in OPERATIONS]
    app = Starlette(routes=[*found, *page_routes()], lifespan=lifespan)
    app.router.redirect_slashes = False
    return _Bare(app)


class _Bare:
    """Starlette's router with `app` in the scope, so that it raises 404 and 405 rather than answer them."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["app"] = self._app
        await self._app.router(scope, receive, send)


def _endpoint(routes: Routes, operation: Operation) -> Endpoint:
    handle: Endpoint = getattr(routes, operation.name)

    async def answer(request: Request) -> Response:
        request.scope["arcrank.route"] = operation.path
        return await handle(request)

    return answer
