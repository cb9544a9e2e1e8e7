"""With several processes, one learns: the others send it what clients want to write, over a private socket."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import Response

from arcrank.server.operations import OPERATIONS
from arcrank.server.problems import ProblemError, as_problem

__all__ = ["Forwarder", "start_receiver"]

_LENGTH = struct.Struct("<I")
_REQUESTS: dict[str, Any] = {one.name: one.request for one in OPERATIONS if one.writes}


class _Reply(msgspec.Struct):
    status: int
    body: bytes = b""
    detail: str = ""


class Forwarder:
    """Sends requests to the process that learns."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def send(self, name: str, model: str, asked: Any) -> Response:
        """Return the answer of the process that learns."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(self._socket))
        except OSError:
            raise ProblemError(
                503, "The process that learns is not there. Try again later.", {"Retry-After": "2"}
            ) from None
        try:
            await _write(writer, msgspec.msgpack.encode((name, model, msgspec.msgpack.encode(asked))))
            reply = msgspec.msgpack.decode(await _read(reader), type=_Reply)
        except (OSError, asyncio.IncompleteReadError):
            raise ProblemError(
                503, "The process that learns has stopped. Try again later.", {"Retry-After": "2"}
            ) from None
        finally:
            writer.close()
        if reply.status != 200:
            raise ProblemError(reply.status, reply.detail)
        return Response(reply.body, media_type="application/json")


Handle = Callable[[str, str, Any], Awaitable[Any]]


async def start_receiver(socket: Path, handle: Handle) -> asyncio.AbstractServer:
    """Answer the requests of other processes."""

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            name, model, body = msgspec.msgpack.decode(await _read(reader), type=tuple[str, str, bytes])
            asked = msgspec.msgpack.decode(body, type=_REQUESTS[name])
            await _write(writer, msgspec.msgpack.encode(await _reply(handle, name, model, asked)))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other process has ended
        finally:
            writer.close()

    return await asyncio.start_unix_server(receive, str(socket))


async def _reply(handle: Handle, name: str, model: str, asked: Any) -> _Reply:
    try:
        return _Reply(200, msgspec.json.encode(await handle(name, model, asked)))
    except Exception as error:
        problem = as_problem(error)
        return _Reply(problem.status, detail=problem.detail)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(_LENGTH.pack(len(data)) + data)
    await writer.drain()


async def _read(reader: asyncio.StreamReader) -> bytes:
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return await reader.readexactly(length)
