"""Metrics of shortlists, the first labels of each ranking, for so many labels that no (n, k) matrix of scores fits.

Conventions, the same for every metric here:

- `Y` is an (n, k) indicator of {0, 1}, best scipy.sparse, or graphs of at most two layers.
- `top` is an (n, m) matrix of label numbers, the columns of Y, best first, without repetitions; -1 fills rows with
  fewer labels. `ShortlistRanker.rank_numbers` returns it.
- Rows without a relevant label are skipped; a mean without rows is NaN.

Propensities are those of Jain, Prabhu & Varma (2016): the probability that a relevant label was assigned at all, which
is low for rare labels. A rare label that is found counts `1 / propensity`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank._validation import check_real
from arcrank.errors import InputError
from arcrank.metrics.ranking import as_indicator, check_cut

__all__ = ["f1_at", "ndcg_at", "precision_at", "propensities", "psndcg_at", "psp_at", "recall_at"]


def precision_at(Y: Any, top: Any, r: int) -> float:
    """The share of relevant labels among the first r: `|{l in Y: place(l) <= r}| / r`.

    Examples
    --------
    >>> precision_at([[1, 1, 0, 0]], [[0, 2, 1]], r=2)
    0.5
    """
    hits, _ = _hits(Y, top, r)
    return _mean(hits.sum(axis=1) / r)


def recall_at(Y: Any, top: Any, r: int) -> float:
    """The share of the relevant labels that are among the first r: `|{l in Y: place(l) <= r}| / |Y|`.

    Examples
    --------
    >>> recall_at([[1, 1, 0, 0]], [[0, 2, 1]], r=3)
    1.0
    """
    hits, relevant = _hits(Y, top, r)
    return _mean(hits.sum(axis=1) / relevant)


def f1_at(Y: Any, top: Any, r: int) -> float:
    """The mean over documents of the F1 of their first r labels: `2 hits / (r + |Y|)`.

    Examples
    --------
    >>> f1_at([[1, 1, 0, 0]], [[0, 2, 3]], r=2)
    0.5
    """
    hits, relevant = _hits(Y, top, r)
    return _mean(2.0 * hits.sum(axis=1) / (r + relevant))


def ndcg_at(Y: Any, top: Any, r: int) -> float:
    """Normalised discounted cumulative gain: `sum_{p <= r} [label at p in Y] / log2(p + 1)`, over the best such sum.

    Examples
    --------
    >>> round(ndcg_at([[1, 1, 0, 0]], [[0, 2, 1]], r=3), 4)  # (1 + 1/2) / (1 + 1/log2(3))
    0.9197
    """
    hits, relevant = _hits(Y, top, r)
    discounts = _discounts(r)
    best = np.cumsum(discounts)[np.minimum(relevant, r).astype(np.intp) - 1]
    return _mean(hits @ discounts / best)


def psp_at(Y: Any, top: Any, r: int, propensity: Any) -> float:
    """Propensity-scored precision at r: `sum 1 / propensity` of the hits, over that of the best possible shortlists.

    The quotient of two sums over all documents, as in tables of extreme classification.

    Examples
    --------
    >>> psp_at([[1, 1, 0], [0, 0, 1]], [[0, 2], [2, 0]], r=1, propensity=[0.5, 0.25, 1.0])  # (2 + 1) / (4 + 1)
    0.6
    """
    return _propensity_scored(Y, top, r, propensity, np.ones(_check_r(r, top)))


def psndcg_at(Y: Any, top: Any, r: int, propensity: Any) -> float:
    """Propensity-scored NDCG at r: hits count `1 / (propensity log2(place + 1))`, over the best possible shortlists.

    Examples
    --------
    >>> round(psndcg_at([[1, 1, 0]], [[0, 1]], r=2, propensity=[0.5, 0.25, 1.0]), 4)
    0.8597
    """
    return _propensity_scored(Y, top, r, propensity, _discounts(_check_r(r, top)))


def propensities(Y: Any, a: float = 0.55, b: float = 1.5) -> Array:
    """The propensity of each label of training data, (k,): `1 / (1 + c (N_l + b)^-a)`, c = (log n - 1) (b + 1)^a.

    Parameters
    ----------
    Y : (n, k) indicator
        The labels of the training documents.
    a, b : float
        The defaults are those of Jain et al. for corpora without known values.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0]] * 9 + [[0, 1]])
    >>> propensities(Y).round(3).tolist()
    [0.628, 0.434]
    """
    check_real("a", a, at_least=0)
    check_real("b", b, above=0)
    truth = as_indicator(Y)
    n, k = truth.shape
    c = (np.log(max(n, 3)) - 1.0) * (b + 1.0) ** a
    counts = np.bincount(truth.indices, minlength=k)
    scored: Array = 1.0 / (1.0 + c * (counts + b) ** -a)
    return scored


def _propensity_scored(Y: Any, top: Any, r: int, propensity: Any, discounts: Array) -> float:
    truth, lists = _check(Y, top, r)
    gains = _check_propensity(propensity, truth.shape[1])
    found = _found(truth, lists)
    got = (found * np.where(lists >= 0, gains[lists], 0.0)) @ discounts
    best = _best_gains(truth, gains, r) @ discounts
    return float(got.sum() / best.sum()) if best.sum() > 0 else float("nan")


def _best_gains(truth: Any, gains: Array, r: int) -> Array:
    """The r largest gains of each row's relevant labels, (n, r), 0 where there are fewer."""
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    value = gains[truth.indices]
    order = np.lexsort((-value, rows))
    place = np.arange(len(rows)) - truth.indptr[rows]
    best = np.zeros((truth.shape[0], r))
    first = place < r
    best[rows[first], place[first]] = value[order][first]
    return best


def _hits(Y: Any, top: Any, r: int) -> tuple[Array, Array]:
    """Which of the first r labels are relevant, and how many labels are, both NaN in rows without any."""
    truth, lists = _check(Y, top, r)
    relevant = np.diff(truth.indptr).astype(np.float64)
    relevant[relevant == 0] = np.nan
    some = ~np.isnan(relevant)
    return _found(truth, lists)[some].astype(np.float64), relevant[some]


def _found(truth: Any, lists: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each entry of the lists is relevant, by a search among the sorted cells of the truth."""
    k = np.int64(truth.shape[1])
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    cells = rows * k + truth.indices
    wanted = np.arange(len(lists))[:, None] * k + lists
    at = np.searchsorted(cells, wanted)
    inside = at < len(cells)
    found: NDArray[np.bool_] = inside & (lists >= 0)
    found[found] = cells[at[found]] == wanted[found]
    return found


def _check(Y: Any, top: Any, r: int) -> tuple[Any, NDArray[np.intp]]:
    truth, lists = as_indicator(Y), _check_lists(top)
    _check_r(r, lists)
    n, k = truth.shape
    if len(lists) != n:
        raise InputError(f"top has {len(lists)} rows, but Y has {n}; give one shortlist for each document.")
    if lists.size and (lists.min() < -1 or lists.max() >= k):
        raise InputError(
            f"top holds label numbers from {lists.min()} to {lists.max()}; they must be columns of Y, 0 to {k - 1}, "
            "or -1 where a row has fewer labels."
        )
    first = lists[:, :r]
    ordered = np.sort(first, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row = int(np.argwhere(twice)[0][0])
        raise InputError(f"top holds a label twice in row {row}: {first[row].tolist()}; give each label once.")
    return truth, first


def _check_lists(top: Any) -> NDArray[np.intp]:
    lists = np.asarray(top.toarray() if sp.issparse(top) else top)
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        raise InputError(
            f"top must be an (n, m) matrix of label numbers, got {lists.dtype} of shape {lists.shape}. "
            "Convert names to the columns of Y first."
        )
    return lists.astype(np.intp)


def _check_r(r: int, top: Any) -> int:
    return check_cut(r, np.shape(top)[1], "labels in each row of top")


def _check_propensity(propensity: Any, k: int) -> Array:
    values = np.asarray(propensity, dtype=np.float64)
    if values.shape != (k,) or not ((values > 0) & (values <= 1)).all():
        raise InputError(
            f"propensity must hold a number above 0 and at most 1 for each of {k} labels, got shape {values.shape}. "
            "Compute it from the training data: propensities(Y)."
        )
    gains: Array = 1.0 / values
    return gains


def _discounts(r: int) -> Array:
    discounts: Array = 1.0 / np.log2(np.arange(2, r + 2))
    return discounts


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")
