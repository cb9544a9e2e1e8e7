"""Decisions under uncertainty: rankers of resampled votes, intervals, and the cheapest label that is good enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank._validation import check_int, check_real, check_seed
from arcrank.errors import InputError
from arcrank.graphs import PreferenceGraphs, as_graphs

__all__ = ["BootstrapRanker", "CostCurve"]


class CostCurve(NamedTuple):
    """Mean cost and mean quality of the labels that `choose` takes at each chance, and the chances."""

    chances: Array
    cost: Array
    quality: Array


class BootstrapRanker(BaseEstimator):
    """Rank labels, and say how sure the ranking is: the ranker is fitted again to resampled instances.

    Parameters
    ----------
    ranker : label ranker
        A linear ranker whose `fit` takes `sample_weight`, such as `LogLinearRanker("disagreement",
        arc_weights="count")`, whose margins are log odds. Penalties pull margins towards 0, and intervals with them:
        they have their level where C is large enough for the data to dominate.
    n_samples : int
        Resamples. Instances are drawn with replacement, so that votes about one case stay together.
    random_state : int
        Of the resamples.

    Attributes
    ----------
    ranker_ : label ranker
        Fitted to all instances.
    samples_ : list of label rankers
        Fitted to the resamples.
    labels_ : (k,) array
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import BootstrapRanker, LogLinearRanker
    >>> from arcrank.graphs import from_votes
    >>> votes = from_votes(range(40), ["tea"] * 30 + ["milk"] * 10, ["milk"] * 30 + ["tea"] * 10)
    >>> ranker = LogLinearRanker("disagreement", arc_weights="count", C=10.0)
    >>> model = BootstrapRanker(ranker, n_samples=20).fit(np.ones((40, 1)), votes.graphs)
    >>> low, high = model.above_interval([[1.0]], "tea", "milk")[0]
    >>> bool(0.5 < low < 0.75 < high < 1)
    True
    >>> model.choose([[1.0]], costs={"tea": 3.0, "milk": 1.0}, quality=0.05).tolist()
    ['tea']
    """

    def __init__(self, ranker: Any, n_samples: int = 50, *, random_state: Any = 0) -> None:
        self.ranker = ranker
        self.n_samples = n_samples
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_int("n_samples", self.n_samples, at_least=2)
        check_seed("random_state", self.random_state)
        self.ranker.check_parameters()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the ranker to all instances, and to each resample of them."""
        self.check_parameters()
        random = np.random.default_rng(self.random_state)
        graphs = y if isinstance(y, PreferenceGraphs) else as_graphs(y)
        n = len(graphs)
        self.ranker_ = clone(self.ranker).fit(X, graphs)
        # the C of all instances: "scale" would differ from sample to sample
        fixed = {"C": self.ranker_.C_} if hasattr(self.ranker_, "C_") else {}
        self.samples_ = []
        for _ in range(int(self.n_samples)):
            weight = np.bincount(random.integers(n, size=n), minlength=n).astype(float)
            self.samples_.append(clone(self.ranker).set_params(**fixed).fit(X, graphs, sample_weight=weight))
        return self

    @property
    def labels_(self) -> NDArray[Any]:
        """The labels, (k,)."""
        labels: NDArray[Any] = self.ranker_.labels_
        return labels

    def score_labels(self, X: Any) -> Array:
        """Return the scores of the ranker of all instances, (n, k)."""
        check_is_fitted(self)
        scores: Array = self.ranker_.score_labels(X)
        return scores

    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Return the label names in order, best first: (n, k), or (n, top)."""
        check_is_fitted(self)
        ranking: NDArray[Any] = self.ranker_.rank(X, top)
        return ranking

    def score_samples(self, X: Any) -> Array:
        """Return the scores of the resamples' rankers, (n_samples, n, k)."""
        check_is_fitted(self)
        return np.stack([one.score_labels(X) for one in self.samples_])

    def predict_above_proba(self, X: Any, above: Any, below: Any) -> Array:
        """Return the probability, (n,), that a voter prefers one label to another, given that one is preferred."""
        scores = self.score_labels(X)
        a, b = self._column(above), self._column(below)
        return np.asarray(expit(scores[:, a] - scores[:, b]))

    def above_interval(self, X: Any, above: Any, below: Any, level: float = 0.9) -> Array:
        """Return intervals for `predict_above_proba`, (n, 2): quantiles of the resamples."""
        check_real("level", level, above=0, below=1)
        a, b = self._column(above), self._column(below)
        samples = self.score_samples(X)
        margins = samples[:, :, a] - samples[:, :, b]
        return np.asarray(expit(np.quantile(margins, [(1 - level) / 2, (1 + level) / 2], axis=0)).T)

    def near_best(self, X: Any, quality: float = 0.05) -> Array:
        """Return the chance, (n, k), that a label is within `quality` of the best one.

        It is the share of resamples in which voters prefer the best label to it with a probability of at most
        0.5 + quality.
        """
        check_real("quality", quality, at_least=0, below=0.5)
        samples = self.score_samples(X)
        gap = samples.max(axis=2, keepdims=True) - samples
        return np.asarray((gap <= logit(0.5 + quality)).mean(axis=0))

    def choose(
        self, X: Any, costs: Mapping[Any, float] | ArrayLike, quality: float = 0.05, chance: float = 0.9
    ) -> NDArray[Any]:
        """Return the cheapest label, (n,), whose chance to be within `quality` of the best is at least `chance`.

        Where no label has such a chance, it is the label that has the highest one.

        Parameters
        ----------
        X : (n, d) matrix
            The cases.
        costs : dict of labels and numbers, or (k,) numbers
            What each label costs, in the order of `labels_`.
        quality : float
            As in `near_best`.
        chance : float
            Between 0 and 1.
        """
        check_real("chance", chance, at_least=0, at_most=1)
        return self.labels_[self._chosen(self.near_best(X, quality), self._costs(costs), chance)]

    def cost_curve(
        self,
        X: Any,
        costs: Mapping[Any, float] | ArrayLike,
        outcomes: ArrayLike,
        *,
        quality: float = 0.05,
        chances: Sequence[float] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    ) -> CostCurve:
        """Return the mean cost and quality of the choices at several chances.

        Parameters
        ----------
        X, costs, quality
            As in `choose`.
        outcomes : (n, k) array
            How good each label really was, such as the scores of answers.
        chances : sequence of float
            What to choose by: the higher, the better and the dearer the choices.
        """
        values, prices = np.asarray(outcomes, dtype=np.float64), self._costs(costs)
        near = self.near_best(X, quality)
        if values.shape != near.shape:
            raise InputError(f"outcomes must have the shape {near.shape} (cases, labels), got {values.shape}.")
        rows, picked = np.arange(len(near)), [self._chosen(near, prices, chance) for chance in chances]
        cost = np.array([prices[columns].mean() for columns in picked])
        return CostCurve(np.array(chances), cost, np.array([values[rows, columns].mean() for columns in picked]))

    @staticmethod
    def _chosen(near: Array, prices: Array, chance: float) -> NDArray[np.intp]:
        wanted = np.minimum(chance, near.max(axis=1, keepdims=True))
        # of labels of one price that are good enough, the one with the highest chance
        order = np.lexsort((-near, np.broadcast_to(prices, near.shape)), axis=1)
        enough = np.take_along_axis(near >= wanted, order, axis=1)
        return np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1)[:, 0]

    def _costs(self, costs: Mapping[Any, float] | ArrayLike) -> Array:
        names = self.labels_.tolist()
        if isinstance(costs, Mapping):
            missing = [name for name in names if name not in costs]
            if missing:
                raise InputError(f"costs has no entry for the label {missing[0]!r}; give the cost of every label.")
            costs = [costs[name] for name in names]
        prices = np.asarray(costs, dtype=np.float64)
        if prices.shape != (len(names),) or not np.isfinite(prices).all():
            raise InputError(f"costs must be {len(names)} finite numbers, one for each label of labels_.")
        return prices

    def _column(self, label: Any) -> int:
        check_is_fitted(self)
        return int(self.ranker_._column(label))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
