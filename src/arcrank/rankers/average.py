"""A weighted average of label rankers."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import has_fit_parameter

from arcrank._threads import map_in_threads
from arcrank._typing import Array
from arcrank._validation import check_real
from arcrank.errors import ParameterError
from arcrank.graphs.cut import CUT
from arcrank.rankers.base import LabelRanker, LinearRanker, check_sample_weight
from arcrank.rankers.linear import Explanation

__all__ = ["AverageRanker"]


class AverageRanker(LinearRanker, _BaseComposition):
    """Rank labels by a weighted sum of the scores of several rankers that learn from the same features.

    Linear rankers are added up to one linear ranker: ranking and explaining cost the same as for one of them. Others
    are kept, and their scores are added. The cut and the probabilities are those of the average: they are fitted to its
    out-of-fold scores.

    Parameters
    ----------
    rankers : list of (name, ranker)
        Label rankers, not fitted; names as in scikit-learn's ensembles. Their own `cut_label`, `cut_level` and
        `calibration_folds` are replaced by those of the average.
    weights : list of float, or None
        What the scores of each ranker are multiplied by, above 0. Scores of rankers that learn by different losses
        have different scales, which the weights should even out. None: 1 / number of rankers.
    cut_label, cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`.
    label_correlations : bool
        As in `LogLinearRanker`, if all rankers are linear.

    Attributes
    ----------
    coef_, intercept_ : (k, d) and (k,) arrays
        The weights of the average, if all rankers are linear; else there is only the intercept, 0 unless offsets were
        chosen.
    members_ : list of fitted rankers
        Empty if all of them are linear.
    labels_ : (k,) array
        The columns of a matrix, else sorted.
    calibration_ : Calibration
        With cut_label: what `predict_proba` is computed by.
    label_correlations_ : (k, k) array
        With label_correlations: what the score of the label of a row adds to that of the label of a column.

    Examples
    --------
    >>> from arcrank import AverageRanker, LogLinearRanker, PreferenceMachine
    >>> average = AverageRanker([("margin", PreferenceMachine(C=1)), ("log-linear", LogLinearRanker(C=10))])
    >>> average.fit([[1.0, 0.0], [0.0, 1.0]], ["tea", "milk"]).rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """

    def __init__(
        self,
        rankers: Any = (),
        weights: Any = None,
        *,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        label_correlations: bool = True,
    ) -> None:
        self.rankers = rankers
        self.weights = weights
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds
        self.label_correlations = label_correlations

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` also those of the rankers as `name__parameter`."""
        parameters: dict[str, Any] = self._get_params("rankers", deep=deep)
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the rankers as `name__parameter`."""
        self._set_params("rankers", **params)
        return self

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        if not self.rankers:
            raise ParameterError("rankers is empty; give at least one (name, ranker).")
        for pair in self.rankers:
            if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], LabelRanker)):
                raise ParameterError(f"rankers must be a list of (name, label ranker); got {pair!r:.80}.")
        try:
            self._validate_names([name for name, _ in self.rankers])
        except ValueError as error:
            raise ParameterError(f"rankers: {error}.") from None
        if self.weights is not None and len(self.weights) != len(self.rankers):
            raise ParameterError(f"There are {len(self.rankers)} rankers, but {len(self.weights)} weights.")
        for weight in self.weights or ():
            check_real("weights", weight, above=0)
        self._check_cut_parameters()
        for ranker in self._members():
            ranker.check_parameters()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every ranker to instances X, (n, d), and preferences y, anything `as_graphs` takes."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
        fit_member = partial(fitted, X=X, graphs=graphs, weight=weight)
        self._combine(map_in_threads(fit_member, self._members(), self._n_threads()))
        self._calibrate_by_folds(X, graphs, weight)
        return self

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        if not self._is_sum():
            return super().score_labels(X)
        X = self._check_features(X, reset=False)
        scores = np.tile(self.intercept_, (X.shape[0], 1))
        for weight, member in zip(self._weights(), self.members_, strict=True):
            scores += weight * member.score_labels(X)
        return scores

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Each feature's part of the margin of two labels: the weighted sum of its parts in the rankers."""
        if not self._is_sum():
            return super().explain(x, above, below)
        parts: dict[Any, float] = defaultdict(float)
        constant = self._offset(above) - self._offset(below)
        for weight, member in zip(self._weights(), self.members_, strict=True):
            why = member.explain(x, above, below)
            constant += weight * why.intercept
            for name, value in why.parts:
                parts[name] += weight * value
        return Explanation.of(above, below, list(parts), np.array(list(parts.values())), constant)

    def _is_sum(self) -> bool:
        """Whether the scores of several rankers are added, rather than their weights."""
        return bool(getattr(self, "members_", ()))

    def _offset(self, label: Any) -> float:
        return 0.0 if label is CUT else float(self.intercept_[self._column(label)])

    def _weights(self) -> Array:
        n = len(self.rankers)
        return np.full(n, 1.0 / n) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    def _members(self) -> list[Any]:
        """Copies of the rankers that learn the cut of the average and are not calibrated themselves."""
        common = {"cut_label": bool(self.cut_label), "cut_level": None, "calibration_folds": 0}
        copies = [clone(ranker) for _, ranker in self.rankers]
        for ranker in copies:
            known = ranker.get_params(deep=False)
            if self.cut_label and "cut_label" not in known:
                raise ParameterError(f"{type(ranker).__name__} cannot learn a cut label; pass cut_label=False.")
            ranker.set_params(**{name: value for name, value in common.items() if name in known})
        return copies

    def _learns_correlations(self, n_instances: int, n_labels: int) -> bool:
        return not self._is_sum() and super()._learns_correlations(n_instances, n_labels)

    def _costs(self) -> dict[str, float]:
        return self._used_costs

    def _n_threads(self) -> int:
        return max(int(getattr(ranker, "n_jobs", 1)) for _, ranker in self.rankers)

    def _combine(self, members: list[Any]) -> None:
        self.__dict__.pop("coef_", None)
        named = zip((name for name, _ in self.rankers), members, strict=True)
        self._used_costs = {f"{name}__C": member.C_ for name, member in named if hasattr(member, "C_")}
        if all(hasattr(member, "coef_") for member in members):
            pairs = list(zip(self._weights(), members, strict=True))
            self.coef_ = np.add.reduce([weight * member.coef_ for weight, member in pairs])
            self.intercept_ = np.add.reduce([weight * member.intercept_ for weight, member in pairs])
            self.members_: list[Any] = []
        else:
            self.members_ = members
            self.intercept_ = np.zeros(len(self.labels_))


def fitted(ranker: Any, X: Any, graphs: Any, weight: Any) -> Any:
    """Fit a ranker, with weights of the instances where there are any."""
    if weight is None:
        return ranker.fit(X, graphs)
    if not has_fit_parameter(ranker, "sample_weight"):
        raise ParameterError(f"{type(ranker).__name__} does not take sample_weight; leave it out.")
    return ranker.fit(X, graphs, sample_weight=weight)
