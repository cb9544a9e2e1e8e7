from __future__ import annotations

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.cli.commands.reproduce import run_all
from arcrank.datasets import Corpus
from arcrank.errors import MissingDataError
from arcrank.experiments import amini_runs, bipartite_runs, category_ranking_runs, leaf_ranking, preference_table
from arcrank.experiments.outcomes import Outcome, Value
from arcrank.experiments.registry import EXPERIMENTS, run
from arcrank.experiments.report import markdown, report
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell

RECALLS = list(np.linspace(0.9, 0.1, 11))


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The papers' runs with made-up data, in a cache of their own: every cell is a formality."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.RandomState(0)
    X = sp.csr_matrix(random.rand(60, 8))
    Y = sp.csr_matrix(random.rand(60, 4) < 0.4)

    def fold(number):
        rows = np.arange(60) % 3 == number
        return category_ranking_runs.Fold(X[~rows], Y[~rows], X[rows], Y[rows])

    monkeypatch.setattr("arcrank.datasets.load_rcv1", lambda: None)
    for corpus, n in (("Reuters-21578", 3), ("RCV1", 1)):
        monkeypatch.setitem(category_ranking_runs.CORPORA, corpus, (n, fold, lambda: (X, Y)))
    monkeypatch.setattr(leaf_ranking, "run", lambda **key: {"errors": [0.5, 0.1, 0.3, 0.1], "C": 1.0, "seconds": 0.0})
    rows = [preference_table.Row(m, None, p, p) for m, p in preference_table.PUBLISHED.items()]
    monkeypatch.setattr(preference_table, "table", lambda corpus: iter(rows))
    monkeypatch.setattr("arcrank.datasets.load_reuters21578", lambda selection: None)
    _small_study(monkeypatch)


def _small_study(monkeypatch):
    def cell(self, name, topic, number, n_relevant=0, n_irrelevant=0):
        made = bipartite_runs.Cell(name, topic, number, n_relevant, n_irrelevant, self.n_rounds)
        made.aup = made.auc = made.t9p = 0.5 + 0.01 * number
        made.precision = RECALLS
        return made

    topics = [f"topic{i}" for i in range(10)]
    corpus = Corpus(labels=topics, texts=[""] * 300, label_sets=[[topics[i % 10]] for i in range(300)])
    monkeypatch.setattr(bipartite_runs.Study, "cell", cell)
    monkeypatch.setattr(bipartite_runs.Study, "corpus", corpus)
    monkeypatch.setattr(bipartite_runs.Study, "counts", sp.csr_matrix((300, 3)))


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_experiment_gives_values_and_as_many_cells_as_it_says(small, name):
    ticks = []
    outcome = run(name, lambda: ticks.append(1))
    assert outcome.values
    assert all(np.isfinite(value.measured) for value in outcome.values)
    if name.startswith("amini") or name in ("dekel-figure-4", "aiolli-table-1"):
        assert len(ticks) == EXPERIMENTS[name].n_cells()
    assert bool(outcome.plots) == ("crammer-figure" in name or "amini-figure" in name)
    json.dumps(outcome.to_json())


def test_a_second_run_reads_the_finished_cells(small, monkeypatch):
    first = run("aiolli-table-1", lambda: None)
    monkeypatch.setattr(preference_table, "table", None)
    assert run("aiolli-table-1", lambda: None).values == first.values
    assert first.verdicts()["at or better"] == 20


def test_only_the_column_of_the_paper_has_published_values_in_table_3_of_amini(small):
    values = run("amini-table-3", lambda: None).values
    published = {value.column for value in values if value.published is not None}
    assert published == {"RB", "TSVM", "ssLR", "ssRB k=2"}
    assert {value.verdict for value in values if value.column in ("ssRB k=3", "ssRB k=5")} == {"no verdict"}


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


def test_names_cannot_change_the_markdown():
    one = Outcome("n", "<t> *a*", "a|b\nc", values=[Value("a|b", "x_y", 1.0), Value("`b`", "y", 2.0, 1.0)])
    text = markdown([one], {"gone": "no [file](here)"})
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [row.count("|") for row in rows] == [4] * 4 + [3] * 3
    assert "&lt;t&gt; &#42;a&#42;" in text
    assert "[file]" not in text
    both = [Outcome("n", "Table 1", paper="A & B 2002"), Outcome("m", "Table 1", paper="C 2003")]
    assert "## A &amp; B 2002, Table 1\n" in markdown(both, {})
    assert "| &#96;b&#96; |  | 2" in text


def test_what_has_no_corpus_is_left_out_unless_it_was_named(small, monkeypatch):
    def missing(outcome, tick):
        raise MissingDataError("Not on this machine: it")

    broken = EXPERIMENTS["crammer-table-1"]._replace(run=missing)
    monkeypatch.setattr("arcrank.experiments.registry.EXPERIMENTS", {"a": broken, "b": EXPERIMENTS["crammer-table-3"]})
    outcomes, left_out = run_all([])
    assert [one.name for one in outcomes] == ["b"]
    assert "Left out" in report(outcomes, left_out)
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


def test_verdicts_round_as_the_paper_did():
    assert Value("", "", 0.8384, 0.84, higher_is_better=True).verdict == "at or better"
    assert Value("", "", 0.834, 0.84, higher_is_better=True).verdict == "within 15 %"
    assert Value("", "", 0.5, 0.84, higher_is_better=True).verdict == "worse"
    assert Value("", "", 0.5, 0.84, comparable=False).verdict == "no verdict"


def test_holes_in_a_table_are_shown_as_such():
    one = Outcome("n", "<t>", values=[Value("a", "x", 1.0), Value("b", "y", 2.0, 1.0)])
    text = report([one], {})
    assert "&lt;t&gt;" in text
    assert "<td></td>" in text


def test_ohsumed_is_measured_where_it_is(small, monkeypatch):
    monkeypatch.setattr(amini_runs, "_collections", lambda: ["Reuters-21578", "OHSUMED"])
    outcome = Outcome("amini-table-2", "t")
    amini_runs.table2(outcome, lambda: None)
    assert any(value.row.startswith("OHSUMED, ") and value.published for value in outcome.values)
