"""Processes, sockets and signals of a server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from arcrank.errors import ParameterError
from arcrank.server.app import Application
from arcrank.server.protocol import protocol_class

__all__ = ["Server", "bind", "serve"]


class Server(uvicorn.Server):
    """A uvicorn server that is not ready at once when it is to stop, ends in time, and reads models again on SIGHUP."""

    def __init__(self, application: Application) -> None:
        self.application = application
        settings = application.settings
        config = uvicorn.Config(
            application.asgi,
            http=protocol_class(settings.limits),
            ws="none",
            lifespan="on",
            loop="asyncio",
            log_level="error",  # wrong requests are answered, and counted in the metrics
            access_log=False,
            proxy_headers=False,  # who asks is not used
            server_header=False,
            h11_max_incomplete_event_size=settings.limits.header_bytes,
            timeout_graceful_shutdown=max(1, int(settings.grace) - 1),
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop for SIGTERM and Ctrl-C, read models again for SIGHUP; the process ends without an error."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Any] = {signal.SIGINT: self.handle_exit, signal.SIGTERM: self.handle_exit}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = lambda *_: loop.call_soon_threadsafe(self._reload)
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop; whatever hangs, the process ends when its time is over."""
        self.application.routes.is_stopping = True
        end = threading.Timer(self.application.settings.grace, os._exit, [0])
        end.daemon = True
        end.start()
        super().handle_exit(sig, frame)

    def _reload(self) -> None:
        self._reloading = asyncio.get_running_loop().create_task(self.application.store.reload(force=True))


def bind(host: str, port: int) -> socket.socket:
    """Listen on an address; an error says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once only if the socket is named TCP; else each waits 40 ms for the one before
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ParameterError(
            f"{host}:{port} cannot be used: {error.strerror}.\nGive another --port, or stop the program that uses it."
        ) from None
    listener.listen(2048)
    listener.setblocking(False)
    listener.set_inheritable(True)
    return listener


def serve(listener: socket.socket, application: Application) -> None:
    """Serve until a signal ends it."""
    server = Server(application)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
