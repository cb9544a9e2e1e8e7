from __future__ import annotations

import json
import re

import pytest

from arcrank.cli.commands.reproduce import run_all
from arcrank.errors import MissingDataError
from arcrank.experiments.registry import EXPERIMENTS
from arcrank.experiments.report import report
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell
from tests.experiments.small_papers import shrink


@pytest.fixture
def small(monkeypatch, tmp_path):
    shrink(monkeypatch, tmp_path)


def test_the_command_prints_reports_and_fits_its_schema(small, tmp_path):
    page = tmp_path / "r.html"
    done = call("reproduce", "crammer-table-1", "crammer-figure-4", "--json", "--report", page)
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    check_output(found, "reproduce")
    assert [one["name"] for one in found["experiments"]] == ["crammer-table-1", "crammer-figure-4"]
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert not re.search(r"(?:src|href)\s*=|https?:|url\(", text)
    shown = call("reproduce", "crammer-table-1").stdout
    assert "[15.71]" in shown
    assert re.search(r"crammer-table-1: \d at or better ✓, \d within 15 % ~, \d worse ✗, 9 without a verdict", shown)


def test_a_report_called_md_is_a_part_of_a_site(small, tmp_path):
    page = tmp_path / "r.MD"
    done = call("reproduce", "crammer-table-1", "crammer-figure-4", "--report", page)
    assert done.exit_code == 0, done.exception
    text = page.read_text(encoding="utf-8")
    assert "arcrank reproduce crammer-table-1 crammer-figure-4" in text
    assert all(word in text for word in ("numpy", "Python", "cores", "published 15.71"))
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Table 1: losses on Reuters-21578, five folds",
        "## Figure 4: losses while learning, Reuters-21578",
    ]
    plots = [line for line in text.splitlines() if "<svg" in line]
    assert len(plots) == 1  # one block of HTML, which Markdown leaves alone
    assert plots[0].count("<svg") == 3
    assert plots[0].startswith('<div class="plots"><figure>')
    assert plots[0].endswith("</figure></div>")
    assert "<figcaption>Reuters-21578: averaged loss 2</figcaption></figure>" in plots[0]
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert widths == {5}


def test_what_has_no_corpus_is_left_out_unless_it_was_named(small, monkeypatch):
    def missing(outcome, tick):
        raise MissingDataError("Not on this machine: it")

    broken = EXPERIMENTS["crammer-table-1"]._replace(run=missing)
    monkeypatch.setattr("arcrank.experiments.registry.EXPERIMENTS", {"a": broken, "b": EXPERIMENTS["crammer-table-3"]})
    outcomes, left_out = run_all([])
    assert [one.name for one in outcomes] == ["b"]
    assert "Skipped" in report(outcomes, left_out)
    with pytest.raises(MissingDataError):
        run_all(["a"])


def test_the_list_fits_its_schema():
    done = shell("reproduce", "--list", "--json")
    found = json.loads(done.stdout)
    check_output(found, "reproduce-list")
    assert {"dekel-figure-4", "aiolli-table-1", "crammer-table-4", "amini-figure-3"} <= {one["name"] for one in found}
    assert "crammer-table-1" in call("reproduce", "--list").stdout


def test_an_unknown_name_and_a_missing_corpus_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCRANK_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert_told(shell("reproduce", "dekel-figure-5"), "dekel-figure-5", "dekel-figure-4")
    assert_told(shell("reproduce", "crammer-table-1"), "Not on this machine", "reuters21578")
