"""Label rankers that learn from labelled and unlabelled instances."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.extmath import randomized_svd

from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_int, check_real, check_seed
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, concatenate
from arcrank.graphs.cut import insert_cut, plain_labels
from arcrank.graphs.unlabelled import split_unlabelled
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.average import AverageRanker, fitted

__all__ = ["SemiSupervisedRanker", "latent_directions", "tentative_levels"]

MOST_TENTATIVE = 1000
"""So many unlabelled instances get tentative preferences: more of them take time and say little more."""
RELEVANT, IRRELEVANT = 0.5, 0.05
"""Probabilities from which a label is tentatively relevant, and below which it is not; between, it is not judged."""
_FOLDS = 3


class SemiSupervisedRanker(AverageRanker):
    """An average of linear rankers that learn from unlabelled instances too.

    Unlabelled instances tell which features occur together: the directions V of the largest variance of all instances
    (latent semantic analysis) become further features, `x -> (x, latent_weight V'x)`. A linear score of both is a
    linear score of x, with the weights `W + latent_weight V B`, so the result is one linear ranker.

    With a cut, unlabelled instances also get tentative preferences: labels with a probability of at least 0.5, by the
    rankers learnt from labelled instances and calibrated by cross-validation, are above the cut, and labels with a
    probability below 0.05 are below it. The others are not judged. The rankers are then learnt again from both.

    Either can make a ranking worse. `AutoRanker` selects both weights by cross-validation on the labelled instances.

    Parameters
    ----------
    rankers, weights
        As in `AverageRanker`; linear rankers only.
    latent_weight : float
        The length of latent features relative to x; 0 for none.
    n_components : int
        How many latent features there are.
    tentative_weight : float
        The weight of all tentative preferences together, relative to that of all labelled instances; 0 for none. It
        needs label sets or single labels and cut_label=True, and at most 1,000 unlabelled instances are used.
    random_state : int
        Of the sample of unlabelled instances and of the search for directions.
    cut_label, cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`; offsets and probabilities are fitted on labelled instances only.

    Attributes
    ----------
    coef_, intercept_ : (k, d) and (k,) arrays
        The weights of the labels.
    labels_ : (k,) array
        The columns of a matrix, else sorted.
    calibration_ : Calibration
        With cut_label: what `predict_proba` is computed by.

    Examples
    --------
    >>> from arcrank import PreferenceMachine, SemiSupervisedRanker
    >>> X = [[1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]]  # columns 0 and 1, and 2 and 3, go together
    >>> ranker = SemiSupervisedRanker([("machine", PreferenceMachine())], n_components=2, tentative_weight=0)
    >>> ranker.fit(X, ["tea", "milk", None, None]).rank([[0, 1, 0, 0], [0, 0, 0, 1]]).tolist()
    [['tea', 'milk'], ['milk', 'tea']]
    """

    def __init__(
        self,
        rankers: Any = (),
        weights: Any = None,
        *,
        latent_weight: float = 1.0,
        n_components: int = 50,
        tentative_weight: float = 0.5,
        random_state: Any = 0,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
    ) -> None:
        super().__init__(
            rankers,
            weights,
            cut_label=cut_label,
            cut_level=cut_level,
            set_measure=set_measure,
            calibration_folds=calibration_folds,
            label_correlations=False,  # labelled instances are few
        )
        self.latent_weight = latent_weight
        self.n_components = n_components
        self.tentative_weight = tentative_weight
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        super().check_parameters()
        check_real("latent_weight", self.latent_weight, at_least=0)
        check_int("n_components", self.n_components, at_least=1)
        check_real("tentative_weight", self.tentative_weight, at_least=0)
        check_seed("random_state", self.random_state)

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from instances X, (n, d), of which some have preferences.

        Parameters
        ----------
        X : (n, d) array, dense or sparse
            All instances.
        y : list, array or DataFrame
            Anything `as_graphs` takes, with None for an instance without preferences, or a row of NaN in a matrix.
        """
        self.check_parameters()
        X = self._check_features(X, reset=True)
        labelled, known = split_unlabelled(y)
        if known is not None and len(labelled) != X.shape[0]:
            raise InputError(
                f"X has {X.shape[0]} instances and y has {len(labelled)}; give an entry for each, or None."
            )
        rows = np.flatnonzero(labelled)
        graphs = self._learn_labels(known, len(rows))
        directions = self.latent_weight * latent_directions(X, self._dimensions(X), self.random_state)
        Z = add_latent(X, directions)
        unlabelled = sampled(np.flatnonzero(~labelled), self.random_state)
        members = self._members()
        self._set_folded(self._solve(members, Z[rows], graphs, Z[unlabelled]), directions)
        self._calibrate_by_folds((Z[rows], Z[unlabelled]), graphs)
        return self

    def _dimensions(self, X: Any) -> int:
        return min(int(self.n_components), min(X.shape) - 1) if self.latent_weight else 0

    def _solve(self, members: list[Any], Z: Any, graphs: PreferenceGraphs, unlabelled: Any) -> list[Any]:
        """Fit the members to labelled rows Z and to what they make of the unlabelled ones."""
        levels = self._tentative(members, Z, graphs, unlabelled)
        judged = (levels >= 0).any(axis=1)
        members = [clone(one) for one in members]
        if not judged.any():
            return [fitted(one, Z, graphs, None) for one in members]
        tentative = insert_cut(LayeredGraphs.from_levels(levels[judged], labels=plain_labels(graphs)), 0)
        share = self.tentative_weight * len(graphs) / judged.sum()
        weight = np.concatenate([np.ones(len(graphs)), np.full(judged.sum(), share)])
        both = _stacked(Z, unlabelled[judged])
        return [fitted(one, both, concatenate([graphs, tentative]), weight) for one in members]

    def _tentative(self, members: list[Any], Z: Any, graphs: PreferenceGraphs, unlabelled: Any) -> IntArray:
        """Levels of unlabelled rows, (n, k): 0 relevant, 1 not, -1 not judged."""
        unused = np.empty((unlabelled.shape[0], 0), dtype=np.int64)
        if not (self.tentative_weight and self.cut_label and unlabelled.shape[0] and isinstance(graphs, LayeredGraphs)):
            return unused
        named = [(name, member) for (name, _), member in zip(self.rankers, members, strict=True)]
        options: dict[str, Any] = {"set_measure": None, "calibration_folds": _FOLDS, "label_correlations": False}
        teacher = AverageRanker(named, self.weights, cut_label=True, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # too few instances to calibrate on: no probabilities
            teacher.fit(Z, graphs)
        if not hasattr(teacher, "calibration_"):
            return unused
        return tentative_levels(teacher.predict_proba(unlabelled))

    def _set_folded(self, members: list[Any], directions: Array) -> None:
        """Keep the weights of the features themselves: those of latent features are spread over them."""
        if not all(hasattr(member, "coef_") for member in members):
            raise ParameterError(
                "SemiSupervisedRanker averages linear rankers; give rankers that have coef_ after fit."
            )
        self._combine(members)
        d = len(directions)
        self.coef_ = self.coef_[:, :d] + self.coef_[:, d:] @ directions.T

    def _out_of_fold(self, X: Any, graphs: PreferenceGraphs, weight: Any, folds: int) -> Array:  # noqa: ARG002
        """Scores of labelled rows by rankers that have learnt from the other labelled and all unlabelled rows."""
        labelled, unlabelled = X
        return self.out_of_fold(labelled, unlabelled, graphs, folds)

    def out_of_fold(
        self, Z: Any, unlabelled: Any, graphs: PreferenceGraphs, folds: int = _FOLDS, as_new: Any = None
    ) -> Array:
        """Scores, (n, k), of labelled rows Z with latent features; graphs have the cut as their first label, if any.

        `as_new` are the features by which rows are scored, if they are others than those that are learnt from.
        """
        new = Z if as_new is None else as_new
        scores, costs = np.zeros((len(graphs), len(plain_labels(graphs)))), getattr(self, "_used_costs", {})
        for train, test in StratifiedFolds(folds, random_state=0).split(np.empty(len(graphs)), graphs):
            members = self._members()
            for (name, _), member in zip(self.rankers, members, strict=True):
                if f"{name}__C" in costs:
                    member.set_params(C=costs[f"{name}__C"] * len(graphs) / len(train))
            found = self._solve(members, Z[train], graphs[train], unlabelled)
            for weight, member in zip(self._weights(), found, strict=True):
                scores[test] += weight * member.score_labels(new[test])
        return scores


def latent_directions(X: Any, n: int, random_state: Any = 0) -> Array:
    """The n directions of the largest second moment of the rows, (d, n) with orthonormal columns; the seed decides.

    >>> latent_directions(np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1).round(6).tolist()
    [[1.0], [0.0]]
    """
    if n < 1:
        return np.zeros((X.shape[1], 0))
    _, _, directions = randomized_svd(X, n, n_iter=3, random_state=random_state)
    # A sign is arbitrary; the one of the largest entry is fixed, so that a platform cannot choose it.
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(n), largest])
    found: Array = np.ascontiguousarray((directions * signs[:, None]).T)
    return found


def tentative_levels(probabilities: Array) -> IntArray:
    """Levels of labels by their probabilities: 0 relevant, 1 not, -1 not judged; rows without a relevant one are not.

    >>> tentative_levels(np.array([[0.9, 0.2, 0.01], [0.4, 0.0, 0.0]])).tolist()
    [[0, -1, 1], [-1, -1, -1]]
    """
    relevant: Mask = probabilities >= RELEVANT
    levels = np.where(relevant, 0, np.where(probabilities < IRRELEVANT, 1, -1))
    levels[~relevant.any(axis=1)] = -1
    return levels.astype(np.int64)


def add_latent(X: Any, directions: Array) -> Any:
    """X with its latent features beside it."""
    if not directions.shape[1]:
        return X
    latent = np.asarray(X @ directions)
    return sp.hstack([X, sp.csr_matrix(latent)], format="csr") if sp.issparse(X) else np.hstack([X, latent])


def sampled(rows: IntArray, random_state: Any) -> IntArray:
    """At most `MOST_TENTATIVE` of the rows, in their order."""
    if len(rows) <= MOST_TENTATIVE:
        return rows
    seed = random_state if isinstance(random_state, int | np.integer) else None
    return np.sort(np.random.default_rng(seed).choice(rows, MOST_TENTATIVE, replace=False))


def _stacked(above: Any, below: Any) -> Any:
    return sp.vstack([above, below], format="csr") if sp.issparse(above) else np.vstack([above, below])
