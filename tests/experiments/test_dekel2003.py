from __future__ import annotations

from arcrank.datasets import load_rcv1
from arcrank.experiments import dekel2003


def test_a_cell_of_figure_4_on_the_text_sample(corpus_of, monkeypatch):
    corpus_of(load_rcv1, "text-sample")
    monkeypatch.setattr(dekel2003, "ITERATIONS", 5)
    key = {"features": "counts", "fold": 0, "loss": "domination", "version": 0}
    boosted = dekel2003.run(solver="boosting", **key)
    regularised = dekel2003.run(solver="dual", **key)
    assert boosted["C"] is None
    assert regularised["C"] in dekel2003.GRID
    assert regularised["n_features"] == dekel2003.N_WORDS
    assert regularised["errors"][2] < boosted["errors"][2] < 1
    assert regularised["errors"][2] < 0.35


def test_the_table_shows_ours_beside_the_papers():
    cells = [
        {"loss": loss, "errors": [0.5, 0.04, 0.3, 0.1], "C": 10.0, "seconds": 1.0} for loss in dekel2003.DECOMPOSITIONS
    ]
    table = dekel2003.format_table("words", "dual", cells)
    assert "0.3000 [0.350]" in table
    assert table.count("10\n") == 4
