"""Ctrl-C and SIGTERM at many moments of real processes: no traceback, nothing half-written, the right exit code."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time

import pytest

import arcrank
from tests.cli.conftest import command

# Before the entry point Python itself starts, and nobody but Python handles its Ctrl-C: the mark is written by the
# first thing that the command does.
ENTER = """
import sys, time
from arcrank.__main__ import main
from arcrank.cli import signals

def catch_signals(real=signals.catch_signals):
    real()
    sys.stderr.write("!")
    sys.stderr.flush()
    time.sleep(0.05)  # the first signal comes before the work is done, however fast that is

signals.catch_signals = catch_signals
main()
"""
MOMENTS = 8


def start(*arguments) -> subprocess.Popen[bytes]:
    """Start the command; on return it has entered its entry point."""
    child = subprocess.Popen(
        [sys.executable, "-c", ENTER, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stderr.read(1) == b"!"
    return child


def stop_at_moments(number, *arguments):
    """Send the signal at moments from the entry to the end, and give exit codes and standard errors."""
    child = start(*arguments)
    begun = time.perf_counter()  # the interpreter has started, which takes longest on a busy machine
    child.communicate(timeout=120)
    duration = time.perf_counter() - begun
    for moment in range(MOMENTS):
        child = start(*arguments)
        time.sleep(duration * moment / MOMENTS)
        child.send_signal(number)
        err = child.communicate(timeout=120)[1].decode()
        yield child.returncode, err


def check_stopped(code: int, err: str, number: int, word: str) -> None:
    assert code in (0, -number, 128 + number), err  # done already; before or after our handling; within it
    assert "Traceback" not in err
    assert "ignored" not in err
    assert "should not happen" not in err
    if code == 130:
        assert err.endswith(f"{word}\n")
        assert err.count(word) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["rank"]])
def test_interrupting_start_up(arguments, model, data):
    files = [model, data] if "rank" in arguments else []
    codes = []
    for code, err in stop_at_moments(signal.SIGINT, *arguments, *files):
        check_stopped(code, err, signal.SIGINT, "Interrupted.")
        codes.append(code)
    assert 130 in codes


@pytest.mark.slow
@pytest.mark.parametrize(("number", "learner"), [(signal.SIGINT, "log-linear"), (signal.SIGTERM, "mmp")])
def test_stopped_training_leaves_the_old_model_or_the_new_one(tmp_path, data, model, number, learner):
    path = shutil.copy(model, tmp_path / "m.arcrank")
    codes = []
    for code, err in stop_at_moments(number, "train", data, "--model", path, "--learner", learner):
        check_stopped(code, err, number, "Interrupted.")
        assert [left.name for left in tmp_path.iterdir()] == ["m.arcrank"]
        arcrank.load(path)
        codes.append(code)
    assert 128 + number in codes


def test_a_signal_that_the_parent_ignores_stays_ignored(data):
    """As in `nohup`, or for a job in the background of a script."""
    shell = ["sh", "-c", "trap '' INT; echo; exec \"$@\"", "sh"]
    child = subprocess.Popen([*shell, *command("check", data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.readline()
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert child.communicate()[1] == b""
    assert child.returncode == 0


def test_an_interrupt_that_python_drops_comes_again():
    """Exceptions in callbacks of weak references are only printed."""
    script = (
        "import signal, sys, time, weakref\n"
        "from arcrank.cli.signals import catch_signals, caught_signal\n"
        "class Thing: pass\n"
        "catch_signals()\n"
        "thing = Thing()\n"
        "reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "try:\n"
        "    del thing\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(caught_signal())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (signal.SIGINT, b"")


def test_an_interrupt_that_a_library_turns_into_another_error():
    script = (
        "import signal, sys\n"
        "from arcrank.cli import app\n"
        "def fail(**_):\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        raise ImportError('numpy.core.multiarray failed to import')\n"
        "app.app = fail\n"
        "app.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (130, b"Interrupted.\n")
