"""The generalized error of Dekel et al. (2003), eq. (1), and its four named cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from arcrank._typing import Array
from arcrank.compiled import errors_layers
from arcrank.compiled.errors_pieces import piece_costs, piece_errors
from arcrank.decompositions import Cut, Decomposition, get_decomposition
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import CandidateGraphs, LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.base import row_blocks

_LAYERED: dict[str, Callable[..., Array]] = {
    "zero-one": errors_layers.zero_one,
    "disagreement": errors_layers.disagreement,
    "domination": errors_layers.domination,
    "dominated": errors_layers.dominated,
}


@overload
def generalized_error(
    graphs: Any,
    scores: ArrayLike,
    decomposition: str | Cut | Decomposition,
    *,
    reduce: Literal["mean"] = "mean",
    weighted: bool = False,
) -> float: ...


@overload
def generalized_error(
    graphs: Any,
    scores: ArrayLike,
    decomposition: str | Cut | Decomposition,
    *,
    reduce: Literal["none"],
    weighted: bool = False,
) -> Array: ...


def generalized_error(
    graphs: Any,
    scores: ArrayLike,
    decomposition: str | Cut | Decomposition,
    *,
    reduce: Literal["mean", "none"] = "mean",
    weighted: bool = False,
) -> float | Array:
    """Fraction of an instance's pieces with which the scores disagree, as a mean over instances.

    `1/n sum_i 1/s_i |{pieces of D(G_i) with an arc of score(head) <= score(tail)}|`: ties count as errors.
    An instance without arcs counts as 0. The paper sums over instances; the mean does not depend on their number.

    Parameters
    ----------
    graphs : preference graphs, or anything that `as_graphs` takes
        What should be ranked above what.
    scores : (n, k) array
        The scores of the labels, without NaN; for `CandidateGraphs` one score for each candidate.
    decomposition : str or callable
        "zero-one" ("identity"), "disagreement", "domination", "dominated" or a callable.
    reduce : "mean" or "none"
        "none" gives the error of each instance.
    weighted : bool
        Count a piece as the weight of its heaviest wrong arc instead of 1: what `from_costs` says the mistake costs. A
        machine's loss `max w L(margin)` is a bound on it. Arcs without weights weigh 1.

    Examples
    --------
    >>> generalized_error(["a", "c", "b"], [[2, 1, 0], [1, 0, 1], [0, 1, 0]], "domination")
    0.3333333333333333
    >>> from arcrank.graphs import from_costs
    >>> graphs = from_costs([0, 1], [[0, 1, 5], [1, 0, 5], [5, 5, 0]], labels=[0, 1, 2])
    >>> generalized_error(graphs, [[1, 2, 0], [1, 2, 3]], "zero-one", weighted=True)
    3.0
    """
    if reduce not in ("mean", "none"):
        raise ParameterError(f"reduce must be 'mean' or 'none', got {reduce!r}.")
    checked, cut = as_graphs(graphs), get_decomposition(decomposition)
    if isinstance(checked, CandidateGraphs):
        errors = _candidate_errors(checked, check_candidate_scores(scores, checked), cut, weighted)
    else:
        errors = _errors(checked, check_scores(scores, checked.shape), cut, weighted)
    if reduce == "none":
        return errors
    return float(errors.mean()) if len(errors) else 0.0


def _errors(graphs: PreferenceGraphs, scores: Array, cut: Decomposition, weighted: bool) -> Array:
    if isinstance(graphs, LayeredGraphs) and cut.layered in _LAYERED:
        layers = graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers)
        return _LAYERED[cut.layered](*layers, scores)
    errors = np.zeros(len(graphs))
    for block in row_blocks(*graphs.shape):  # a layered graph's arcs are written out for one block at a time
        pieces = cut.pieces(graphs[block].to_arcs(), block.start)
        ends = pieces.row_ptr, pieces.arc_ptr, pieces.head, pieces.tail
        if weighted:
            errors[block] = piece_costs(*ends, pieces.weight, scores[block])
        else:
            errors[block] = piece_errors(*ends, scores[block])
    return errors


def _candidate_errors(graphs: CandidateGraphs, scores: Array, cut: Decomposition, weighted: bool) -> Array:
    errors = np.zeros(len(graphs))
    for bucket in graphs.buckets():
        errors[bucket.rows] = _errors(bucket.graphs, bucket.gather(scores), cut.of_rows(bucket.rows), weighted)
    return errors


def check_candidate_scores(scores: ArrayLike, graphs: CandidateGraphs) -> Array:
    """One score for each candidate, without NaN."""
    values = np.asarray(scores)
    if values.shape != (graphs.ptr[-1],):
        raise InputError(
            f"Scores must have one number for each of the {graphs.ptr[-1]} candidates; got shape {values.shape}."
        )
    return check_scores(values[:, None], (len(values), 1))[:, 0]


def check_scores(scores: ArrayLike, shape: tuple[int, int]) -> Array:
    """Scores as a C-ordered float64 matrix of the graphs' shape, without NaN; copied only where that is needed."""
    matrix = np.asarray(scores)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"Scores must be numbers, got an array of {matrix.dtype}.")
    if matrix.shape != shape:
        raise InputError(
            f"Scores must have one row for each instance and one column for each label, {shape}; got {matrix.shape}. "
            "Where y names its labels and lacks some, give as_graphs(y, labels=ranker.labels_)."
        )
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if matrix.size and np.isnan(matrix.min()):  # min passes NaN on, and needs no temporary matrix
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise InputError(f"The score of label {column} for instance {row} is NaN; scores must be numbers.")
    return matrix


def zero_one_error(graphs: Any, scores: ArrayLike, *, reduce: Any = "mean", weighted: bool = False) -> Any:
    """Fraction of instances with at least one violated arc.

    Examples
    --------
    >>> from arcrank.graphs import LayeredGraphs
    >>> g = LayeredGraphs.from_levels([[0, 1, 1], [1, 0, 1]])
    >>> zero_one_error(g, [[2, 1, 0], [1, 1, 0]])
    0.5
    """
    return generalized_error(graphs, scores, "zero-one", reduce=reduce, weighted=weighted)


def disagreement_error(graphs: Any, scores: ArrayLike, *, reduce: Any = "mean", weighted: bool = False) -> Any:
    """Mean fraction of violated arcs.

    Examples
    --------
    >>> from arcrank.graphs import ArcGraphs
    >>> disagreement_error(ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)]], 3), [[3, 2, 1]], reduce="none")
    array([0.33333333])
    """
    return generalized_error(graphs, scores, "disagreement", reduce=reduce, weighted=weighted)


def domination_error(graphs: Any, scores: ArrayLike, *, reduce: Any = "mean", weighted: bool = False) -> Any:
    """Mean fraction of heads that do not score above all their tails.

    Examples
    --------
    >>> from arcrank.graphs import LayeredGraphs
    >>> domination_error(LayeredGraphs.from_levels([[0, 0, 1]]), [[3, 1, 2]])
    0.5
    """
    return generalized_error(graphs, scores, "domination", reduce=reduce, weighted=weighted)


def dominated_error(graphs: Any, scores: ArrayLike, *, reduce: Any = "mean", weighted: bool = False) -> Any:
    """Mean fraction of tails that do not score below all their heads.

    Examples
    --------
    >>> from arcrank.graphs import LayeredGraphs
    >>> dominated_error(LayeredGraphs.from_levels([[0, 0, 1]]), [[3, 1, 2]])
    1.0
    """
    return generalized_error(graphs, scores, "dominated", reduce=reduce, weighted=weighted)
