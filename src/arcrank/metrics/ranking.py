"""Metrics of label rankings against sets of relevant labels.

Conventions, the same for every metric here:

- `Y` is an (n, k) indicator of {0, 1}, dense or scipy.sparse, or graphs of at most two layers, whose top layer is
  the relevant one. `scores` is (n, k), greater is better, without NaN; infinities are allowed.
- An arc (r, s) joins each relevant label r to each irrelevant label s. **Ties count as errors**: the arc is wrong
  when score(r) <= score(s), and rank(r) is the number of labels with score >= score(r). That agrees with
  scikit-learn's ranking metrics.
- Rows without arcs (no label relevant, or all) say nothing about an order and are skipped. `reduce="mean"` is the
  mean over the other rows, NaN when there are none; `reduce="none"` is one value per row, NaN for the skipped ones.

E = {(r, s): r in Y, s not in Y, score(r) <= score(s)} is Crammer & Singer's error set and Y^c the irrelevant labels.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank._validation import check_int
from arcrank.compiled.ranking_metrics import rank_histograms, rank_statistics
from arcrank.errors import InputError, ParameterError

Reduce = Literal["mean", "none"]


class PrecisionRecall(NamedTuple):
    """Precision and recall at r = 1, 2, ...: two arrays of the same length.

    Examples
    --------
    >>> from arcrank.metrics import precision_recall_graph
    >>> found = precision_recall_graph([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    >>> found.precision.round(3).tolist(), found.recall.tolist()
    ([1.0, 0.5, 0.667], [0.5, 0.5, 1.0])
    """

    precision: Array
    recall: Array


def one_error(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """OneErr: 1 if the best relevant label is not above every irrelevant one, `[max_Y score <= max_Y^c score]`.

    A tie between relevant labels at the top is not an error: whichever comes first is relevant.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.5, 0.1], [0.7, 0.7, 0.2]])
    0.5
    """
    return reduce_rows(_statistics(Y, scores).wrong_top, reduce)


def coverage(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """How far down the ranking one must go to meet every relevant label: `max_{r in Y} rank(r) - 1`.

    A perfect ranking of a single relevant label has 0. scikit-learn's `coverage_error` is this plus 1.

    Examples
    --------
    >>> coverage([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.1], [0.9, 0.1, 0.5]])
    1.0
    """
    return reduce_rows(_statistics(Y, scores).last_rank - 1, reduce)


def indicator_loss(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """Crammer & Singer's loss 1, the imperfect rankings: `[E is not empty]`. At least the one-error.

    Examples
    --------
    >>> indicator_loss([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.1], [0.9, 0.1, 0.5]])
    0.5
    """
    return reduce_rows(np.minimum(_statistics(Y, scores).wrong_arcs, 1), reduce)


def size_loss(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """Crammer & Singer's loss 2, the number of wrong arcs: `|E|`. Equals the coverage of single labels.

    Examples
    --------
    >>> size_loss([[0, 0, 1]], [[0.9, 0.5, 0.1]])
    2.0
    """
    return reduce_rows(_statistics(Y, scores).wrong_arcs, reduce)


def normalized_loss(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """Crammer & Singer's loss 3, the share of wrong arcs: `|E| / (|Y| |Y^c|)`.

    Examples
    --------
    >>> normalized_loss([[1, 1, 0, 0]], [[0.9, 0.2, 0.5, 0.1]])
    0.25
    """
    s = _statistics(Y, scores)
    return reduce_rows(s.wrong_arcs / (s.n_relevant * s.n_irrelevant), reduce)


def ranking_loss(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """The share of wrong arcs, `|E| / (|Y| |Y^c|)`: another name for `normalized_loss`.

    scikit-learn's `label_ranking_loss` has the same value per row, but counts rows without arcs as 0.

    Examples
    --------
    >>> ranking_loss([[1, 1, 0, 0], [0, 0, 0, 0]], [[0.9, 0.2, 0.5, 0.1], [0.4, 0.3, 0.2, 0.1]])
    0.25
    """
    return normalized_loss(Y, scores, reduce=reduce)


def identity_error_percent(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """IErr of Aiolli & Sperduti: the zero-one error x 100, `100 [E is not empty]`.

    As all metrics here it skips rows without arcs, which `zero_one_error` counts as 0; so do the next two.

    Examples
    --------
    >>> identity_error_percent([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.1], [0.9, 0.1, 0.5]])
    50.0
    """
    return 100 * indicator_loss(Y, scores, reduce=reduce)


def domination_error_percent(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """DErr of Aiolli & Sperduti: the domination error x 100, `100 |{r in Y: r has an arc in E}| / |Y|`.

    Their words define a count of relevant labels; their table (a DErr below IErr) only makes sense as the mean
    fraction of pieces, which this is.

    Examples
    --------
    >>> domination_error_percent([[1, 1, 0, 0]], [[0.9, 0.2, 0.5, 0.1]])
    50.0
    """
    s = _statistics(Y, scores)
    return reduce_rows(100 * s.wrong_heads / s.n_relevant, reduce)


def disagreement_error_percent(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """The dErr of Aiolli & Sperduti: the disagreement error x 100, `100 |E| / (|Y| |Y^c|)`.

    Their words define a count of arcs; as with DErr, their numbers are the mean fraction.

    Examples
    --------
    >>> disagreement_error_percent([[1, 1, 0, 0]], [[0.9, 0.2, 0.5, 0.1]])
    25.0
    """
    return 100 * normalized_loss(Y, scores, reduce=reduce)


def average_precision(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """AvgP: `1/|Y| sum_{r in Y} |{r' in Y: rank(r') <= rank(r)}| / rank(r)`.

    scikit-learn's `label_ranking_average_precision_score` has the same value per row, but counts rows
    without arcs as 1.

    Examples
    --------
    >>> average_precision([[1, 1, 0, 0]], [[0.9, 0.5, 0.7, 0.1]])  # (1/1 + 2/3) / 2
    0.833...
    """
    return reduce_rows(_statistics(Y, scores).precision, reduce)


def precision_at(Y: Any, scores: Any, r: int, *, reduce: Reduce = "mean") -> float | Array:
    """Precision at r: `|{l in Y: rank(l) <= r}| / r`.

    Examples
    --------
    >>> precision_at([[1, 1, 0, 0]], [[0.9, 0.5, 0.7, 0.1]], r=2)
    0.5
    """
    return reduce_rows(_statistics(Y, scores, r).hits / r, reduce)


def recall_at(Y: Any, scores: Any, r: int, *, reduce: Reduce = "mean") -> float | Array:
    """Recall at r: `|{l in Y: rank(l) <= r}| / |Y|`.

    Examples
    --------
    >>> recall_at([[1, 1, 0, 0]], [[0.9, 0.5, 0.7, 0.1]], r=3)
    1.0
    """
    s = _statistics(Y, scores, r)
    return reduce_rows(s.hits / s.n_relevant, reduce)


def precision_recall_graph(Y: Any, scores: Any) -> PrecisionRecall:
    """Crammer & Singer's Figure 6: mean precision at r and mean recall at r, for r = 1, ..., k.

    Two arrays of k values, `precision` and `recall`; all NaN when every row is skipped.

    Examples
    --------
    >>> graph = precision_recall_graph([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.1], [0.9, 0.1, 0.5]])
    >>> graph.precision.round(2).tolist(), graph.recall.tolist()
    ([1.0, 0.5, 0.5], [0.75, 0.75, 1.0])
    """
    truth, scores = check_truth_and_scores(Y, scores)
    rows, labels, shares = rank_histograms(truth.indptr, truth.indices, scores)
    n = rows or float("nan")
    return PrecisionRecall(np.cumsum(labels) / (n * np.arange(1, len(labels) + 1)), np.cumsum(shares) / n)


def max_f1(Y: Any, scores: Any, *, reduce: Reduce = "mean") -> float | Array:
    """MaxF1: `max_r 2 P(r) R(r) / (P(r) + R(r))`, with P(r) and R(r) the means of `precision_recall_graph`.

    The maximum of means, which is the reading of Crammer & Singer nearest to their numbers. `reduce="none"` is each
    row's own `max_r F1(r)`, each at its own r, so their mean is another number than `reduce="mean"` gives.

    Examples
    --------
    >>> max_f1([[1, 0, 0], [1, 1, 0]], [[0.9, 0.5, 0.1], [0.9, 0.1, 0.5]])  # at r = 1: P = 1, R = 3/4
    0.857...
    """
    if _check_reduce(reduce) == "none":
        return _statistics(Y, scores).best_f1
    precision, recall = precision_recall_graph(Y, scores)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=total.copy(), where=total > 0)
    return float(f1.max()) if len(f1) else float("nan")


class _Statistics(NamedTuple):
    """The columns of the kernel `rank_statistics`, in its order: (n,) each, NaN in rows without arcs."""

    n_relevant: Array
    n_irrelevant: Array
    wrong_arcs: Array
    wrong_heads: Array
    wrong_top: Array
    last_rank: Array
    precision: Array
    best_f1: Array
    hits: Array


def _statistics(Y: Any, scores: Any, r: int | None = None) -> _Statistics:
    truth, scores = check_truth_and_scores(Y, scores)
    cut = 1 if r is None else check_cut(r, scores.shape[1], "labels")
    return _Statistics(*rank_statistics(truth.indptr, truth.indices, scores, cut).T)


class Indicator(NamedTuple):
    """The relevant labels of each row as CSR, sorted, without duplicates or explicit zeros."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    shape: tuple[int, int]


def check_truth_and_scores(Y: Any, scores: Any) -> tuple[Indicator, Array]:
    """The one door for user data: return Y, and scores as (n, k) float64 in C order, or raise InputError."""
    truth = as_indicator(Y)
    return truth, check_scores(scores, truth.shape, "Y")


def check_scores(scores: Any, shape: tuple[int, ...], truth_name: str) -> Array:
    """Return scores as float64 in C order, of the given shape and without NaN."""
    values = as_floats(scores, "scores")
    if values.shape != shape:
        raise InputError(
            f"scores have shape {values.shape}, but {truth_name} has shape {shape}: "
            "give one score for each entry of the truth, with the columns in the same order."
        )
    if values.size and np.isnan(values.min()):  # min() carries NaN along, and needs no temporary
        where = tuple(int(i) for i in np.argwhere(np.isnan(values))[0])
        raise InputError(
            f"scores hold NaN, first at position {where}. A score must be a number or an infinity: "
            "find out why the ranker gave none, or drop those instances."
        )
    return values


def as_floats(values: Any, name: str) -> Array:
    """Return real numbers as a dense float64 array in C order; None becomes NaN."""
    return np.ascontiguousarray(_as_numbers(values, name), dtype=np.float64)


def _as_numbers(values: Any, name: str) -> npt.NDArray[Any]:
    if sp.issparse(values):
        raise InputError(f"{name} must be a dense array, got a sparse matrix: call .toarray() on it.")
    if hasattr(values, "n_arcs"):  # NumPy would take graphs for nested sequences without end
        raise InputError(f"{name} must be an array, got {values!r}: use the errors on graphs for such graphs.")
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of real numbers, got {type(values).__name__}: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be an array of real numbers, got dtype {array.dtype}: convert it first.")
    return array


def check_cut(r: Any, limit: int, things: str) -> int:
    """Return r as an int in 1..limit."""
    return check_int("r", r, at_least=1, at_most=limit, why=f"there are {limit} {things}")


def reduce_rows(values: Array, reduce: Reduce) -> float | Array:
    """Return `values`, or their mean without the NaN of skipped rows (NaN when all are skipped)."""
    if _check_reduce(reduce) == "none":
        return np.ascontiguousarray(values)
    used = values[~np.isnan(values)]
    return float(used.mean()) if len(used) else float("nan")


def _check_reduce(reduce: Any) -> Any:
    if reduce not in ("mean", "none"):
        raise ParameterError(f'reduce = {reduce!r} is unknown: choose "mean" or "none" (one value per row).')
    return reduce


def _refuse_names(Y: Any, name: str) -> None:
    """The error for a Y of names, which have neither columns nor a shape."""
    if not isinstance(Y, list | tuple) and getattr(Y, "dtype", np.dtype(float)).kind not in "OU":
        return
    for row, one in enumerate(Y):
        labels = [one] if isinstance(one, str) else one if isinstance(one, list | tuple | set | np.ndarray) else []
        label = next((x for x in labels if isinstance(x, str)), None)
        if label is not None:
            raise InputError(
                f"Row {row} of {name} names the label {str(label)!r}; {name} must be an (n, k) indicator of 0 and 1, "
                "or graphs whose labels are in the order of the scores' columns: as_graphs(y, labels=ranker.labels_)."
            )


_REMEDIES = {
    "Y": "For rank positions use kendall_tau or spearman, for grades ndcg_at.",
    "predicted": "For scores give a ranker's predict(X), or compare the scores with a threshold.",
}


def as_indicator(Y: Any, name: str = "Y") -> Indicator:
    """Return an indicator or graphs of two layers as CSR, or raise an InputError that calls it `name`."""
    if hasattr(Y, "to_indicator"):
        Y = Y.to_indicator()
    _refuse_names(Y, name)
    matrix = Y if sp.issparse(Y) else _as_numbers(Y, name)
    if matrix.ndim != 2:
        raise InputError(
            f"{name} has shape {matrix.shape}; it must be an (n, k) indicator of relevant labels, or graphs. "
            "For a vector of single labels give arcrank.graphs.as_graphs(y, labels=ranker.labels_)."
        )
    truth = sp.csr_array(matrix, copy=sp.issparse(matrix))  # a copy, because the next lines work in place
    truth.sum_duplicates()
    truth.eliminate_zeros()
    strange = truth.data[truth.data != 1]
    if len(strange):
        raise InputError(f"{name} holds the value {strange[0]!s}; an indicator has only 0 and 1. {_REMEDIES[name]}")
    indptr, indices = truth.indptr.astype(np.int64, copy=False), truth.indices.astype(np.int32, copy=False)
    return Indicator(indptr, indices, truth.shape)
