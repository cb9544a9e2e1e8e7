"""From the path of a request to what answers it, by two look-ups: there are few routes, and one parameter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arcrank.server.problems import ProblemError

__all__ = ["Endpoint", "Route", "Router"]

Endpoint = Callable[[Request], Awaitable[Response]]
Route = tuple[str, str, Endpoint]
"""The method, the path and what answers; the path may have one parameter, `{model}`, as its third part."""

_PARAMETER = "{model}"
_PLACE = 3  # of the parameter, in "/v1/models/{model}/..." cut at its slashes


class Router:
    """The routes of the server.

    Parameters
    ----------
    routes : list of (method, path, endpoint)
        A path that takes GET takes HEAD as well.
    """

    def __init__(self, routes: list[Route]) -> None:
        self._endpoints: dict[str, dict[str, Endpoint]] = {}
        for method, path, endpoint in routes:
            found = self._endpoints.setdefault(path, {})
            found.update(dict.fromkeys(["GET", "HEAD"] if method == "GET" else [method], endpoint))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or raise a ProblemError; `arcrank.route` of the scope is the route for the metrics."""
        path, parameters = self._find(scope["path"])
        endpoints = self._endpoints[path]
        endpoint = endpoints.get(scope["method"])
        if endpoint is None:
            raise ProblemError(405, "This path does not take this method.", {"Allow": ", ".join(endpoints)})
        scope["path_params"] = parameters
        scope["arcrank.route"] = path
        response = await endpoint(Request(scope, receive))
        await response(scope, receive, send)

    def _find(self, path: str) -> tuple[str, dict[str, Any]]:
        """The path of a route, and its parameter."""
        if path in self._endpoints and _PARAMETER not in path:
            return path, {}
        parts = path.split("/")
        if len(parts) > _PLACE and parts[_PLACE]:
            name, parts[_PLACE] = parts[_PLACE], _PARAMETER
            route = "/".join(parts)
            if route in self._endpoints:
                return route, {"model": name}
        raise ProblemError(404, "There is nothing at this path; /openapi.json lists what there is.")
