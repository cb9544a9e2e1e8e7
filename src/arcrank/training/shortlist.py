"""Fit a ranker of very many labels, with probabilities from documents that were held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from arcrank.graphs import PreferenceGraphs
from arcrank.training.reporter import Reporter
from arcrank.training.selection import sample_rows

__all__ = ["fit_shortlist"]

HELD_OUT = 5000
"""The most documents that probabilities are fitted to; a tenth of all, if these are fewer."""


def fit_shortlist(ranker: Any, X: Any, y: Any, graphs: PreferenceGraphs, random_state: int, reporter: Reporter) -> Any:
    """Fit a `ShortlistRanker` to all documents; with a cut, also its label sets and probabilities.

    These need scores of documents that a ranker has not seen. So a second ranker learns from the other documents, and
    its calibration becomes that of the first: cross-validation would take as many fits as folds.
    """
    with reporter.progress("training"):
        ranker.fit(X, y)
    n_held_out = min(HELD_OUT, len(graphs) // 10)
    if not ranker.cut_label or n_held_out < 2:
        return ranker
    rows = np.arange(len(graphs))
    held_out = sample_rows(rows, n_held_out, random_state)
    others = np.setdiff1d(rows, held_out)
    with reporter.progress("calibrating"):
        second = clone(ranker).fit(X[others], graphs[others]).calibrate(X[held_out], graphs[held_out])
    ranker._move_offsets(second.calibration_.offsets)
    ranker.calibration_ = second.calibration_
    return ranker
