"""Probabilities and the end of label sets, fitted on the shortlists of documents instead of all their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from arcrank._typing import Array, IntArray, Mask
from arcrank.graphs import LayeredGraphs
from arcrank.rankers.calibration import Calibration, fit_calibration, fit_temperature, no_curves, recall_thresholds
from arcrank.rankers.margins_sample import levels_at, slope_of_margins
from arcrank.rankers.set_offsets import choose_shared_offset

__all__ = ["Cells", "calibrate_on_cells", "shortlist_cells"]

_WIDTH = 256
"""Labels below these are irrelevant with probabilities of nearly 0, so that the curves lose nothing."""


class Cells(NamedTuple):
    """The first labels of each ranking, then relevant ones that are not among them, (n, m)."""

    scores: Array
    judged: Mask
    relevant: Mask


def shortlist_cells(ranker: Any, X: Any, graphs: LayeredGraphs) -> Cells:
    """The cells of documents whose graphs have CUT as label 0."""
    n = len(graphs)
    numbers, scores = ranker.rank_numbers(X, _WIDTH)
    missed = _missed(graphs, numbers)
    numbers = np.hstack([numbers, np.maximum(missed, 0)])
    scores = np.hstack([scores, _scores_at(ranker, X, missed)])
    rows = np.arange(n)
    cut = levels_at(graphs, rows, np.zeros(n, np.int64))[:, None]
    level = levels_at(graphs, np.repeat(rows, numbers.shape[1]), numbers.ravel() + 1).reshape(numbers.shape)
    judged = (level >= 0) & (cut >= 0) & (level != cut)
    judged[:, numbers.shape[1] - missed.shape[1] :] &= missed >= 0
    return Cells(scores, judged, judged & (level < cut))


def _missed(graphs: LayeredGraphs, numbers: IntArray) -> IntArray:
    """The labels above the cut that are not among the first ones of their row, (n, most), filled with -1."""
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    cut = levels_at(graphs, rows, np.zeros(len(rows), np.int64))
    above = (graphs.level >= 0) & (graphs.level < cut)
    rows, label = rows[above], graphs.label[above].astype(np.int64) - 1
    first = (np.arange(len(numbers))[:, None] * np.int64(graphs.n_labels) + numbers).ravel()
    outside = ~np.isin(rows * np.int64(graphs.n_labels) + label, first)
    rows, label = rows[outside], label[outside]
    counts = np.bincount(rows, minlength=len(graphs))
    missed = np.full((len(graphs), int(counts.max(initial=0))), -1)
    missed[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = label
    return missed


def _scores_at(ranker: Any, X: Any, labels: IntArray) -> Array:
    """The scores of some labels of each row; those of -1 are arbitrary."""
    found = np.zeros(labels.shape)
    for start in range(0, len(labels), 64):
        wanted = np.maximum(labels[start : start + 64], 0)
        if (labels[start : start + 64] >= 0).any():
            found[start : start + 64] = np.take_along_axis(ranker.score_labels(X[start : start + 64]), wanted, axis=1)
    # Fillers must not be among the best two scores of their row, which the curves read.
    return np.where(labels >= 0, found, -np.finfo(np.float32).max)


def calibrate_on_cells(cells: Cells, n_labels: int, measure: str | None, *, single: bool) -> Calibration:
    """Choose an offset that all labels share, and fit the curves, as `Probabilities` does on all labels."""
    scores, judged, relevant = cells
    offset = 0.0 if measure is None else choose_shared_offset(scores, judged, relevant, measure)
    scores = np.where(judged, scores - offset, scores.min(axis=1, keepdims=True, initial=0.0, where=judged) - offset)
    labelled = relevant.any(axis=1)
    temperature = fit_temperature(scores[labelled], relevant[labelled].argmax(axis=1)) if single else 1.0
    levels = np.where(judged, np.where(relevant, 0, 2), -1)
    graphs = LayeredGraphs.from_levels(np.hstack([np.ones((len(levels), 1), np.int64), levels]))
    calibration = Calibration(
        **(no_curves() if single else fit_calibration(scores, judged, relevant)),
        temperature=temperature,
        above_slope=slope_of_margins(scores, graphs),
        recall_thresholds=np.zeros(99),
        offsets=np.full(n_labels, offset),
        documents=len(scores),
        folds=0,
        set_measure=measure,
    )
    return replace(calibration, recall_thresholds=recall_thresholds(calibration, scores, relevant))
