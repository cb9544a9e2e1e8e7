"""Several processes that share one address. The first one learns, where learning is allowed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from arcrank.server.app import Application
from arcrank.server.run import serve
from arcrank.server.settings import Settings

__all__ = ["run_workers"]

_PAUSE = 0.2  # seconds between looks at the processes
_RESTART = 1.0  # a process that fails at its start must not keep a core busy


class _Task(msgspec.Struct):
    """What a process is given on its standard input."""

    descriptor: int
    paths: list[str]
    settings: Settings
    socket: str
    writes: bool


class _Supervisor:
    def __init__(self, listener: socket.socket, paths: list[Path], settings: Settings, folder: str) -> None:
        self._listener = listener
        self._paths = [str(path.absolute()) for path in paths]
        self._settings = settings
        self._socket = str(Path(folder) / "learning.sock")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_stopping = False

    def run(self) -> None:
        """Start the processes, start again those that end, and stop when a signal says so."""
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGHUP, lambda *_: self._send(signal.SIGHUP))
        self._processes = [self._start(number) for number in range(self._settings.workers)]
        while any(process.poll() is None for process in self._processes) or not self._is_stopping:
            for number, process in enumerate(self._processes):
                if process.poll() is not None and not self._is_stopping:
                    time.sleep(_RESTART)
                    self._processes[number] = self._start(number)
            time.sleep(_PAUSE)

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        task = _Task(self._listener.fileno(), self._paths, self._settings, self._socket, number == 0)
        process = subprocess.Popen(
            [sys.executable, "-m", "arcrank.server.workers"],
            stdin=subprocess.PIPE,
            pass_fds=[self._listener.fileno()],
            start_new_session=True,  # Ctrl-C goes to this process, which stops the others
        )
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended already
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
        return process

    def _stop(self, *_: Any) -> None:
        self._is_stopping = True
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)


def run_workers(listener: socket.socket, paths: list[Path], settings: Settings) -> None:
    """Serve with several processes until a signal ends them."""
    with tempfile.TemporaryDirectory(prefix="arcrank-") as folder:
        _Supervisor(listener, paths, settings, folder).run()


def _stop_with_supervisor() -> None:
    """The pipe from the supervisor is closed when it ends, however it ends."""
    sys.stdin.buffer.read()
    signal.raise_signal(signal.SIGTERM)


def _main() -> None:
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=_Task)
    threading.Thread(target=_stop_with_supervisor, daemon=True).start()
    sock = Path(task.socket)
    if task.writes:
        sock.unlink(missing_ok=True)  # of a process that was killed
    application = Application([Path(path) for path in task.paths], task.settings, socket=sock, writes=task.writes)
    serve(socket.socket(fileno=task.descriptor), application)


if __name__ == "__main__":
    _main()
