"""RankBoost: a ranking of instances as a weighted sum of thresholded features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from arcrank._typing import Array, IntArray
from arcrank._validation import check_int, check_real, check_seed
from arcrank.bipartite.base import UNLABELLED, BipartiteRanker, check_relevance, ordered_fraction
from arcrank.bipartite.stumps import Stumps
from arcrank.errors import ParameterError
from arcrank.solvers.rankboost import OrderedPairs, Round, boost
from arcrank.solvers.stumps import SortedColumns, sort_columns

__all__ = ["RankBoost", "StumpRanker"]


class StumpRanker(BipartiteRanker):
    """Boosted stumps: the rounds, early stopping, and all that is read off a trained sum."""

    n_rounds: int
    thresholds: str | int
    early_stopping: bool
    validation_fraction: float
    patience: int
    random_state: Any
    _graded = True

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_int("n_rounds", self.n_rounds, at_least=1)
        if not (isinstance(self.thresholds, str) and self.thresholds == "all"):
            check_int("thresholds", self.thresholds, at_least=1, also='"all"')
        check_real("validation_fraction", self.validation_fraction, above=0, below=1)
        check_int("patience", self.patience, at_least=1)
        check_seed("random_state", self.random_state)

    @abstractmethod
    def _pairs(self, X: Any, grades: Array) -> list[OrderedPairs]:
        """Return the sets of pairs of the criterion; unlabelled rows have the grade -1."""

    def _boost(self, X: Any, grades: Array, validation: tuple[Any, Any] | None) -> None:
        grades, held_out = self._held_out(X, grades, validation)
        pairs = self._pairs(X, grades)
        self._learn(X, pairs, held_out)

    def _learn(self, X: Any, pairs: list[OrderedPairs], held_out: tuple[Any, Array] | None) -> None:
        start = sum(p.share for p in pairs)
        self._take(boost(_used_columns(X, pairs, self._n_thresholds()), pairs), start, held_out)

    def _take(self, steps: Iterator[Round], start: float, held_out: tuple[Any, Array] | None) -> None:
        """Take rounds until there are enough; `start` is the loss before the first."""
        rounds: list[Round] = []
        watch = None if held_out is None else _HeldOut(*held_out, self.patience)
        self.loss_curve_ = np.array([start])
        for step in steps:
            rounds.append(step)
            if (watch is not None and watch.stops(step)) or len(rounds) == self.n_rounds:
                break
        self._keep(rounds if watch is None else rounds[: watch.best + 1])
        self.validation_curve_ = None if watch is None else np.array(watch.curve)

    def _keep(self, rounds: list[Round]) -> None:
        self.stumps_ = Stumps(
            np.array([r.feature for r in rounds], dtype=np.int64),
            np.array([r.threshold for r in rounds], dtype=np.float64),
            np.array([r.weight for r in rounds], dtype=np.float64),
        )
        self.loss_curve_ = np.concatenate([self.loss_curve_, [r.loss for r in rounds]])
        self.bounds_ = np.array([r.bound for r in rounds])
        self.n_rounds_ = len(rounds)

    def _held_out(
        self, X: Any, grades: Array, validation: tuple[Any, Any] | None
    ) -> tuple[Array, tuple[Any, Array] | None]:
        """Return the grades to train on and the held-out part; rows drawn from X are unlabelled to neither term."""
        if validation is not None:
            rows, judged = self._check_features(validation[0]), check_relevance(validation[1], graded=True)
            return grades, (rows[judged != UNLABELLED], judged[judged != UNLABELLED])
        if not self.early_stopping:
            return grades, None
        drawn = self._draw(grades)
        kept = grades.copy()
        kept[drawn] = np.nan
        return kept, (X[drawn], grades[drawn])

    def _draw(self, grades: Array) -> IntArray:
        """Return rows to hold out: the same fraction of each grade, at least one, and at least one stays."""
        random = check_random_state(self.random_state)
        drawn = []
        for grade in np.unique(grades[grades != UNLABELLED]):
            rows = np.flatnonzero(grades == grade)
            if len(rows) < 2:
                raise ParameterError(
                    f"early_stopping holds out instances of every grade, and grade {grade:g} has only one; "
                    "give fit a `validation` pair, or train without early stopping."
                )
            count = min(max(round(self.validation_fraction * len(rows)), 1), len(rows) - 1)
            drawn.append(random.permutation(rows)[:count])
        return np.concatenate(drawn)

    def _n_thresholds(self) -> int | None:
        return None if isinstance(self.thresholds, str) else self.thresholds

    def decision_function(self, X: Any) -> Array:
        """Return the scores (n,): the greater, the more relevant."""
        X = self._check_features(X)
        return self.stumps_.scores(X)

    def _parts(self, x: Any) -> tuple[Array, float]:
        return self.stumps_.parts(x)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores (n,) after each round."""
        X = self._check_features(X)
        yield from self.stumps_.staged_scores(X)

    @property
    def feature_importances_(self) -> Array:
        """Each feature's share of the total |weight| of the stumps, (d,)."""
        return self.stumps_.importances(self.n_features_in_)


class RankBoost(StumpRanker):
    """RankBoost for bipartite or graded relevance (Freund et al. 2003; Amini et al. 2008 with lambda = 0).

    `H(x) = sum_t weight_t [x_{j_t} > threshold_t]` minimises `mean over pairs of exp(H(worse) - H(better))` greedily.
    Weights are kept for instances and not for pairs, and a round is one pass over the non-zero values.

    Parameters
    ----------
    n_rounds : int
        Rounds at most. It ends earlier where no feature separates any pair, and after a feature that orders all
        pairs. The weight of such a feature is infinite by eq. (6) and is capped at artanh(1 - 1/(pairs + 1)). Any
        finite weight leaves the weights of the pairs as they were, so Algorithm 1 would choose the same feature in all
        further rounds and never change the order. With few labels, a word that all relevant and no irrelevant
        instances have does this in the first round: there are then only two scores, and many ties.
    thresholds : "all" or int
        Try all distinct values of a feature, or this many quantiles of them (the lowest always among them).
    early_stopping : bool
        Hold out `validation_fraction` of each grade's instances, stop after `patience` rounds without a better AUC
        there, and keep the rounds up to the best.
    random_state : int, RandomState or None
        Draws the held-out instances.

    Attributes
    ----------
    stumps_ : three (n_rounds_,) arrays
        Features, thresholds and weights.
    loss_curve_ : (n_rounds_ + 1,) array
        Exponential loss before the first and after each round; it never rises.
    bounds_ : (n_rounds_,) array
        Bound (7) on the loss after each round; NaN where the weight was capped.
    feature_importances_ : (d,) array
        The share of each feature in all weights.
    validation_curve_ : array or None
        Held-out AUC after each round tried.
    n_rounds_, n_features_in_ : int
        Rounds kept, and columns of X.

    Notes
    -----
    X (n, d) dense or sparse, of either sign; y (n,): 1 relevant, 0 irrelevant, or grades (greater is better, all
    pairs between grades count equally); -1 = unlabelled, which this ranker leaves out. Equal thresholds: the first
    feature wins, then the highest threshold.

    Examples
    --------
    >>> from arcrank.bipartite.rankboost import RankBoost
    >>> X = [[0.0, 3.0], [1.0, 2.0], [2.0, 2.0], [3.0, 0.0]]
    >>> ranker = RankBoost(n_rounds=5).fit(X, [0, 1, 0, 1])
    >>> ranker.decision_function(X).round(2)
    array([0.  , 0.93, 0.47, 1.4 ])
    >>> ranker.loss_curve_.round(3)
    array([1.   , 0.789, 0.622, 0.549, 0.485, 0.415])
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        thresholds: str | int = "all",
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.thresholds = thresholds
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from X (n, d) and y (n,); `validation = (X, y)` stops early on its AUC."""
        self.check_parameters()
        X, grades = self._check_training(X, y)
        self._boost(X, grades, validation)
        return self

    def _pairs(self, X: Any, grades: Array) -> list[OrderedPairs]:  # noqa: ARG002
        rows = np.flatnonzero(grades >= 0)
        return [OrderedPairs(rows, grades[rows])]


class _HeldOut:
    """Follows the AUC of held-out instances round by round."""

    def __init__(self, X: Any, grades: Array, patience: int) -> None:
        self.grades, self.patience = grades, patience
        self.columns = X
        self.scores = np.zeros(X.shape[0])
        self.curve: list[float] = []
        self.best = 0

    def stops(self, step: Round) -> bool:
        """Add the scores of a round; return whether `patience` rounds have passed since the best AUC."""
        column = self.columns[:, [step.feature]]
        values = column.toarray().ravel() if hasattr(column, "toarray") else np.ravel(column)
        self.scores += step.weight * (values > step.threshold)
        self.curve.append(ordered_fraction(self.grades, self.scores))
        if self.curve[-1] > self.curve[self.best]:
            self.best = len(self.curve) - 1
        return len(self.curve) - 1 - self.best >= self.patience


def _used_columns(X: Any, pairs: list[OrderedPairs], n_thresholds: int | None) -> SortedColumns:
    """Sort the columns over the rows that are in some pair, and renumber these rows in the pairs."""
    used = np.unique(np.concatenate([p.rows for p in pairs]))
    for p in pairs:
        p.rows = np.searchsorted(used, p.rows)
    return sort_columns(X if len(used) == X.shape[0] else X[used], n_thresholds)
