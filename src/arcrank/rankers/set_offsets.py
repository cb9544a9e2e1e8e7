"""Where to cut rankings into label sets: offsets of the scores that are best by a measure on held-out scores."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
by `benchmarks/set_offsets.py`."""
_OWN = 0.3
"""How far offsets for the micro-F1 are moved towards those that each label has for the macro-F1, chosen in the same
way: on five of six corpora both measures and the average precision gain."""


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
    label has its own offset, towards which those for "micro_f1" are moved.

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
    effects = fit_label_effects(scores, judged, relevant).effects
    offsets = choose_shared_offset(scores + effects, judged, relevant, measure) - effects
    if measure == "micro_f1":
        own = np.where(judged.any(axis=0), _best_per_label(scores, judged, relevant), offsets)
        offsets = (1.0 - _OWN) * offsets + _OWN * own
    return offsets


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
    relevant. A label that is never judged has the offset 0.
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
        ordered, wanted, found = scores[rows, label], relevant[rows, label], []
        for at, part_of in enumerate(divisions):
            best, counts = _best_of_parts(_Parts.of(ordered, wanted, part_of[rows]), number, so_far[at])
            so_far[at] = so_far[at].plus(counts)
            found.append(best.mean())
        own, total = float(np.mean(found)), int(frequency[label])
        expected = _between(ordered, min(int(_EXPECTED * total), len(rows)))
        offsets[label] = (total * own + _BORROWED * expected) / (total + _BORROWED)
    return offsets


def _divisions(n: int) -> list[NDArray[np.int8]]:
    """The part of each document in each of the divisions, always the same ones."""
    random = np.random.default_rng(0)
    parts = (np.arange(n) % _PARTS).astype(np.int8)  # which NumPy sorts in linear time
    return [random.permutation(parts) for _ in range(_DIVISIONS)]


class _Counts(NamedTuple):
    """How many labels were right, how many were predicted, and how many are relevant."""

    right: int = 0
    taken: int = 0
    relevant: int = 0

    def plus(self, more: _Counts) -> _Counts:
        """Return the sums."""
        return _Counts(*(a + b for a, b in zip(self, more, strict=True)))


class _Parts(NamedTuple):
    """The scores of a label, highest first within each part, and where it is relevant; parts without any are left out.

    first : where each part begins; part : (n,) the part of each score
    """

    scores: Array
    relevant: Mask
    first: IntArray
    part: IntArray

    @staticmethod
    def of(ordered: Array, relevant: Mask, part_of: NDArray[np.int8]) -> _Parts:
        """Divide scores, highest first."""
        order = np.argsort(part_of, kind="stable")
        sizes = np.bincount(part_of, minlength=_PARTS)
        sizes = sizes[sizes > 0]
        first, part = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
        return _Parts(ordered[order], relevant[order], first, part)


def _best_of_parts(parts: _Parts, n_labels: int, others: _Counts) -> tuple[Array, _Counts]:
    """The offset of a label in each part with the best sum of its share in the macro-F1 and of the micro-F1.

    The macro-F1 is that of `n_labels` labels. Equally good offsets: the one that predicts fewer documents.
    """
    scores, first, part = parts.scores, parts.first, parts.part
    total = np.add.reduceat(parts.relevant, first, dtype=np.int64)
    right = np.cumsum(parts.relevant) - np.append(0, np.cumsum(total)[:-1])[part]
    taken = np.arange(1, len(scores) + 1) - first[part]
    base = total + others.taken + others.relevant
    quality = 2.0 * right / (taken + total[part]) / n_labels + 2.0 * (right + others.right) / (taken + base[part])
    last = np.append(first[1:], len(scores)) - 1
    allowed = _last_of_equals(scores)
    allowed[last] = True
    quality[~allowed] = -1.0
    best = np.maximum.reduceat(quality, first)
    none = best <= 2.0 * others.right / np.maximum(1, base)
    reached = np.flatnonzero(quality == best[part])
    at = reached[np.searchsorted(part[reached], np.arange(len(first)))]
    below = np.where(at < last, scores[np.minimum(at + 1, len(scores) - 1)], scores[at] - 1.0)
    offsets = np.where(none, scores[first] + 1e-6 * (1 + np.abs(scores[first])), (scores[at] + below) / 2)
    return offsets, _Counts(int(right[at][~none].sum()), int(taken[at][~none].sum()), int(total.sum()))
