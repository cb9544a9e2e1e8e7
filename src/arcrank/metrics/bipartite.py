"""Metrics of bipartite rankings: n instances in one list, relevant (1) or not (0), as in Amini et al., section 3.2.

Conventions: `y` (n,) in {0, 1}; `scores` (n,), greater is better, without NaN. **Ties count as errors**:
rank(i) = number of instances with score >= score(i), so instances of equal score all have the worst place among them,
and an instance counts at a cut-off r only if rank(i) <= r. p is the number of relevant instances, m of the others.
Amini et al. write the AUC with a strict inequality and do not define rank(i) for ties. The other reading, the mean over
all orders of the tied instances, is `ties="half"` for the AUC and `ties="random"` for the two precisions.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arcrank._typing import Array, Mask
from arcrank.errors import InputError, ParameterError
from arcrank.metrics.ranking import PrecisionRecall, as_floats, check_cut, check_scores

PrecisionTies = Literal["error", "random"]


def auc(y: Any, scores: Any, *, ties: Literal["error", "half"] = "error") -> float:
    """Area under the ROC curve: `1/(p m) sum_{i relevant, j not} [score(i) > score(j)]`.

    `ties="error"` is the paper's formula: a tie earns nothing. `ties="half"` gives it 1/2 and equals scikit-learn's
    `roc_auc_score`.

    Examples
    --------
    >>> auc([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.75
    >>> auc([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], ties="half")
    0.875
    """
    if ties not in ("error", "half"):
        raise ParameterError(f'ties = {ties!r} is unknown: choose "error" (a tie is wrong) or "half" (scikit-learn).')
    relevant, scores = _check(y, scores)
    n_relevant = np.count_nonzero(relevant)
    if n_relevant in (0, len(relevant)):
        raise InputError(
            f"y has {n_relevant} relevant instances of {len(relevant)}; "
            "the AUC compares relevant with irrelevant ones and needs at least one of each."
        )
    others = np.sort(scores[~relevant])
    right = np.searchsorted(others, scores[relevant], side="left").sum()
    if ties == "half":
        right = (right + np.searchsorted(others, scores[relevant], side="right").sum()) / 2
    return float(right / (n_relevant * len(others)))


def uninterpolated_precision(y: Any, scores: Any, r: int | None = None, *, ties: PrecisionTies = "error") -> float:
    """AUP with cut-off r: `1/p sum_{i relevant, rank(i) <= r} |{j relevant: rank(j) <= rank(i)}| / rank(i)`.

    The denominator p counts all relevant instances, also those below the cut-off, which so contribute 0 (Amini et al.
    say this in words). Without r it equals scikit-learn's `average_precision_score`. mAUP is its mean over topics.
    `ties="random"` is the mean over all orders of tied instances (McSherry & Najork 2008).

    Examples
    --------
    >>> uninterpolated_precision([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.1], r=3)  # (1/1 + 2/3) / 3
    0.555...
    >>> uninterpolated_precision([1, 0], [0.5, 0.5]), uninterpolated_precision([1, 0], [0.5, 0.5], ties="random")
    (0.5, 0.75)
    """
    _check_ties(ties)
    relevant, scores = _check_with_relevant(y, scores)
    cut = len(scores) if r is None else check_cut(r, len(scores), "instances")
    if ties == "random":
        places = _Places(relevant, scores)
        return float(np.sum(places.chance * places.hits / places.rank, where=places.rank <= cut) / relevant.sum())
    ranks = np.sort(_relevant_ranks(relevant, scores))
    hits = np.searchsorted(ranks, ranks, side="right")
    return float(np.sum(hits / ranks, where=ranks <= cut) / len(ranks))


def top_precision(y: Any, scores: Any, r: int = 50, *, ties: PrecisionTies = "error") -> float:
    """Precision at r, `|{i relevant: rank(i) <= r}| / r`: T9P of TREC-9 and of Amini et al. for r = 50.

    The denominator is r, even when fewer than r instances are relevant. mT9P is its mean over topics. With
    `ties="error"` tied instances that reach below the cut-off all count as below it, even relevant ones;
    `ties="random"` is the mean over all orders of tied instances.

    Examples
    --------
    >>> top_precision([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.1], r=2)
    0.5
    >>> top_precision([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.1], r=2), top_precision([1, 1, 1], [0.9] * 3, r=2, ties="random")
    (0.0, 1.0)
    """
    _check_ties(ties)
    relevant, scores = _check(y, scores)
    cut = check_cut(r, len(scores), "instances")
    if ties == "random":
        return float(_Places(relevant, scores).chance[:cut].mean())
    return float(np.count_nonzero(_relevant_ranks(relevant, scores) <= cut) / cut)


def precision_recall(y: Any, scores: Any, r: int | None = None) -> PrecisionRecall:
    """Precision `hits(c) / c` and recall `hits(c) / p` at each cut-off c = 1, ..., r (all n without r).

    hits(c) = |{i relevant: rank(i) <= c}|. Returns two arrays, `precision` and `recall`, not interpolated.

    Examples
    --------
    >>> curve = precision_recall([1, 0, 1], [0.9, 0.8, 0.7])
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.5, 0.67], [0.5, 0.5, 1.0])
    """
    relevant, scores = _check_with_relevant(y, scores)
    cut = len(scores) if r is None else check_cut(r, len(scores), "instances")
    ranks = _relevant_ranks(relevant, scores)
    hits = np.bincount(ranks, minlength=cut + 1)[1 : cut + 1].cumsum()
    return PrecisionRecall(hits / np.arange(1, cut + 1), hits / len(ranks))


class _Places:
    """The places 1, ..., n of a ranking whose tied instances are in random order (McSherry & Najork 2008).

    Attributes
    ----------
    rank : (n,)
        The places.
    chance : (n,)
        The probability that the instance at a place is relevant: the fraction of relevant ones in its group of ties.
    hits : (n,)
        The expected number of relevant instances up to a place, given that the one at this place is relevant.
    """

    def __init__(self, relevant: Mask, scores: Array) -> None:
        _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
        found = np.bincount(group, relevant)
        self.rank = np.arange(1, len(scores) + 1)
        self.chance = np.repeat(found / sizes, sizes)
        before = np.repeat(np.cumsum(found) - found, sizes)
        place = self.rank - np.repeat(np.cumsum(sizes) - sizes, sizes)  # 1, 2, ... within its group
        # each of the place - 1 tied instances above a relevant one is one of the other relevant ones of its group
        others = np.repeat((found - 1) / np.maximum(sizes - 1, 1), sizes)
        self.hits = before + 1 + (place - 1) * others


def _check_ties(ties: str) -> None:
    if ties not in ("error", "random"):
        raise ParameterError(
            f'ties = {ties!r} is unknown: choose "error" (tied instances all have their worst place) or "random" (the '
            "mean over all orders of them)."
        )


def _relevant_ranks(relevant: Mask, scores: Array) -> npt.NDArray[np.int64]:
    """Return rank(i) of the relevant instances, in their order in the list."""
    return len(scores) - np.searchsorted(np.sort(scores), scores[relevant], side="left")


def _check(y: Any, scores: Any) -> tuple[Mask, Array]:
    truth = as_floats(y, "y")
    if truth.ndim != 1:
        raise InputError(f"y has shape {truth.shape}; it must be a vector of 0 and 1 with one value per instance.")
    relevant = truth == 1
    strange = truth[~relevant & (truth != 0)]
    if len(strange):
        raise InputError(
            f"y holds {strange[0]:g}; relevant is 1 and irrelevant 0. "
            "In arcrank -1 means unlabelled: drop those instances, or map {-1, 1} to {0, 1} if that is what they are."
        )
    return relevant, check_scores(scores, truth.shape, "y")


def _check_with_relevant(y: Any, scores: Any) -> tuple[Mask, Array]:
    relevant, values = _check(y, scores)
    if not relevant.any():
        raise InputError(
            f"y has no relevant instance among {len(relevant)}; precision over the relevant ones and recall need "
            "at least one: leave this topic out of the mean."
        )
    return relevant, values
