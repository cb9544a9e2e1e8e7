"""Metrics of label rankings against orders and grades, some labels of which may be unjudged.

Conventions: the truth and `scores` are dense (n, k); NaN in the truth = label not judged for that instance, which
takes it out of the row altogether. An arc joins two judged labels of which one is better; labels that the truth ties
have none. Rows without arcs are skipped; `reduce` is as in `arcrank.metrics.ranking`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank._validation import check_int
from arcrank.compiled.ranking_metrics import discounted_gains, order_counts, rank_correlations
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import CandidateGraphs
from arcrank.metrics.generalized import check_candidate_scores
from arcrank.metrics.ranking import Reduce, as_floats, check_cut, check_scores, reduce_rows


def kendall_tau(
    R: Any, scores: Any, *, ties: Literal["error", "b"] = "error", reduce: Reduce = "mean"
) -> float | Array:
    """Kendall's rank correlation of R (positions, 1 = best, ties allowed) with the scores, in -1..1.

    `ties="error"`: `1 - 2 |{arcs (a, b): score(a) <= score(b)}| / |arcs|`, which is 1 - 2 x disagreement error: a tie
    of scores counts as wrong, one of positions makes no arc. Without ties this is the classic tau.
    `ties="b"`: tau-b, `(right - reversed) / sqrt(|arcs| * |{labels a, b: score(a) != score(b)}|)`, which is SciPy's
    `kendalltau(-R, scores)`; rows with constant scores are then skipped too.

    Examples
    --------
    >>> kendall_tau([[1, 2, 3]], [[0.9, 0.1, 0.5]])  # one arc of three is wrong
    0.333...
    >>> kendall_tau([[1, 2, float("nan")]], [[0.9, 0.1, 0.5]])
    1.0
    """
    if ties not in ("error", "b"):
        raise ParameterError(f'ties = {ties!r} is unknown: choose "error" (a tie of scores is wrong) or "b" (tau-b).')
    R, scores = _check_positions(R, scores)
    arcs, reversed_arcs, tied_arcs, distinct_scores = order_counts(R, scores).astype(np.float64).T
    if ties == "b":
        return reduce_rows(_ratio(arcs - 2 * reversed_arcs - tied_arcs, np.sqrt(arcs * distinct_scores)), reduce)
    return reduce_rows(1 - 2 * _ratio(reversed_arcs + tied_arcs, arcs), reduce)


def spearman(R: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """Spearman's rank correlation of R (positions, 1 = best) with the scores: Pearson's of the two average ranks.

    `sum_l a_l b_l / sqrt(sum_l a_l^2 sum_l b_l^2)`, a and b the ranks by R and by score minus their means, tied labels
    sharing their mean rank: SciPy's `spearmanr(-R, scores)`. Rows where R or the scores are constant are skipped.

    Examples
    --------
    >>> spearman([[1, 2, 3]], [[0.9, 0.1, 0.5]])
    0.5
    """
    R, scores = _check_positions(R, scores)
    return reduce_rows(rank_correlations(R, scores), reduce)


def ndcg_at(relevance: Any, scores: Any, r: int, *, ptr: Any = None, reduce: Reduce = "mean") -> float | Array:
    """Normalised discounted cumulative gain at r of grades >= 0: `DCG(scores) / DCG(relevance)`.

    `DCG = sum_{p = 1..r} grade(label at place p) / log2(p + 1)`, where labels of equal score share the mean of their
    grades, as in scikit-learn's `ndcg_score`. That one counts rows of equal grades as 1 (as 0 when all are 0); here
    they have no arcs and are skipped. Rows with fewer than r judged labels use them all.

    With `ptr`, grades and scores have one number for each candidate, those of instance i being `ptr[i]:ptr[i + 1]`, as
    in `CandidateSets`.

    Examples
    --------
    >>> round(ndcg_at([[3, 0, 1]], [[0.9, 0.5, 0.1]], r=3), 4)  # (3 + 1/2) / (3 + 1/log2(3))
    0.9639
    >>> round(ndcg_at([3, 0, 1, 0, 1], [0.9, 0.5, 0.1, 2, 1], r=3, ptr=[0, 3, 5]), 4)  # the mean of two instances
    0.7974
    """
    if ptr is not None:
        return reduce_rows(_candidate_gains(relevance, scores, r, np.asarray(ptr, dtype=np.int64)), reduce)
    grades = _check_truth(relevance, "relevance", 0, "grades, 0 = worthless")
    scores = check_scores(scores, grades.shape, "relevance")
    cut = check_cut(r, grades.shape[1], "labels")
    return reduce_rows(discounted_gains(grades, scores, cut), reduce)


def _candidate_gains(relevance: Any, scores: Any, r: int, ptr: NDArray[np.int64]) -> Array:
    """The same for candidates, in blocks of instances of similar size; NaN where an instance has no arcs."""
    grades = _check_truth(as_floats(relevance, "relevance")[:, None], "relevance", 0, "grades, 0 = worthless")[:, 0]
    graphs = CandidateGraphs.from_grades(grades, ptr)
    cut = check_int("r", r, at_least=1)
    values, gains = check_candidate_scores(scores, graphs), np.full(len(graphs), np.nan)
    for bucket in graphs.buckets():
        truth = bucket.gather(grades, np.nan)
        gains[bucket.rows] = discounted_gains(truth, bucket.gather(values, -np.inf), min(cut, truth.shape[1]))
    return gains


def _check_positions(R: Any, scores: Any) -> tuple[Array, Array]:
    positions = _check_truth(R, "R", 1, "rank positions, 1 = best")
    return positions, check_scores(scores, positions.shape, "R")


def _check_truth(truth: Any, name: str, least: int, meaning: str) -> Array:
    """Return the (n, k) truth as float64 with NaN for unjudged labels, all others finite and at least `least`."""
    values = as_floats(truth, name)
    if values.ndim != 2:
        raise InputError(
            f"{name} has shape {values.shape}; it must be an (n, k) matrix of {meaning}, NaN = not judged. "
            "For graphs use arcrank.metrics.disagreement_error."
        )
    wrong = np.isinf(values) | (values < least)
    if wrong.any():
        row, label = np.argwhere(wrong)[0]
        raise InputError(
            f"{name} holds {values[row, label]:g} in row {row}, column {label}; "
            f"it must be {meaning}, each finite and at least {least}, NaN = not judged."
        )
    return values


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, giving NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)
