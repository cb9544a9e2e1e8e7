"""HTTP connections with what uvicorn lacks: a deadline for the whole request, and limits of headers and connections.

Clients that do not read their answers are cut off as well.
"""

from __future__ import annotations

import asyncio
import http
import sys
from typing import Any, cast

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from arcrank.server.problems import Problem
from arcrank.server.settings import Limits
from arcrank.server.transport import AnswerTransport

__all__ = ["protocol_class"]

_LAST_WORD = 1.0  # seconds in which the application can answer that a body is late


class LimitedProtocol(H11Protocol):
    """A connection whose requests have to arrive in time."""

    limits: Limits

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.app_state = {**self.app_state, "requests": self.tasks}  # of all connections; the deadline is its own
        self._arrival: asyncio.TimerHandle | None = None
        self._departure: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(cast("asyncio.Transport", AnswerTransport(transport, self.loop, self.limits.request)))
        if len(self.connections) > self.limits.connections:
            self._refuse(503, f"The server has {self.limits.connections:,} connections. Try again later.")
            return
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        if self._arrival is None:
            self._expect()
        super().data_received(data)
        self._note_arrival()

    def on_response_complete(self) -> None:
        """Send the answer, and begin the next request, if some of it is here already."""
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()
        self._note_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a client that does not read its answer some time, then cut it off."""
        super().pause_writing()
        self._departure = self.loop.call_later(self.limits.request, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._departure is not None:
            self._departure.cancel()
            self._departure = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP; h11 says with which status, such as 431 for headers that are too long."""
        error = sys.exc_info()[1]
        status = int(getattr(error, "error_status_hint", 400))
        detail = f"The headers are longer than {self.limits.header_bytes:,} bytes." if status == 431 else msg
        self._refuse(status, detail)

    def _expect(self) -> None:
        self.app_state["deadline"] = self.loop.time() + self.limits.arrival
        self._arrival = self.loop.call_later(self.limits.arrival, self._late)

    def _note_arrival(self) -> None:
        """Stop the clock when a request is complete, and between requests."""
        state = self.conn.their_state
        is_idle = state is h11.IDLE and not self.conn.trailing_data[0]
        if state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR) or (is_idle and self.cycle is not None):
            self._stop_waiting()
        elif self._arrival is None:
            self._expect()

    def _stop_waiting(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _late(self) -> None:
        """Answer a request whose headers are late; the application answers a late body, or the connection is cut."""
        if self.conn.their_state is h11.IDLE:
            self._refuse(408, f"The request did not arrive within {self.limits.arrival:g} s.")
        else:
            self._arrival = self.loop.call_later(_LAST_WORD, self.transport.abort)

    def _refuse(self, status: int, detail: str) -> None:
        if self.transport.is_closing():
            return
        phrase = http.HTTPStatus(status).phrase
        body = msgspec.json.encode(Problem(phrase, status, detail))
        headers = [
            ("content-type", "application/problem+json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
            *([("retry-after", "1")] if status == 503 else []),
        ]
        try:
            for event in (
                h11.Response(status_code=status, headers=headers, reason=phrase.encode()),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer is being sent already
            self.transport.abort()
            return
        self.transport.close()
        self.loop.call_later(_LAST_WORD, self.transport.abort)


def protocol_class(limits: Limits) -> type[LimitedProtocol]:
    """Connections with these limits."""
    return type("Protocol", (LimitedProtocol,), {"limits": limits})
