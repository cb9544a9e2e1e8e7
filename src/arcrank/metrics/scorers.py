"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_validate` and similar functions.

A scorer asks the estimator for `score_labels(X)`, else `decision_function(X)`, else `predict_proba(X)`, so it serves
arcrank's rankers, pipelines that end in one, and scikit-learn's own classifiers. Metrics of label sets ask for
`predict(X)`, those of probabilities for `predict_proba(X)`.

Sparse truth: `GridSearchCV` takes a CSR `y` as it is. `cross_validate` and `cross_val_score` refuse every sparse `y`
before any scorer is called; give them `LayeredGraphs.from_label_sets(Y)`, which is as small, or set
`sklearn.config_context(skip_parameter_validation=True)` for an estimator that wants the matrix itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import CandidateGraphs, LayeredGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.candidates import Bucket
from arcrank.graphs.kinds import check_columns, detect_kind, unwrap
from arcrank.graphs.unseen import graphs_over, warn_of_unseen
from arcrank.metrics import bipartite, calibration, generalized, label_sets, orders, ranking

_LOSS, _GAIN = -1, 1
_LABEL_METRICS = {
    "one_error": _LOSS,
    "coverage": _LOSS,
    "ranking_loss": _LOSS,
    "indicator_loss": _LOSS,
    "size_loss": _LOSS,
    "normalized_loss": _LOSS,
    "identity_error_percent": _LOSS,
    "domination_error_percent": _LOSS,
    "disagreement_error_percent": _LOSS,
    "average_precision": _GAIN,
    "max_f1": _GAIN,
    "precision_at": _GAIN,
    "recall_at": _GAIN,
}
_SET_METRICS = {
    "micro_f1": _GAIN,
    "macro_f1": _GAIN,
    "micro_precision": _GAIN,
    "micro_recall": _GAIN,
    "subset_accuracy": _GAIN,
}
_PROBABILITY_METRICS = {"expected_calibration_error": _LOSS, "first_label_calibration_error": _LOSS}
_GRAPH_METRICS = {
    "generalized_error": _LOSS,
    "zero_one_error": _LOSS,
    "disagreement_error": _LOSS,
    "domination_error": _LOSS,
    "dominated_error": _LOSS,
}
_ORDER_METRICS = {"kendall_tau": _GAIN, "spearman": _GAIN, "ndcg_at": _GAIN}
_BIPARTITE_METRICS = {"auc": _GAIN, "uninterpolated_precision": _GAIN, "top_precision": _GAIN}
_SIGNS = {
    **_LABEL_METRICS,
    **_SET_METRICS,
    **_PROBABILITY_METRICS,
    **_GRAPH_METRICS,
    **_ORDER_METRICS,
    **_BIPARTITE_METRICS,
}


def scorer(name: str, **parameters: Any) -> Scorer:
    """Return a picklable callable `(estimator, X, y) -> float`, greater is better: losses and errors change sign.

    `name` is that of a metric of `arcrank.metrics`, `parameters` are its own (`r`, `ties`, `decomposition`). The truth
    may be what that metric takes, and for sets of relevant labels and graph errors also anything `as_graphs` takes.
    Names are matched with the estimator's labels; a matrix has a column for each of its labels, in their order.
    Orders and grades may be layered graphs: for "ndcg_at" a layer's grade is the number of the instance's layers below
    it. With CandidateSets as X give graphs over the candidates; their metrics are graph errors, orders and "ndcg_at".

    Examples
    --------
    >>> scorer("precision_at", r=3)
    scorer('precision_at', r=3)
    """
    if name not in _SIGNS:
        raise ParameterError(f"There is no scorer called {name!r}; choose one of: {', '.join(sorted(_SIGNS))}.")
    if "reduce" in parameters:
        raise ParameterError("A scorer returns one number: leave out reduce, which is always the mean.")
    signature = inspect.signature(_metric(name))
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        raise ParameterError(f"scorer({name!r}) cannot be made: {error}. {name} takes {signature}.") from error
    return Scorer(name, parameters)


class Scorer:
    """A metric by name with its parameters; see `scorer`. It holds no function, so that it can always be pickled."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name = name
        self.parameters = parameters

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the metric of the estimator's scores of X against y, with the sign that makes greater better."""
        if hasattr(X, "ptr") and _is_graphs(y):
            return self._of_candidates(estimator, X, X.graphs(y))
        scores = self._outputs(estimator, X)
        if self.name in _BIPARTITE_METRICS:
            scores = _one_column(scores)
        else:
            scores = _two_columns(scores)
            y = _aligned(y, _column_names(estimator, scores.shape[1]))
            given, y = y, self._truth(y, estimator)
            self._warn_of_unseen(given if _is_graphs(given) else y, estimator)
        return _SIGNS[self.name] * float(_metric(self.name)(y, scores, **self.parameters))

    def _of_candidates(self, estimator: Any, X: Any, graphs: CandidateGraphs) -> float:
        """The metric of candidates, a mean over instances."""
        scores, sign = _estimator_scores(estimator, X), _SIGNS[self.name]
        if self.name in _GRAPH_METRICS:
            return sign * float(_metric(self.name)(graphs, scores, **self.parameters))
        if self.name not in _ORDER_METRICS:
            allowed = ", ".join(sorted({**_GRAPH_METRICS, **_ORDER_METRICS}))
            raise ParameterError(f"scorer({self.name!r}) is not for CandidateSets; choose one of: {allowed}.")
        values = [
            _metric(self.name)(self._truth(one.graphs, estimator), one.gather(scores, -np.inf), **self._rows(one))
            for one in graphs.buckets()
        ]
        found = np.concatenate([np.empty(0), *values])
        return sign * float(np.nanmean(found)) if not np.isnan(found).all() else float("nan")

    def _rows(self, bucket: Bucket) -> dict[str, Any]:
        """The parameters for a value of each instance, with r limited to the candidates that there are."""
        limited = {"r": min(self.parameters["r"], bucket.graphs.n_labels)} if "r" in self.parameters else {}
        return {**self.parameters, **limited, "reduce": "none"}

    def __repr__(self) -> str:
        parameters = "".join(f", {key}={value!r}" for key, value in self.parameters.items())
        return f"scorer({self.name!r}{parameters})"

    def _outputs(self, estimator: Any, X: Any) -> Any:
        if self.name in _SET_METRICS:
            return _predicted_sets(estimator, X)
        return (_probabilities if self.name in _PROBABILITY_METRICS else _estimator_scores)(estimator, X)

    def _truth(self, y: Any, estimator: Any) -> Any:
        if self.name in _ORDER_METRICS and _is_graphs(y):
            return _grades(y) if self.name == "ndcg_at" else _positions(y)
        if self.name in _ORDER_METRICS or _is_graphs(y):
            return y
        if _is_matrix(y) and self.name not in _GRAPH_METRICS:  # the columns are already those of the scores
            return y
        kind = detect_kind(unwrap(y), getattr(_last_step(estimator), "_kind", None))
        return as_graphs(y, kind=kind) if _is_matrix(y) else graphs_over(y, kind, _names(estimator))

    def _warn_of_unseen(self, y: Any, estimator: Any) -> None:
        """Warn where graphs or an indicator have all labels, but other ones at the top than the training data had."""
        seen = getattr(_last_step(estimator), "_top_seen", None)
        if seen is None or not (_is_graphs(y) or (_is_matrix(y) and self.name in _LABEL_METRICS)):
            return
        warn_of_unseen(y if _is_graphs(y) else LayeredGraphs.from_label_sets(y), seen)


def _metric(name: str) -> Callable[..., Any]:
    """Find the function late: the graph errors bring the graphs with them, which the others do not need."""
    if name in _GRAPH_METRICS:
        return getattr(generalized, name)
    homes = {
        ranking: _LABEL_METRICS,
        label_sets: _SET_METRICS,
        calibration: _PROBABILITY_METRICS,
        orders: _ORDER_METRICS,
    }
    return getattr(next((module for module, names in homes.items() if name in names), bipartite), name)


def _estimator_scores(estimator: Any, X: Any) -> Any:
    ranker = _last_step(estimator)
    if ranker is not estimator and hasattr(ranker, "score_labels"):  # a Pipeline does not hand this method on
        return ranker.score_labels(estimator[:-1].transform(X) if len(estimator) > 1 else X)
    for method in ("score_labels", "decision_function", "predict_proba"):
        if hasattr(estimator, method):
            scores = getattr(estimator, method)(X)
            return _join_outputs(scores, estimator) if isinstance(scores, list) else np.asarray(scores)
    raise InputError(
        f"{type(estimator).__name__} gives no scores to rank by: it has none of score_labels, decision_function "
        "and predict_proba. Use a ranker, or a classifier with one of these."
    )


def _probabilities(estimator: Any, X: Any) -> Any:
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{type(estimator).__name__} has no predict_proba, so its probabilities cannot be measured: use a ranker "
            "with cut_label=True, call calibrate(X, y) on it, or use a classifier that has probabilities."
        )
    found = estimator.predict_proba(X)
    return _join_outputs(found, estimator) if isinstance(found, list) else np.asarray(found)


def _predicted_sets(estimator: Any, X: Any) -> Any:
    """Return the predicted labels as an (n, k) indicator, also where `predict` gives names."""
    predicted = estimator.predict(X)
    if _is_matrix(predicted):
        return predicted
    kind = getattr(_last_step(estimator), "_kind", "single")  # a classifier predicts sets as a matrix
    graphs: Any = as_graphs(predicted, kind=kind, labels=_names(estimator))
    return graphs.to_indicator()


def _last_step(estimator: Any) -> Any:
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _names(estimator: Any) -> Any:
    """Return the names of the score columns: `labels_` of a ranker, `classes_` of a classifier, or None."""
    last = _last_step(estimator)
    return getattr(last, "labels_", getattr(last, "classes_", None))


def _column_names(estimator: Any, k: int) -> Any:
    """Return the names of k score columns; None where the estimator has none for each of them."""
    names = _names(estimator)
    is_one_each = names is not None and len(names) == k and all(np.ndim(name) == 0 for name in names)
    return names if is_one_each else None  # of several outputs, classes_ holds the values of each


def _aligned(y: Any, names: Any) -> Any:
    """Return graphs over the labels of the score columns; other truth as it is, its named columns checked."""
    if names is None:
        return y
    if _is_graphs(y):
        return align_labels(y, names)
    check_columns(y, np.asarray(names))
    return y


def _join_outputs(outputs: list[Any], estimator: Any) -> Any:
    """Return (n, k) probabilities of 1 from scikit-learn's list of k (n, 2) arrays; 0 where 1 was never seen."""
    columns = []
    for output, classes in zip(outputs, _last_step(estimator).classes_, strict=True):
        columns.append(np.asarray(output)[:, np.asarray(classes) == 1].sum(axis=1))
    return np.column_stack(columns)


def _two_columns(scores: Any) -> Any:
    """Return one score a label where a binary classifier gave one an instance, for the second label."""
    return np.column_stack((-scores, scores)) if scores.ndim == 1 else scores


def _one_column(scores: Any) -> Any:
    """Return the score of relevance where a binary classifier gave one for each of 0 and 1."""
    return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores


def _positions(graphs: Any) -> Any:
    """Return (n, k) rank positions of layered graphs, NaN where a label is not judged."""
    if not hasattr(graphs, "levels"):
        raise InputError(
            f"Orders and grades cannot be read from {graphs!r}: give layered graphs or a matrix, or evaluate "
            "arcs with scorer('disagreement_error')."
        )
    levels = graphs.levels()
    return np.where(levels < 0, np.nan, levels + 1.0)


def _grades(graphs: Any) -> Any:
    """Return (n, k) grades of layered graphs: 0 in an instance's lowest layer, NaN where a label is not judged."""
    positions = _positions(graphs)
    return np.nanmax(positions, axis=1, keepdims=True, initial=1.0) - positions


def _is_graphs(y: Any) -> bool:
    return hasattr(y, "n_arcs")


def _is_matrix(y: Any) -> bool:
    return sp.issparse(y) or np.ndim(y) == 2 if hasattr(y, "shape") else False
