"""What every label ranker shares: supervision in, scores and rankings out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from arcrank._features import check_features
from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_int
from arcrank.errors import InputError
from arcrank.graphs import PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import CUT, insert_cut, mentions_cut, plain_labels, without_cut
from arcrank.graphs.kinds import check_later, detect_kind, unwrap
from arcrank.graphs.unseen import graphs_over, seen_on_top, warn_of_unseen
from arcrank.memory import check_memory
from arcrank.rankers.candidates import refuse_candidates
from arcrank.rankers.linear import Explanation, relative_to_cut, replaced_by_relative, top_columns
from arcrank.rankers.probabilities import Probabilities
from arcrank.solvers.products import row_products


class Sizes(NamedTuple):
    """What the memory of a fit depends on.

    `flows` is how many variables a log-linear dual would have, and `explicit` says whether graphs are given as arcs.
    """

    instances: int
    features: int
    labels: int
    flows: int = 0
    explicit: bool = False


class LabelRanker(Probabilities, BaseEstimator, ABC):
    """A function from instances to total orders over labels.

    Conventions
    -----------
    X : (n, d), dense or sparse
    y : anything `as_graphs` takes
    labels_ : (k,) names in the order of the score columns: a matrix's columns, else sorted
    """

    labels_: NDArray[Any]
    n_features_in_: int
    _kind: str
    _top_seen: Mask
    _takes_missing: bool = False
    """Whether NaN in X is a missing value."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, (k,): `labels_` under the name by which scikit-learn's tools ask for it."""
        return self.labels_

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from instances X and their preferences y."""

    @abstractmethod
    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""

    def decision_function(self, X: Any) -> Array:
        """`score_labels(X)`, as scikit-learn's tools expect it of a classifier.

        After single labels of which there are exactly two it is the margin of the second label over the first, (n,).
        """
        scores = self.score_labels(X)
        if self._kind == "single" and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Label names in order, best first: (n, k), or (n, top). Equal scores keep the order of `labels_`."""
        scores = self.score_labels(X)
        if top is not None:
            check_int("top", top, at_least=1, also="None")
        return self.labels_[top_columns(scores, top)]

    def predict(self, X: Any) -> Any:
        """The kind of supervision that was given to `fit`.

        Single labels: the best label of each instance. Label sets: the labels above the best cut of the ranking, as an
        indicator matrix or as lists of names; with `cut_label=True` these are the labels that score above 0.
        Everything else: an (n, k) matrix of ranks, 1 = best.
        """
        scores = self.score_labels(X)
        if self._kind == "single":
            return self.labels_[scores.argmax(axis=1)]
        if self._kind == "indicator":
            return self._label_sets(scores).astype(np.int64)
        if self._kind == "sets":
            return [self.labels_[row].tolist() for row in self._label_sets(scores)]
        return rank_matrix(scores)

    def _label_sets(self, scores: Array) -> Mask:
        """The labels above the cut, where there is one."""
        return scores > 0.0 if self.cut_label else self._relevant(scores)

    def _relevant(self, scores: Array) -> Mask:
        """The labels above the cut of each ranking that an instance's label set is predicted to be."""
        sizes = self._cut_sizes(-np.sort(-scores, axis=1))
        order = np.argsort(-scores, axis=1, kind="stable")
        relevant = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(relevant, order, np.arange(scores.shape[1]) < sizes[:, None], axis=1)
        return relevant

    def _cut_sizes(self, ordered: Array) -> IntArray:
        """How many labels are relevant, given scores in descending order: up to the largest gap."""
        if ordered.shape[1] < 2:
            return np.ones(len(ordered), dtype=np.intp)
        return (ordered[:, :-1] - ordered[:, 1:]).argmax(axis=1) + 1

    def score(self, X: Any, y: Any) -> float:
        """One minus the error that belongs to the ranker's decomposition (domination where it has none)."""
        from arcrank.metrics import generalized_error

        decomposition = getattr(self, "decomposition", "domination")
        graphs = self._graphs_of(y)
        warn_of_unseen(graphs, getattr(self, "_top_seen", None))
        return 1.0 - generalized_error(graphs, self.score_labels(X), decomposition)

    def _graphs_of(self, y: Any) -> PreferenceGraphs:
        """Graphs of new supervision over the labels that were learnt."""
        return without_cut(self._graphs_as_given(y))

    def _graphs_as_given(self, y: Any) -> PreferenceGraphs:
        """The same, with CUT as last label where y mentions it."""
        if isinstance(y, PreferenceGraphs):
            return align_labels(y, [*self.labels_.tolist(), CUT] if mentions_cut(y) else self.labels_)
        if self._kind == "graphs":
            return graphs_over(y, None, self.labels_)
        check_later(y, self._kind, self.labels_)
        return graphs_over(y, self._kind, self.labels_)

    def _learn_labels(self, y: Any, n: int) -> PreferenceGraphs:
        """Turn y into graphs of n instances, with the cut as their first label if there is one, and remember its kind.

        The names of the labels, `labels_`, do not list the cut.
        """
        if y is None:
            raise InputError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if isinstance(y, PreferenceGraphs):
            graphs, self._kind = y, "graphs"
        else:
            self._kind = detect_kind(unwrap(y))
            graphs = as_graphs(y, kind=self._kind)
        if len(graphs) != n:
            raise InputError(
                f"X has {n} instances and y has {len(graphs)}; give one preference graph for each instance."
            )
        labels, graphs = plain_labels(graphs), self._with_cut(graphs, self._kind)
        if not self.cut_label:
            refuse_one_label(graphs)
        self._check_memory(self._sizes(graphs, self.n_features_in_))
        self.labels_ = labels
        self._top_seen = seen_on_top(graphs)[-len(self.labels_) :]
        self._drop_calibration()
        if self._learns_cut or not self.cut_label:
            warn_without_arcs(graphs)
        return graphs

    def _with_cut(self, graphs: PreferenceGraphs, kind: str) -> PreferenceGraphs:
        """The graphs to learn from: over the cut and the labels, if the cut is to be learnt."""
        if self.cut_label and self._learns_cut:
            return insert_cut(graphs, self.cut_level, as_sets=kind != "layers")
        if mentions_cut(graphs):
            raise InputError(
                f"y mentions CUT, but this {type(self).__name__} has no weights for it; "
                + ("give label sets." if self.cut_label else "pass cut_label=True.")
            )
        return graphs

    def _costs(self) -> dict[str, float]:
        """The C that was used, by the name of its parameter; empty where there is none."""
        return {"C": self.C_} if hasattr(self, "C_") else {}

    def _sizes(self, graphs: PreferenceGraphs, n_features: int) -> Sizes:
        return Sizes(len(graphs), n_features, graphs.n_labels)

    def _bytes_needed(self, sizes: Sizes) -> int:
        """The approximate memory of `fit` besides X and y: 8 bytes for each weight."""
        return 8 * sizes.features * sizes.labels

    def _check_memory(self, sizes: Sizes) -> None:
        """Refuse work that would end in a MemoryError, or be killed, after it has taken its time."""
        check_memory(self._bytes_needed(sizes), type(self).__name__, sizes.features, sizes.labels)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        refuse_candidates(X, type(self).__name__)
        if not reset:
            check_is_fitted(self)
        return check_features(self, X, reset=reset, missing=self._takes_missing)

    def _one_row(self, x: Any) -> Any:
        """The instance that `explain` is given, as a matrix of one row."""
        refuse_candidates(x, "explain")
        row = x if sp.issparse(x) or getattr(x, "ndim", 0) == 2 else np.atleast_2d(np.asarray(x))
        row = self._check_features(row, reset=False)
        if row.shape[0] != 1:
            raise InputError(f"explain takes one instance, got {row.shape[0]}; pass X[[i]].")
        return row

    def _column(self, label: Any) -> int:
        found = np.flatnonzero(self.labels_ == label)
        if not found.size:
            raise InputError(f"{label!r} is not one of the {len(self.labels_)} labels of this ranker; see labels_.")
        return int(found[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        tags.target_tags.required = True
        return tags


class LinearRanker(LabelRanker):
    """A label ranker with scores `X @ coef_.T + intercept_`."""

    coef_: Array
    intercept_: Array

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        return row_products(self._check_features(X, reset=False), self.coef_.T) + self.intercept_

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Why label `above` scores higher (or lower) than `below` for one instance: each feature's part of the margin.

        Parameters
        ----------
        x : (1, d) or (d,) array
            One instance.
        above, below : labels
            Two labels of `labels_`, or `arcrank.CUT` for one of them: why a label is in or out.
        """
        row = sp.csr_matrix(self._one_row(x))
        (high, high_constant), (low, low_constant) = (self._label_weights(name, row.indices) for name in (above, below))
        values = row.data * (high - low)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[row.indices]
        return Explanation.of(above, below, names, values, high_constant - low_constant)

    def _label_weights(self, label: Any, columns: IntArray) -> tuple[Array, float]:
        """Weights of these features and the constant of a label; those of the cut are 0, since scores are relative."""
        if label is CUT:
            if not self.cut_label:
                raise InputError(f"This {type(self).__name__} has not learnt a cut; fit it with cut_label=True.")
            return np.zeros(len(columns)), 0.0
        at = self._column(label)
        return self.coef_[at, columns], float(self.intercept_[at])

    def _set_weights(self, W: Array, n_features: int, constant: float = 1.0, *, in_place: bool = False) -> None:
        """Keep (d, k) weights, the last row being those of the constant feature where there is one more than features.

        Those of the cut, the first column, are subtracted from the others: only differences matter. With `in_place`, W
        is lost, and there are never two of them in memory.
        """
        if self.cut_label and self._learns_cut and self._kind != "candidates":
            W = replaced_by_relative(W) if in_place and W.flags.c_contiguous else relative_to_cut(W)
        self.coef_ = W[:n_features].T
        self.intercept_ = constant * W[n_features] if len(W) > n_features else np.zeros(W.shape[1])


def rank_matrix(scores: Array) -> NDArray[np.int64]:
    """(n, k) ranks, 1 = best; rank(r) = number of labels with a score of at least r's."""
    ordered = np.sort(scores, axis=1)
    ranks = np.empty(scores.shape, dtype=np.int64)
    for row, (values, sorted_values) in enumerate(zip(scores, ordered, strict=True)):
        ranks[row] = len(values) - np.searchsorted(sorted_values, values, side="left")
    return ranks


def add_intercept(X: Any, constant: float) -> Any:
    """X with a last column of this value; CSR stays CSR.

    Examples
    --------
    >>> add_intercept(sp.csr_matrix([[0.0, 1.0], [0.0, 0.0]]), 5.0).toarray().tolist()
    [[0.0, 1.0, 5.0], [0.0, 0.0, 5.0]]
    """
    n, d = X.shape
    if not sp.issparse(X):
        return np.hstack([X, np.full((n, 1), constant)])
    # SciPy would make coordinates of all values first.
    indptr = X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
    old = np.ones(indptr[-1], dtype=bool)
    old[indptr[1:] - 1] = False
    indices, data = np.full(len(old), d, dtype=X.indices.dtype), np.full(len(old), constant)
    indices[old], data[old] = X.indices, X.data
    return sp.csr_matrix((data, indices, indptr), shape=(n, d + 1))


def refuse_one_label(graphs: PreferenceGraphs) -> None:
    """Raise an InputError where there are no two labels to rank."""
    if graphs.n_labels > 1:
        return
    if graphs.labels is None:
        raise InputError(
            "y has a single column, and ranking needs at least two labels: one class is not enough. If it holds one "
            "label for each instance, pass y.ravel()."
        )
    raise InputError(
        f"y has one class only, {graphs.labels.tolist()[0]!r}, and ranking needs at least two labels. Add instances of "
        "other labels, or name all labels: as_graphs(y, labels=[...])."
    )


def warn_without_arcs(graphs: PreferenceGraphs) -> None:
    """Warn where there is nothing to learn from, which often is supervision written in another way than meant."""
    first_rows = graphs[: min(100, len(graphs))]  # nearly always enough; all arcs of a stream take time to count
    if max(graphs.shape) > 1 and first_rows.n_arcs == 0 and graphs.n_arcs == 0:
        warnings.warn(
            "No instance prefers any label to another: nothing can be learnt. Arcs are written as tuples (a, b), or "
            "given as as_graphs(y, kind='arcs'); labels in order, best first, as as_graphs(y, kind='ranking').",
            UserWarning,
            stacklevel=4,
        )


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> Array:
    """Weights of the instances, at least 0."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InputError(f"sample_weight must have one number for each of the {n} instances, got shape {weight.shape}.")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("sample_weight must hold finite numbers of at least 0.")
    if n and not weight.any():
        raise InputError("All of sample_weight is zero, so there is nothing to learn from; give a positive weight.")
    return weight
