"""The Bradley-Terry model: one strength per label from votes, without features of the cases."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank._validation import check_int, check_real
from arcrank.errors import InputError, ParameterError
from arcrank.graphs.base import label_array
from arcrank.graphs.votes import Votes
from arcrank.solvers.bradley_terry import davidson_hessian, solve_bradley_terry

__all__ = ["BradleyTerry", "connected_parts"]


class BradleyTerry(BaseEstimator):
    """Order labels by votes alone: `P(a above b) = 1 / (1 + exp(s_b - s_a))`.

    The strengths minimise `1/2 ||s||^2 + C sum of -log P(vote)`: what `LogLinearRanker("disagreement", C=C,
    arc_weights="count", fit_intercept=False)` learns from a single feature of value 1, computed from the counts of each
    pair of labels, so that a million votes take no longer than a thousand.

    Parameters
    ----------
    C : float
        Weight of the votes; the larger, the closer to the maximum likelihood, which exists only if every group of
        labels has both won and lost against the others.
    ties : "davidson" or "ignore"
        "davidson": ties are outcomes of their own (Davidson 1970), with a common parameter `tie_`, more likely the
        closer two labels are. Votes for neither label count as ties. "ignore": leave them out.

    Attributes
    ----------
    labels_ : (k,) array
        The labels.
    strengths_ : (k,) array
        Their strengths, with a mean of 0.
    tie_ : float or None
        Davidson's parameter: a tie of equal labels has the odds exp(tie_) : 1 : 1. None where there were no ties.
    covariance_ : (k, k) array
        Of the strengths: the Laplace approximation, the inverse Hessian of the negative log-likelihood and of the
        penalty, which is a normal prior of variance C.

    Examples
    --------
    >>> from arcrank import BradleyTerry
    >>> from arcrank.graphs import Votes
    >>> votes = Votes.from_columns(["tea"] * 7 + ["milk"] * 3, ["milk"] * 7 + ["tea"] * 3)
    >>> model = BradleyTerry(C=1e6).fit(votes)
    >>> model.rank().tolist(), round(model.predict_above_proba("tea", "milk"), 3)
    (['tea', 'milk'], 0.7)
    """

    def __init__(self, C: float = 1.0, *, ties: str = "davidson") -> None:
        self.C = C
        self.ties = ties

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_real("C", self.C, above=0)
        if self.ties not in ("davidson", "ignore"):
            raise ParameterError(f"ties must be 'davidson' or 'ignore', got {self.ties!r}.")

    def fit(self, votes: Votes, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the strengths from votes, as `read_votes` or `Votes.from_columns` returns them."""
        self.check_parameters()
        if not isinstance(votes, Votes):
            raise InputError(f"BradleyTerry learns from Votes (see Votes.from_columns), got {type(votes).__name__}.")
        if not len(votes):
            raise InputError("There are no votes; give at least one.")
        ties = votes.ties() if self.ties == "davidson" else np.zeros((1, 1))
        return self._fit_counts(votes.labels, votes.wins(), ties if ties.any() else None)

    def partial_fit(self, votes: Votes, y: Any = None) -> Self:  # noqa: ARG002
        """Add votes, which may have new labels, to those learnt before; a label with few votes is near the mean, 0."""
        if not hasattr(self, "labels_"):
            return self.fit(votes)
        names = self.labels_.tolist()
        labels = label_array([*names, *(name for name in votes.labels.tolist() if name not in names)])
        place = {name: j for j, name in enumerate(labels.tolist())}
        new = [place[name] for name in votes.labels.tolist()]
        counts = []
        for old, more in ((self._wins, votes.wins()), (self._ties, votes.ties())):
            total = np.zeros((len(labels), len(labels)))
            if old is not None:
                total[: len(names), : len(names)] = old
            total[np.ix_(new, new)] += more
            counts.append(total)
        davidson = self.ties == "davidson" and counts[1].any()
        return self._fit_counts(labels, counts[0], counts[1] if davidson else None)

    def _fit_counts(self, labels: NDArray[Any], wins: Array, ties: Array | None) -> Self:
        self.labels_, self._wins, self._ties = labels, wins, ties
        self.strengths_, self.tie_ = solve_bradley_terry(wins, ties, self.C)
        hessian = davidson_hessian(self.strengths_, self.tie_, wins, ties, self.C)
        self.covariance_ = self.C * np.linalg.inv(hessian)[: len(labels), : len(labels)]
        return self

    def rank(self) -> NDArray[Any]:
        """Return the labels, strongest first."""
        check_is_fitted(self)
        return self.labels_[np.argsort(-self.strengths_, kind="stable")]

    def predict_above_proba(self, above: Any, below: Any) -> float:
        """Return the probability that one label is preferred to another, given that one of them is."""
        a, b = self._column(above), self._column(below)
        return float(1.0 / (1.0 + np.exp(self.strengths_[b] - self.strengths_[a])))

    def above_interval(self, above: Any, below: Any, level: float = 0.9) -> tuple[float, float]:
        """Return an interval for `predict_above_proba`, from the Laplace approximation."""
        from scipy.special import expit
        from scipy.stats import norm

        check_real("level", level, above=0, below=1)
        a, b = self._column(above), self._column(below)
        contrast = np.zeros(len(self.labels_))
        contrast[a] += 1.0
        contrast[b] -= 1.0
        margin, spread = contrast @ self.strengths_, np.sqrt(contrast @ self.covariance_ @ contrast)
        reach = norm.ppf((1 + level) / 2) * spread
        return float(expit(margin - reach)), float(expit(margin + reach))

    def bootstrap(self, votes: Votes, n_samples: int = 200, random_state: Any = 0) -> Array:
        """Return strengths of resampled votes, (n_samples, k): the counts of each pair and outcome are drawn anew."""
        check_int("n_samples", n_samples, at_least=1)
        random = np.random.default_rng(random_state)
        wins = votes.wins()
        ties = np.triu(votes.ties()) if self.ties == "davidson" else np.zeros_like(wins)
        found = np.empty((n_samples, len(votes.labels)))
        start = solve_bradley_terry(wins, None, self.C)[0]
        for sample in found:
            # A bootstrap of m votes draws Multinomial counts; independent Poisson counts are the same up to their sum.
            drawn, tied = random.poisson(wins).astype(float), random.poisson(ties).astype(float)
            both = tied + tied.T if tied.any() else None
            sample[:] = solve_bradley_terry(drawn, both, self.C, start=start, tol=1e-6)[0]
        return found

    def _column(self, label: Any) -> int:
        check_is_fitted(self)
        found = np.flatnonzero(self.labels_ == label)
        if not found.size:
            raise InputError(f"{label!r} is not one of the {len(self.labels_)} labels of these votes; see labels_.")
        return int(found[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        return tags


def connected_parts(votes: Votes) -> list[list[Any]]:
    """Groups of labels that votes connect, largest first; strengths of different groups cannot be compared."""
    from scipy.sparse.csgraph import connected_components

    n, part = connected_components(votes.wins() + votes.ties(), directed=False)
    groups = [votes.labels[part == number].tolist() for number in range(n)]
    return sorted(groups, key=len, reverse=True)
