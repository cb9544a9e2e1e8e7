"""The ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from arcrank.server.forwarding import Forwarder, start_receiver
from arcrank.server.metrics import Metrics
from arcrank.server.middleware import Guard
from arcrank.server.operations import OPERATIONS
from arcrank.server.page import page_routes
from arcrank.server.router import Route, Router
from arcrank.server.routes import Routes
from arcrank.server.settings import Settings
from arcrank.server.store import ModelStore, model_names

__all__ = ["Application"]


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
        self.asgi: ASGIApp = Guard(_Dispatcher(Router(_routes(self.routes)), self._lifespan), settings, self.metrics)

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


class _Dispatcher:
    """The routes; Starlette starts and stops the application."""

    def __init__(self, router: Router, lifespan: Any) -> None:
        self._router = router
        self._starlette = Starlette(lifespan=lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._router if scope["type"] == "http" else self._starlette)(scope, receive, send)


def _routes(routes: Routes) -> list[Route]:
    return [*((one.method, one.path, getattr(routes, one.name)) for one in OPERATIONS), *page_routes()]
