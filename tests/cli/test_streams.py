"""Closed and failing standard streams, in real processes: an exit code and a sentence, never a surprise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import arcrank
from tests.cli.conftest import Result, command

CLOSING = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-"}


def run_without(closed, *arguments, **streams) -> Result:
    """Run the command with some of the standard streams closed."""
    shell = ["sh", "-c", f'exec "$@" {" ".join(CLOSING[name] for name in closed)}', "sh"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run([*shell, *command(*arguments)], check=False, timeout=120, **pipes)
    return Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("--help", "evaluate", "check", "info")]


@pytest.fixture(params=["", "rank", *SLOW])
def printing(request, model, data) -> list:
    """A command whose product is what it prints."""
    files = {"rank": [model, data], "evaluate": [model, data], "check": [data], "info": [model]}
    return [*request.param.split(), *files.get(request.param, [])]


def told(result: Result, *words: str) -> None:
    """Exit code 2 and at most four lines that hold these words."""
    assert result.code == 2, result
    lines = [line for line in result.err.splitlines() if not line.startswith("read ")]
    assert 1 <= len(lines) <= 4, result.err
    for word in words:
        assert word in result.err, result.err


def test_closed_output(printing):
    told(run_without(["stdout"], *printing), "Standard output is closed", "Redirect it")


def test_closed_error(printing):
    result = run_without(["stderr"], *printing)
    assert (result.code, result.err) == (0, "")
    assert result.out


def test_everything_closed(printing):
    assert run_without(CLOSING, *printing) == Result(2, "", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_full_output(printing):
    with open("/dev/full", "wb") as full:
        told(run_without([], *printing, stdout=full), "Standard output", "No space left on device")


def test_output_that_nobody_reads(printing):
    reading, writing = os.pipe()
    os.close(reading)
    result = run_without([], *printing, stdout=writing)
    os.close(writing)
    assert result.code == 0
    assert "Error" not in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "closed"),
    [("mmp", ["stdin"]), ("log-linear", ["stdout"]), ("log-linear", ["stderr"]), ("mmp", list(CLOSING))],
)
def test_training_writes_a_file_whatever_is_closed(tmp_path, data, learner, closed):
    """A file that took the number of a closed stream would get what is told to the user."""
    path = tmp_path / "m.arcrank"
    result = run_without(closed, "train", data, "--model", path, "--learner", learner, "--validate", "0")
    assert result.code == 0, result.err
    arcrank.load(path)
    assert [left.name for left in tmp_path.iterdir()] == ["m.arcrank"]


@pytest.mark.slow
def test_a_report_that_was_asked_for_needs_an_output(tmp_path, data, model):
    path = tmp_path / "m.arcrank"
    arguments = ["train", data, "--model", path, "--learner", "mmp", "--json"]
    told(run_without(["stdout"], *arguments), "Standard output is closed")
    arcrank.load(path)
    assert run_without(["stdout"], "evaluate", model, data, "--report", tmp_path / "r.html").code == 0
    assert (tmp_path / "r.html").read_bytes().startswith(b"<!")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_messages_that_cannot_be_written_are_dropped(tmp_path, data):
    with open("/dev/full", "wb") as full:
        path = tmp_path / "m.arcrank"
        result = run_without([], "train", data, "--model", path, "--learner", "log-linear", stderr=full)
        assert result.code == 0
        assert "saved to" in result.out
        assert run_without([], "rank", tmp_path / "missing", data, stderr=full).code == 2


@pytest.mark.slow
def test_closed_input(model, data, tmp_path):
    told(run_without(["stdin"], "rank", model, "-"), "Standard input is closed", "path of a file")
    told(run_without(["stdin"], "train", "-", "--model", tmp_path / "m"), "Standard input is closed")
    told(run_without(["stdin"], "check", "-"), "Standard input is closed")
    assert run_without(["stdin"], "rank", model, data).code == 0
    assert run_without(["stdin", "stderr"], "rank", model, "-") == Result(2, "", "")


def test_input_that_cannot_be_read(model, tmp_path):
    with open(tmp_path / "written", "wb") as file:
        told(run_without([], "rank", model, "-", stdin=file), "standard input: cannot be read: Bad file descriptor")


@pytest.mark.slow
def test_the_library_works_without_standard_error():
    """Progress has nowhere to go; that is no reason to fail."""
    script = (
        "import numpy, sys, arcrank; assert sys.stderr is None\n"
        "arcrank.LogLinearRanker(verbose=2).fit(numpy.eye(3), list('abc'))\n"
        "print('fitted')"
    )
    shell = ["sh", "-c", 'exec "$@" 2>&-', "sh"]
    done = subprocess.run([*shell, sys.executable, "-c", script], stdout=subprocess.PIPE, check=False)
    assert done.stdout == b"fitted\n"
