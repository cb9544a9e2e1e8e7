from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.datasets import load_rcv1
from arcrank.experiments import dekel2003
from arcrank.experiments.outcomes import Outcome
from arcrank.graphs import LayeredGraphs


@pytest.mark.slow
def test_a_cell_of_figure_4_on_the_text_sample(corpus_of, monkeypatch):
    corpus_of(load_rcv1, "text-sample")
    selected = {"smoothing": 0.1, "virtual": 0.0, "max_iter": 5}
    monkeypatch.setattr(dekel2003, "_boosting_settings", lambda *_: selected)
    key = {"features": "counts", "fold": 0, "loss": "domination", "version": 0}
    boosted = dekel2003.run(solver="boosting", **key)
    regularised = dekel2003.run(solver="dual", **key)
    assert boosted["settings"] == selected
    assert regularised["settings"]["C"] in dekel2003.GRID
    assert regularised["n_features"] == dekel2003.N_WORDS
    assert regularised["errors"][2] < boosted["errors"][2] < 1
    assert regularised["errors"][2] < 0.35


def texts(n=150, k=6, n_words=80):
    random = np.random.default_rng(0)
    Y = np.eye(k, dtype=int)[random.integers(k, size=n)]
    X = random.poisson(0.1 + Y @ random.gamma(0.2, size=(k, n_words)))
    return sp.csr_matrix(X.astype(float)), LayeredGraphs.from_label_sets(Y)


def test_settings_of_boosting_are_selected_on_held_out_training_documents(monkeypatch):
    """With one good value and one that cannot learn in each grid, the good ones are selected."""
    monkeypatch.setattr(dekel2003, "SMOOTHING", (1e9, 0.1))
    monkeypatch.setattr(dekel2003, "VIRTUAL", (1e9, 0.0))
    monkeypatch.setattr(dekel2003, "ITERATIONS", (1, 30))
    assert dekel2003.select_boosting(*texts()) == {"smoothing": 0.1, "virtual": 0.0, "max_iter": 30}


def test_a_path_of_warm_starts_equals_one_fit():
    X, graphs = texts()
    settings = {"smoothing": 0.1, "virtual": 0.0}
    path = dekel2003._ranker("domination", "boosting", {**settings, "warm_start": True})
    for steps in (4, 6):
        path.set_params(max_iter=steps).fit(X, graphs)
    once = dekel2003._ranker("domination", "boosting", {**settings, "max_iter": 10}).fit(X, graphs)
    np.testing.assert_allclose(path.coef_, once.coef_, rtol=1e-12)


def test_figure_4_counts_verdicts_of_all_its_cells(monkeypatch):
    def cells(_features, solver):
        errors = [0.5, 0.04, 0.3, 0.1] if solver == "dual" else [0.6, 0.08, 0.3, 0.1]
        return [{"loss": loss, "errors": errors} for loss in dekel2003.DECOMPOSITIONS for _ in range(2)]

    monkeypatch.setattr(dekel2003, "cells", cells)
    outcome, ticks = Outcome("dekel-figure-4", ""), []
    dekel2003.figure4(outcome, lambda: ticks.append(1))
    assert len(ticks) == 48
    assert outcome.verdicts() == {"at or better": 78, "within 15 %": 6, "worse": 12, "no verdict": 0}


def test_the_table_shows_ours_beside_the_papers():
    cells = [
        {"loss": loss, "errors": [0.5, 0.04, 0.3, 0.1], "settings": {"C": 10.0, "max_iter": 40}, "seconds": 1.0}
        for loss in dekel2003.DECOMPOSITIONS
    ]
    table = dekel2003.format_table("words", "dual", cells)
    assert "0.3000 [0.350]" in table
    assert table.count("   10/40\n") == 4
