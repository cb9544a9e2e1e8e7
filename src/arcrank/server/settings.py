"""Addresses, limits and permissions of a server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True)
class Limits:
    """What one request or client may use. Times are in seconds.

    Attributes
    ----------
    body_bytes : int
        The longest body, counted as it arrives.
    header_bytes : int
        The longest request line with headers.
    arrival : float
        How long the whole request may take to arrive.
    request : float
        How long an answer may take.
    texts : int
        Documents per request.
    characters : int
        Characters of a document.
    cells : int
        Labels of all rankings of an answer.
    queue : int
        Documents that may wait; beyond it the answer is 503.
    connections : int
        Open connections.
    """

    body_bytes: int = 1 << 20
    header_bytes: int = 16 << 10
    arrival: float = 10.0
    request: float = 30.0
    texts: int = 1_000
    characters: int = 500_000
    cells: int = 500_000
    queue: int = 2_000
    connections: int = 1_000


@dataclass(frozen=True)
class Settings:
    """How a server runs; `token` is needed for everything but reading."""

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    allow_learning: bool = False
    token: str | None = None
    grace: float = 10.0
    watch: float = 2.0
    log_texts: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect.

        >>> Settings("127.0.0.1").is_local, Settings("localhost").is_local, Settings("0.0.0.0").is_local
        (True, True, False)
        """
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
