"""Tables and figures of Crammer & Singer 2002: arithmetic on made cells, resuming, and one real fold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.datasets import load_reuters21578
from arcrank.experiments.crammer2002 import drawings, figures, runs, tables
from arcrank.experiments.crammer2002.__main__ import main
from arcrank.experiments.crammer2002.runs import MEASURES, RANKERS, Cell, Fold


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def small(monkeypatch):
    """Reuters-21578 replaced by three folds of a small random corpus; the list tells which folds were made."""
    random = np.random.default_rng(0)
    X, Y = sp.csr_matrix(random.random((90, 8))), sp.csr_matrix(random.random((90, 4)) < 0.4)
    made = []

    def fold(number):
        made.append(number)
        rows = np.arange(90) % 3 == number
        return Fold(X[~rows], Y[~rows], X[rows], Y[rows])

    monkeypatch.setitem(runs.CORPORA, "Reuters-21578", (3, fold, lambda: (X, Y)))
    return made


def made_cell(ranker, fold, value):
    return Cell("Reuters-21578", fold, ranker, dict.fromkeys(MEASURES, value))


def test_rows_are_means_over_folds_beside_the_published_values():
    found = tables.rows([made_cell("Perceptron", fold, value) for fold, value in enumerate((1.0, 2.0, 6.0))])
    assert [row.measure for row in found] == list(MEASURES)
    assert {(row.mean, round(row.deviation, 6)) for row in found} == {(3.0, round(7**0.5, 6))}
    assert [row.published for row in found] == [15.71, 4.87, 3.13, 9.59, 4.27, 0.91, 0.89]
    assert "3.000 ± 2.646 [15.71]" in tables.format_tables("Reuters-21578", found)


def test_comparisons_are_paired_over_folds():
    values = {"MMP loss 1": (1.0, 2.0), "MMP loss 2": (1.5, 2.6), "MMP loss 3": (0.0, 3.0)}
    found = tables.compare(made_cell(name, f, v) for name, pair in values.items() for f, v in enumerate(pair))
    first = found[0]
    assert (first.measure, first.ranker, first.other) == ("loss 1 %", "MMP loss 1", "MMP loss 2")
    assert (first.folds_won, first.n_folds) == (2, 2)
    np.testing.assert_allclose(first.difference, -0.55)
    assert 0.0 < first.p_value < 0.1
    assert len(found) == 6


def test_finished_cells_are_not_run_again(small):
    first = list(runs.cells("Reuters-21578"))
    assert len(first) == 3 * len(RANKERS)
    assert small == [0, 1, 2]
    assert list(runs.cells("Reuters-21578")) == first
    assert small == [0, 1, 2]
    assert list(runs.cells("Reuters-21578", fresh=True)) == first
    assert small == [0, 1, 2, 0, 1, 2]


def test_main_prints_tables_and_draws_figures(small, tmp_path, capsys):
    main(["--corpus", "Reuters-21578", "--plots", str(tmp_path / "plots")])
    out = capsys.readouterr().out
    assert "Table 1: Reuters-21578" in out
    assert "MMP loss 2 - MMP loss 3" in out
    names = {path.name for path in (tmp_path / "plots").iterdir()}
    assert names == {f"figure{number}-Reuters-21578.png" for number in (3, 4, 6)}


def test_curves_are_drawn_for_the_online_rankers_only(small):
    figure = drawings.figure(figures.losses_plots("Reuters-21578", list(runs.cells("Reuters-21578"))))
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == [name for name in RANKERS if name != "Rocchio"]
        left, right = axes.get_xlim()
        assert left < 1 < axes.lines[0].get_xdata()[-1] < right < 100  # at most 60 rounds fill the axis


@pytest.mark.slow
def test_reuters_comes_out_as_published(corpus_of):
    corpus_of(load_reuters21578, "modapte")
    cells = list(runs.cells("Reuters-21578"))
    for row in tables.rows(cells):
        greater_is_better = row.measure in ("avg. precision", "max F1")
        if row.ranker == "MMP loss 3":  # to the two decimals that were printed
            worse = (row.published - round(row.mean, 2)) * (1 if greater_is_better else -1)
            assert worse <= 0, row
        elif row.published is not None:
            assert abs(row.mean / row.published - 1) < 0.15, row
    for one in tables.compare(cells):
        assert one.difference < 0, one
