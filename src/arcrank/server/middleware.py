"""What every request goes through: the host, the time limit, errors as problems, headers and metrics."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcrank.server.metrics import Metrics
from arcrank.server.problems import ProblemError, as_problem, problem_response
from arcrank.server.settings import Settings

__all__ = ["Guard"]

_log = logging.getLogger("arcrank.server")
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
_METHODS = {"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"}
_LOCAL_NAMES = {"localhost", "127.0.0.1", "[::1]"}


class Guard:
    """The outermost application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._is_local = settings.is_local
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500
        is_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, is_started
            if message["type"] == "http.response.start":
                status, is_started = message["status"], True
                message["headers"] = [*message.get("headers", []), *_HEADERS, *_cache(message)]
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._answer(scope, receive, send_with_headers)
        except Exception as error:
            if is_started:
                raise
            await self._fail(error, scope, receive, send_with_headers)
        finally:
            self._metrics.in_flight -= 1
            route = scope.get("arcrank.route", "other")
            self._metrics.count(route, _known_method(scope["method"]), status, time.perf_counter() - start)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_local and not _names_this_machine(scope):
            raise ProblemError(
                421, "This server answers only requests to localhost. Use http://127.0.0.1 or localhost."
            )
        limits = self._settings.limits
        if _header_bytes(scope) > limits.header_bytes:
            detail = f"The headers are longer than {limits.header_bytes:,} bytes."
            raise ProblemError(431, detail, {"Connection": "close"})
        try:
            async with asyncio.timeout(limits.request):
                await self._app(scope, receive, send)
        except TimeoutError:
            raise ProblemError(
                503,
                f"The answer took longer than {limits.request:g} s. Send fewer or shorter documents.",
                {"Retry-After": "5"},
            ) from None

    async def _fail(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        problem = as_problem(error)
        if problem.status == 500:
            _log.error("A request to %s failed.", scope.get("arcrank.route", "a path"), exc_info=error)
        await problem_response(problem.status, problem.detail, problem.headers)(scope, receive, send)


def _cache(message: Message) -> list[tuple[bytes, bytes]]:
    """Answers may change with the model, so nothing is cached without asking."""
    given = any(name == b"cache-control" for name, _ in message.get("headers", []))
    return [] if given else [(b"cache-control", b"no-store")]


def _names_this_machine(scope: Scope) -> bool:
    """Whether the Host header names this machine: a page of another site could use a name that leads here."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"localhost").decode("latin-1")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.lower() in _LOCAL_NAMES


def _header_bytes(scope: Scope) -> int:
    """The length of the request line and headers; h11 limits it only while they are incomplete."""
    line = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _known_method(method: str) -> str:
    return method if method in _METHODS else "other"
