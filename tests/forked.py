"""Python processes that are ready at once: copies of one process that has imported NumPy, scikit-learn and numba.

For tests of what a script or the command does in a process of its own. Tests of how a process starts and ends, of
signals and of variables that libraries read when they are imported start one themselves.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

SERVER = Path(__file__).with_name("fork_server.py")


def run_python(
    *arguments: object,
    stdin: bytes | str = b"",
    cwd: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: int = 300,
) -> subprocess.CompletedProcess[str]:
    """Do what `python ARGUMENTS` does; variables of the environment are added to those of this process."""
    given = [str(argument) for argument in arguments]
    job = {
        "arguments": given,
        "cwd": str(cwd or os.getcwd()),
        "environment": {**os.environ, **(environment or {})},
        "timeout": timeout,
    }
    (for_reading, to_write), (to_read, out), (to_read_too, err) = os.pipe(), os.pipe(), os.pipe()
    connection = _server()
    socket.send_fds(connection, [json.dumps(job).encode() + b"\n"], [for_reading, out, err])
    for end in (for_reading, out, err):
        os.close(end)
    with ThreadPoolExecutor(3) as threads:
        threads.submit(_write, to_write, stdin.encode() if isinstance(stdin, str) else stdin)
        printed, told = threads.map(_read, (to_read, to_read_too))
    return subprocess.CompletedProcess(given, int(connection.recv(100)), printed, told)


@cache
def _server() -> socket.socket:
    """Start the process that is copied; it ends when this one does."""
    ours, theirs = socket.socketpair()
    # One thread for linear algebra: a process with threads cannot be copied, and tests have few cores.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-P", str(SERVER), str(theirs.fileno())],
            env={**os.environ, **threads},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)  # before it
    return ours


def _read(end: int) -> str:
    with open(end, encoding="utf-8", newline="") as stream:
        return stream.read()


def _write(end: int, data: bytes) -> None:
    with open(end, "wb") as stream:
        stream.write(data)
