"""Read and check the bodies of requests: their type, their length as it arrives, and their time of arrival."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from arcrank.server.problems import ProblemError
from arcrank.server.settings import Limits

__all__ = ["decode", "read_body"]

T = TypeVar("T")
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the body, or raise the answer to one that is too long, too slow or not JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "The body must be JSON, with the header Content-Type: application/json.", _CLOSE)
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > limits.body_bytes:
        raise _too_long(limits)
    try:
        async with asyncio.timeout_at(_deadline(request, limits)):
            return await _read(request, limits)
    except TimeoutError:
        raise ProblemError(
            408, f"The request did not arrive within {limits.arrival:g} s. Send it again, faster.", _CLOSE
        ) from None
    except ClientDisconnect:
        raise ProblemError(400, "The connection was closed before the request was complete.", _CLOSE) from None


def _deadline(request: Request, limits: Limits) -> float:
    """When the whole request has to be here; the connection knows when it began."""
    now = asyncio.get_running_loop().time()
    return float(request.scope.get("state", {}).get("deadline", now + limits.arrival))


async def _read(request: Request, limits: Limits) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limits.body_bytes:
            raise _too_long(limits)
        parts.append(part)
    return b"".join(parts)


def _too_long(limits: Limits) -> ProblemError:
    return ProblemError(
        413, f"The body is longer than the {limits.body_bytes:,} bytes that are allowed. Send fewer documents.", _CLOSE
    )


def decode(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return the request; 400 for what is not JSON, 422 for JSON that says something else."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ProblemError(422, f"{_sentence(error)}; /openapi.json describes what is allowed.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProblemError(400, f"The body is not valid JSON in UTF-8: {_sentence(error)}.") from None


def _sentence(error: Any) -> str:
    return str(error).rstrip(".")[:300]
