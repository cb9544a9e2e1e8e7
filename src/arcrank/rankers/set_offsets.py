"""Where to cut rankings into label sets: offsets of the scores that are best by a measure on held-out scores."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from arcrank._typing import Array, IntArray, Mask
from arcrank.errors import ParameterError
from arcrank.rankers.cells import highest_cells
from arcrank.rankers.label_effects import fit_label_effects

__all__ = ["SET_MEASURES", "check_set_measure", "choose_offsets", "choose_shared_offset"]

SET_MEASURES = ("micro_f1", "macro_f1", "subset_accuracy", "precision>=0.9")
_PRECISION = re.compile(r"precision>=(0?\.\d+|1(\.0*)?)")
_PARTS, _DIVISIONS = 8, 3
_EXPECTED = 1.25
"""How many documents are expected to have a rare label, over how many have it in the training data."""
_BORROWED = 4
"""The weight of that, in relevant documents. All four were chosen on held-out training documents of six corpora
by `benchmarks/macro_offsets.py`."""


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

    Labels whose scores are too high or too low throughout are corrected first, by shrunken effects; for "macro_f1" each
    label has its own offset.

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
    fitted = fit_label_effects(scores, judged, relevant)
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


def _best_per_label(scores: Array, judged: Mask, relevant: Mask) -> Array:
    """The offset of each label by the sum of its F1 and of the micro-F1, as Lin, Chen & Lin (2023) propose.

    The F1 of a label alone would predict rare labels much too often. Labels are taken in the order of their frequency,
    and the micro-F1 is that of the labels so far. The documents are divided into parts, and the offset is the
    mean of the best ones of the parts: the mean varies less than the best one of all documents, and a part without a
    relevant document raises it. It is the mean over several random divisions too, for the same reason. A rare label
    says little about its offset, which is therefore drawn towards the one that predicts it about as often as it is
    relevant.
    """
    offsets = np.zeros(scores.shape[1])
    divisions = _divisions(len(scores))
    so_far = [_Counts()] * len(divisions)
    frequency = (judged & relevant).sum(axis=0)
    for number, label in enumerate(np.argsort(-frequency, kind="stable").tolist(), start=1):
        rows = np.flatnonzero(judged[:, label])
        if not len(rows):
            continue
        rows = rows[np.argsort(-scores[rows, label], kind="stable")]
        column, found = _Column(scores[rows, label], relevant[rows, label]), []
        for at, part_of in enumerate(divisions):
            parts = [column.take(part_of[rows] == part) for part in range(_PARTS)]
            best = [_best_of_part(part, number, so_far[at]) for part in parts if len(part.scores)]
            so_far[at] = so_far[at].plus([counts for _, counts in best])
            found.append(np.mean([offset for offset, _ in best]))
        own, total = float(np.mean(found)), int(frequency[label])
        expected = _between(column.scores, min(int(_EXPECTED * total), len(rows)))
        offsets[label] = (total * own + _BORROWED * expected) / (total + _BORROWED)
    return offsets


def _divisions(n: int) -> list[IntArray]:
    """The part of each document in each of the divisions, always the same ones."""
    random = np.random.default_rng(0)
    return [random.permutation(np.arange(n) % _PARTS) for _ in range(_DIVISIONS)]


class _Column(NamedTuple):
    """The scores of a label, highest first, and where it is relevant."""

    scores: Array
    relevant: Mask

    def take(self, rows: Mask) -> _Column:
        """Return these of them."""
        return _Column(self.scores[rows], self.relevant[rows])


class _Counts(NamedTuple):
    """How many labels were right, how many were predicted, and how many are relevant."""

    right: int = 0
    taken: int = 0
    relevant: int = 0

    def plus(self, others: list[_Counts]) -> _Counts:
        """Return the sums."""
        return _Counts(*(sum(values) for values in zip(self, *others, strict=True)))


def _best_of_part(part: _Column, n_labels: int, others: _Counts) -> tuple[float, _Counts]:
    """The offset of a label with the best sum of its share in the macro-F1 of `n_labels` labels and the micro-F1."""
    total = int(part.relevant.sum())
    right, taken = np.append(0, np.cumsum(part.relevant)), np.arange(len(part.scores) + 1)
    macro = 2.0 * right / np.maximum(1, taken + total) / n_labels
    micro = 2.0 * (right + others.right) / np.maximum(1, taken + total + others.taken + others.relevant)
    allowed = np.append(True, _last_of_equals(part.scores))
    best = int(np.where(allowed, macro + micro, -1.0).argmax())
    return _between(part.scores, best), _Counts(int(right[best]), best, total)
