from __future__ import annotations

import io
import sys

import pytest

from arcrank.solvers.history import History


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_entries_are_numbered_and_timed():
    history = History()
    assert not history.add(loss=2.0, gap=0.5)
    assert not history.add(loss=1.0, gap=0.1)
    assert [entry["iteration"] for entry in history.entries] == [1, 2]
    assert history.entries[0]["seconds"] <= history.entries[1]["seconds"]


def test_a_callback_sees_each_entry_and_may_stop():
    seen = []
    history = History(lambda entry: seen.append(entry["loss"]) or entry["loss"] < 1)
    assert [history.add(loss=loss) for loss in (2.0, 0.5)] == [False, True]
    assert seen == [2.0, 0.5]


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_progress_goes_to_standard_error(verbose, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    history = History(total=9, verbose=verbose)
    for loss in (3.0, 2.0, 1.0):
        history.add(loss=loss)
    history.close()
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) == {0: 0, 1: 1, 2: 3}[verbose]  # no terminal: a line now and then, not one an iteration
    assert not lines or lines[0].startswith("iteration 1/9  loss 3")


def test_a_terminal_sees_one_line_that_changes(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    history = History(verbose=1)
    history.add(loss=3.0)
    history.add(loss=2.0)
    history.close()
    assert sys.stderr.getvalue().count("\n") == 1
    assert sys.stderr.getvalue().count("\r") == 2
