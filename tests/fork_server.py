"""A process that imports the large libraries once, and is copied for each script that `tests.forked` sends.

It does not import arcrank: every script does that for itself, as in a process that was started for it.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import sys
import threading
import warnings
from typing import Any

import numba
import scipy.optimize
import scipy.sparse.linalg  # noqa: F401
import sklearn.linear_model
import sklearn.model_selection  # noqa: F401


def wait_for_job(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return a job and its standard streams in a copy of this process; None in the server, when no more will come."""
    while True:
        data, streams, _, _ = socket.recv_fds(connection, 2**16, 3)
        while data and not data.endswith(b"\n"):
            data += connection.recv(2**16)
        if not data:
            return None
        child = os.fork()
        if child == 0:
            connection.close()
            return json.loads(data), streams
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def use_streams(streams: list[int]) -> None:
    """Make these the standard streams; Python's own objects remember whether the old ones could be sought in."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    told = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = told


def run(job: dict[str, Any], streams: list[int]) -> None:
    """Do what `python ARGUMENTS` does."""
    use_streams(streams)
    signal.alarm(job["timeout"])  # ends the process
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    arguments = job["arguments"]
    while arguments[0] == "-W":
        warnings.simplefilter(arguments[1])
        arguments = arguments[2:]
    what, *rest = arguments
    first = os.path.dirname(what) if what not in ("-c", "-m") else job["cwd"]
    sys.path[:0] = [first, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    if what == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif what == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(what, run_name="__main__")


def finish(code: int) -> None:
    """End a copy as Python ends, but do not free the objects of the libraries, which takes longer than most jobs."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    numba.njit(lambda x: x + 1)(1)  # makes the compiler ready
    gc.freeze()  # a search for garbage would copy all pages
    found = wait_for_job(socket.socket(fileno=int(sys.argv[1])))
    if found is not None:
        try:
            run(*found)
        except SystemExit as end:
            if isinstance(end.code, str):
                sys.stderr.write(f"{end.code}\n")
            finish(end.code if isinstance(end.code, int) else int(end.code is not None))
        except BaseException:
            sys.excepthook(*sys.exc_info())
            finish(1)
        finish(0)
