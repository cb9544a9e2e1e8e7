"""Errors as application/problem+json (RFC 9457), in the sentences of the library."""

from __future__ import annotations

import http
import re

import msgspec
from starlette.responses import Response

from arcrank.errors import ArcrankError, InputError, ParameterError

__all__ = ["Problem", "ProblemError", "as_problem", "problem_response"]

_FIELD = re.compile(r"--(threshold|recall|above|below|cut|top)\b")


class Problem(msgspec.Struct):
    """What went wrong and what to do about it."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


class ProblemError(Exception):
    """An answer that is an error, raised anywhere while a request is handled."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}


def problem_response(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as an answer."""
    body = msgspec.json.encode(Problem(http.HTTPStatus(status).phrase, status, detail))
    return Response(body, status, headers, media_type="application/problem+json")


def as_problem(error: Exception) -> ProblemError:
    """Return the answer for an error of the library; what the client sent is 422, all else is 500."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, InputError | ParameterError):
        return ProblemError(422, _for_clients(str(error)))
    if isinstance(error, MemoryError):
        return ProblemError(503, "The server has too little memory for this request.", {"Retry-After": "10"})
    if isinstance(error, ArcrankError):
        return ProblemError(500, _for_clients(str(error)))
    return ProblemError(500, "The server failed to handle this request; its log says why.")


def _for_clients(message: str) -> str:
    """The sentence for clients of the server, who write fields rather than flags.

    >>> _for_clients("--threshold and --recall both decide.")
    'threshold and recall both decide.'
    >>> _for_clients("Train it with arcrank train --learner auto.")
    'Train it with arcrank train --learner auto.'
    """
    return _FIELD.sub(r"\1", message.replace("\n", " "))
