"""Where to cut rankings into label sets: offsets of the scores that are best by a measure on held-out scores."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from arcrank._typing import Array, Mask
from arcrank.errors import ParameterError

__all__ = ["SET_MEASURES", "check_set_measure", "choose_offsets"]

SET_MEASURES = ("micro_f1", "macro_f1", "subset_accuracy", "precision>=0.9")
_PRECISION = re.compile(r"precision>=(0?\.\d+|1(\.0*)?)")
_GRID = 200
_BORROWED = 3.0
"""Relevant documents that every label borrows from the average label. Of 0 to 100, three are best or nearly so on the
training parts of Reuters-21578, bibtex, enron and medical."""


def check_set_measure(measure: Any) -> None:
    """Raise a `ParameterError` for a name that is not a measure of label sets; None is allowed."""
    if measure is None or (isinstance(measure, str) and (measure in SET_MEASURES or _PRECISION.fullmatch(measure))):
        return
    raise ParameterError(
        f"set_measure must be one of {', '.join(map(repr, SET_MEASURES))} (or another precision from 0 to 1), or None "
        f"to leave the cut where it was learnt; got {measure!r}."
    )


def choose_offsets(scores: Array, judged: Mask, relevant: Mask, measure: str) -> Array:
    """What to subtract from the scores of each label, (k,), so that labels above 0 are best by the measure.

    Parameters
    ----------
    scores : (n, k) array
        Scores of instances that the ranker was not trained on.
    judged, relevant : (n, k) masks
        The labels of which it is known whether they are relevant, and those that are.
    measure : str
        One of SET_MEASURES.
    """
    if measure == "macro_f1":
        return _best_per_label(scores, judged, relevant)
    if measure == "subset_accuracy":
        return _everywhere(_best_for_subsets(scores, judged, relevant), scores)
    ordered, found = _descending(scores, judged, relevant)
    right, taken = np.cumsum(found), np.arange(1, len(found) + 1)
    if measure == "micro_f1":
        best = int((2 * right / (taken + right[-1])).argmax()) + 1
    else:
        best = _longest(right / taken >= float(measure.removeprefix("precision>=")), measure)
    return _everywhere(_between(ordered, best), scores)


def _everywhere(offset: float, scores: Array) -> Array:
    return np.full(scores.shape[1], offset)


def _descending(scores: Array, judged: Mask, relevant: Mask) -> tuple[Array, Mask]:
    """Scores of all judged labels, highest first, and which are relevant; of equal ones, the irrelevant come first."""
    values, found = scores[judged], relevant[judged]
    order = np.lexsort((found, -values))
    return values[order], found[order]


def _between(ordered: Array, count: int) -> float:
    """A threshold that the first `count` of the scores are above: halfway to the next lower one."""
    if count == 0:
        return float(ordered[0]) + 1e-6 * (1 + abs(float(ordered[0])))
    lower = ordered[np.searchsorted(-ordered, -ordered[count - 1], side="right") :]
    next_one = float(lower[0]) if len(lower) else float(ordered[count - 1]) - 1.0
    return (float(ordered[count - 1]) + next_one) / 2


def _longest(allowed: Mask, measure: str) -> int:
    places = np.flatnonzero(allowed)
    if len(places):
        return int(places[-1]) + 1
    warnings.warn(
        f"No cut has set_measure={measure!r} on held-out scores, so no label will be predicted; ask for less.",
        UserWarning,
        stacklevel=6,
    )
    return 0


def _best_for_subsets(scores: Array, judged: Mask, relevant: Mask) -> float:
    """The threshold between the lowest relevant and the highest other score of as many instances as possible."""
    low = np.where(judged & ~relevant, scores, -np.inf).max(axis=1)
    high = np.where(relevant, scores, np.inf).min(axis=1)
    low, high = low[low < high], high[low < high]
    if not len(low):
        return 0.0
    ends = np.concatenate([low, high])
    order = np.lexsort((np.repeat([1, 0], len(low)), ends))  # at equal ends one interval closes before another opens
    depth = np.cumsum(np.repeat([1, -1], len(low))[order])
    at = int(depth[:-1].argmax())
    left, right = ends[order[at]], ends[order[at + 1]]
    if np.isinf(left) or np.isinf(right):
        return float(right - 1.0 if np.isinf(left) else left + 1.0) if not (np.isinf(left) and np.isinf(right)) else 0.0
    return float(left + right) / 2


def _best_per_label(scores: Array, judged: Mask, relevant: Mask) -> Array:
    """The offset of each label with the best F1, after it has borrowed from the average label.

    F1 = 2 (TP + b tp) / (P + b + predicted + b pr), with tp and pr the numbers of right and of predicted labels per
    relevant one, averaged over labels. Rare labels thus get about the offset that is best for all.
    """
    grid = _thresholds(scores[relevant])
    right, taken = (_counts_above(scores, mask, grid) for mask in (relevant, judged))
    totals = relevant.sum(axis=0)
    known = np.maximum(totals, 1)
    mean_right, mean_taken = ((counts / known)[:, totals > 0].mean(axis=1) for counts in (right, taken))
    f1 = 2 * (right + _BORROWED * mean_right[:, None]) / (totals + _BORROWED + taken + _BORROWED * mean_taken[:, None])
    offsets: Array = grid[f1.argmax(axis=0)]
    return offsets


def _thresholds(values: Array) -> Array:
    """Thresholds between quantiles of the relevant labels' scores."""
    quantiles = np.unique(np.quantile(values, np.linspace(0, 1, _GRID)))
    return np.append(quantiles[0] - 1e-9 * (1 + abs(quantiles[0])), (quantiles[1:] + quantiles[:-1]) / 2)


def _counts_above(scores: Array, mask: Mask, grid: Array) -> Array:
    """How many scores of each label within the mask are above each threshold, (thresholds, k)."""
    counts = np.empty((len(grid), scores.shape[1]))
    for label in range(scores.shape[1]):
        values = np.sort(scores[mask[:, label], label])
        counts[:, label] = len(values) - np.searchsorted(values, grid, side="right")
    return counts
