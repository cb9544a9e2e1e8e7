"""A transport that sends an answer at once, and does not wait for clients that do not read it."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["AnswerTransport"]


class AnswerTransport:
    """Joins the parts of an answer, such as headers and body, into one packet.

    uvicorn writes an answer in three parts, and each would be a system call of its own. They are sent by `flush`, or
    at the next step of the event loop.

    Parameters
    ----------
    transport : asyncio.Transport
        What is written to.
    patience : float
        Seconds after which a closed connection is cut off, if the client has not read its answer by then.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, patience: float) -> None:
        self._transport = transport
        self._loop = loop
        self._patience = patience
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data with the other parts of the answer."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send what was written."""
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        """Close the connection when everything is sent, or when the client has had its time."""
        self.flush()
        self._transport.close()
        if self._transport.get_write_buffer_size():
            self._loop.call_later(self._patience, self._transport.abort)
