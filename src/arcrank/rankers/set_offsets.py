"""Where to cut rankings into label sets: offsets of the scores that are best by a measure on held-out scores."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from arcrank._typing import Array, Mask
from arcrank.errors import ParameterError
from arcrank.rankers.cells import highest_cells
from arcrank.rankers.label_effects import fit_label_effects

__all__ = ["SET_MEASURES", "check_set_measure", "choose_offsets", "choose_shared_offset"]

SET_MEASURES = ("micro_f1", "macro_f1", "subset_accuracy", "precision>=0.9")
_PRECISION = re.compile(r"precision>=(0?\.\d+|1(\.0*)?)")
_OBSERVED = 0.5
"""Weight of the observed outcomes in the F1 of a label, the rest being expected ones. 0.3 and 0.6 are best, and nearly
alike, by the macro-F1 of held-out training documents of Reuters-21578, bibtex, enron, medical and yeast."""


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

    Labels whose scores are too high or too low throughout are corrected first, by shrunken effects.

    Parameters
    ----------
    scores : (n, k) array
        Scores of instances that the ranker was not trained on.
    judged, relevant : (n, k) masks
        The labels of which it is known whether they are relevant, and those that are.
    measure : str
        One of SET_MEASURES.
    """
    fitted = fit_label_effects(scores, judged, relevant)
    if measure == "macro_f1":
        return _best_per_label(scores, judged, relevant, fitted.probabilities(scores))
    return choose_shared_offset(scores + fitted.effects, judged, relevant, measure) - fitted.effects


def choose_shared_offset(scores: Array, judged: Mask, relevant: Mask, measure: str) -> float:
    """The same for one offset that all labels share; `measure` is not "macro_f1"."""
    if measure == "subset_accuracy":
        return _best_for_subsets(scores, judged, relevant)
    total = int((judged & relevant).sum())
    if measure == "micro_f1":
        return _best_by_f1(scores, judged, relevant, total)
    precision = float(measure.removeprefix("precision>="))
    ordered, found, limit = highest_cells(scores, judged, relevant, int(total / precision) + 2)
    allowed = np.cumsum(found) / np.arange(1, len(found) + 1) >= precision
    return _between(ordered, _longest(_last_of_equals(ordered) & allowed, measure), limit)


def _best_by_f1(scores: Array, judged: Mask, relevant: Mask, total: int) -> float:
    """The threshold of the best F1, 2 right / (taken + total).

    As right <= total, an F1 of f cannot be exceeded with more than total (2 / f - 1) labels taken. So the highest few
    of them are searched, and more only if their best F1 does not rule it out.
    """
    most = 8 * max(1, total)
    while True:
        ordered, found, limit = highest_cells(scores, judged, relevant, most)
        right, taken = np.cumsum(found), np.arange(1, len(found) + 1)
        f1 = 2.0 * _last_of_equals(ordered) * right / (taken + total)
        best = int(f1.argmax())
        if most >= scores.size or f1[best] * (len(found) + total) >= 2.0 * total:
            return _between(ordered, best + 1, limit)
        most *= 8


def _last_of_equals(ordered: Array) -> Mask:
    """Where a threshold can be: it does not part equal scores."""
    return np.append(ordered[1:] != ordered[:-1], True)


def _between(ordered: Array, count: int, limit: float = -np.inf) -> float:
    """A threshold that the first `count` of the scores are above: halfway to the next lower one, at least `limit`."""
    if count == 0:
        return float(ordered[0]) + 1e-6 * (1 + abs(float(ordered[0])))
    lower = ordered[np.searchsorted(-ordered, -ordered[count - 1], side="right") :]
    next_one = float(lower[0]) if len(lower) else max(limit, float(ordered[count - 1]) - 1.0)
    return (float(ordered[count - 1]) + next_one) / 2


def _longest(allowed: Mask, measure: str) -> int:
    places = np.flatnonzero(allowed)
    if len(places):
        return int(places[-1]) + 1
    warnings.warn(
        f"No cut has set_measure={measure!r} on held-out scores, so no label will be predicted; ask for less.",
        UserWarning,
        stacklevel=7,
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


def _best_per_label(scores: Array, judged: Mask, relevant: Mask, probabilities: Array) -> Array:
    """The offset of each label with the best F1, where outcomes are in part observed and in part expected.

    The few documents of a rare label say little about its best offset; the probabilities, in which it borrows from all
    labels, say more.
    """
    outcomes = np.where(judged, _OBSERVED * relevant + (1 - _OBSERVED) * probabilities, 0.0)
    offsets = np.empty(scores.shape[1])
    for label in range(scores.shape[1]):
        known = judged[:, label]
        order = np.argsort(-scores[known, label], kind="stable")
        values, found = scores[known, label][order], outcomes[known, label][order]
        if not len(values):
            offsets[label] = 0.0
            continue
        f1 = _last_of_equals(values) * np.cumsum(found) / (np.arange(1, len(found) + 1) + found.sum())
        offsets[label] = _between(values, int(f1.argmax()) + 1)
    return offsets
