"""The papers' experiments on small random data, so that each takes a moment."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arcrank.datasets import Corpus
from arcrank.experiments import aiolli2004, crammer2002, dekel2003
from arcrank.experiments.amini2008.study import Study
from arcrank.experiments.crammer2002.runs import CORPORA, Fold

RECALLS = list(np.linspace(0.9, 0.1, 11))


def shrink(monkeypatch, tmp_path):
    """Replace the corpora by small random ones and the long runs by constants, with an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.RandomState(0)
    X = sp.csr_matrix(random.rand(60, 8))
    Y = sp.csr_matrix(random.rand(60, 4) < 0.4)

    def fold(number):
        rows = np.arange(60) % 3 == number
        return Fold(X[~rows], Y[~rows], X[rows], Y[rows])

    monkeypatch.setattr(crammer2002, "load_rcv1", lambda: None)
    for corpus, n in (("Reuters-21578", 3), ("RCV1", 1)):
        monkeypatch.setitem(CORPORA, corpus, (n, fold, lambda: (X, Y)))
    monkeypatch.setattr(
        dekel2003, "run", lambda **key: {"errors": [0.5, 0.1, 0.3, 0.1], "settings": {}, "seconds": 0.0}
    )
    published = {name: values for name, (_, values) in aiolli2004.BASELINES.items()}
    published |= {name: aiolli2004.PUBLISHED[name] for name in aiolli2004.OWN_ERROR}
    rows = [aiolli2004.Row(name, None, values or [50.0] * 5, values) for name, values in published.items()]
    monkeypatch.setattr(aiolli2004, "rows", lambda corpus: iter(rows))
    monkeypatch.setattr(aiolli2004, "load_reuters21578", lambda selection: None)
    _shrink_study(monkeypatch)


def _shrink_study(monkeypatch):
    def finished(self, cell):
        cell.aup = cell.auc = cell.t9p = 0.5 + 0.01 * cell.split
        cell.precision = RECALLS
        return cell

    topics = [f"topic{i}" for i in range(10)]
    corpus = Corpus(labels=topics, texts=[""] * 300, label_sets=[[topics[i % 10]] for i in range(300)])
    monkeypatch.setattr(Study, "finished", finished)
    monkeypatch.setattr(Study, "corpus", corpus)
    monkeypatch.setattr(Study, "counts", sp.csr_matrix((300, 3)))
