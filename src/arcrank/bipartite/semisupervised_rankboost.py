"""Semi-supervised RankBoost: labelled pairs, and pairs of unlabelled instances with tentative labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank._validation import check_int
from arcrank.bipartite.base import UNLABELLED
from arcrank.bipartite.labelling import check_discount, checked_labels, confident_labels, discounts_of
from arcrank.bipartite.latent import LatentModel, latent_features
from arcrank.bipartite.rankboost import StumpRanker
from arcrank.errors import ParameterError
from arcrank.solvers.neighbours import TentativeLabels, neighbour_labels
from arcrank.solvers.pairwise_lbfgs import minimise_pairs
from arcrank.solvers.rankboost import OrderedPairs

__all__ = ["SemiSupervisedRankBoost"]

TURNS = 2
"""How often the ranking labels the unlabelled instances and is fitted again; more changed nothing on RCV1."""
TRUST = 0.1
"""What the discount is multiplied by for labels that are the ranker's own guess. On RCV1 more of it helped frequent
topics in AUP and harmed rare ones, whose best unlabelled instances are often irrelevant; AUC gained in both."""


class SemiSupervisedRankBoost(StumpRanker):
    """RankBoost on labelled and on tentatively labelled pairs (Amini, Truong & Goutte 2008, Algorithms 1 and 2).

    A labeller gives some unlabelled instances the relevance of labelled ones that they resemble. The ranker
    minimises `mean over labelled pairs of exp(H(worse) - H(better)) + discount x the same mean over the tentative
    pairs`; the two sets are never mixed, so wrong tentative labels cannot outvote the labelled instances.

    Parameters
    ----------
    n_rounds, thresholds, early_stopping, validation_fraction, patience, random_state
        As in `RankBoost`. Held-out instances are neither labelled nor unlabelled to the training.
    discount : float, (n,) array, or callable
        The paper's lambda; one for each row of X (read where y = -1); or a function from the similarities (m,) of
        the tentatively labelled instances to their discounts. A pair has the geometric mean of its two discounts, so
        equal ones are the number itself. 0 is `RankBoost`.
    n_neighbors : int
        Neighbours that each labelled instance gives its label to; cut to the number of unlabelled instances.
    labeller : "auto", "neighbours", "confident" or callable
        "neighbours": nearest by cosine, the paper's. An instance claimed by both sides goes to the nearer one,
        and stays unlabelled where both are equally near. "confident" needs `features="latent"`, see there. A callable
        gets (labelled X, their y, unlabelled X) and returns the y of the unlabelled ones, -1 for "leave out", or
        that and their similarities. "auto" is "neighbours" for stumps and "confident" for latent features.
        If one side gets no instance, the labelled pairs are used alone.
    mixed : bool
        The naive way that the paper argues against: one set of pairs, tentative labels counted as labels (discounts
        weigh instances). For comparisons.
    features : "stumps" or "latent"
        "latent" keeps the criterion and gives it features for text instead of stumps: H is linear in the unit-length
        latent-semantic vectors of an instance (the first quarter, the first half and all of `n_components`),
        fitted on all instances, and in its similarities to the labelled ones; the criterion, with a small squared
        norm, is minimised exactly. "confident" then labels by H itself:
        from labelled pairs alone, the `n_confident` best unlabelled instances for each relevant one are tentatively
        relevant, three times as many after them stay unlabelled, and all the rest are tentatively irrelevant (the
        relevant ones left there lower the AUC of all rankings alike); then the same once more with the new H. Since
        these labels are the ranker's guesses, they count a tenth of `discount`.
        `n_rounds`, `thresholds` and early stopping are not used.
    n_components : int
        Latent dimensions; cut to what X allows.
    n_confident : int
        Tentatively relevant instances for each labelled relevant one, with "confident".

    Attributes
    ----------
    stumps_, loss_curve_, bounds_, feature_importances_, validation_curve_, n_rounds_, n_features_in_
        As in `RankBoost` for stumps; `loss_curve_` starts at 1 + discount.
    tentative_ : (n,) array
        Tentative grades of the unlabelled instances, -1 for all others.
    similarity_ : (n,) array or None
        Similarity to the instance whose label was taken.
    latent_ : LatentModel or None
        The fitted latent features and weights.

    Notes
    -----
    X (n, d) dense or sparse; y (n,): 1 relevant, 0 irrelevant (or grades, with stumps), -1 unlabelled. New instances
    need not be known at training: the ranker is inductive.

    Examples
    --------
    >>> from arcrank.bipartite.semisupervised_rankboost import SemiSupervisedRankBoost
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, 4.0], [2.0, 1.0]]
    >>> ranker = SemiSupervisedRankBoost(n_rounds=3, n_neighbors=1).fit(X, [1, 0, -1, -1, -1])
    >>> ranker.tentative_
    array([-1., -1.,  1.,  0., -1.])
    >>> bool(ranker.decision_function([[5.0, 1.0]]) > ranker.decision_function([[1.0, 5.0]]))
    True
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        n_rounds: int = 100,
        *,
        discount: Any = 1.0,
        n_neighbors: int = 2,
        labeller: str | Callable[..., Any] = "auto",
        mixed: bool = False,
        features: str = "stumps",
        n_components: int = 300,
        n_confident: int = 10,
        thresholds: str | int = "all",
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.discount = discount
        self.n_neighbors = n_neighbors
        self.labeller = labeller
        self.mixed = mixed
        self.features = features
        self.n_components = n_components
        self.n_confident = n_confident
        self.thresholds = thresholds
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        super().check_parameters()
        for name in ("n_neighbors", "n_components", "n_confident"):
            check_int(name, getattr(self, name), at_least=1)
        self._check_choices()
        check_discount(self.discount)

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from X (n, d) and y (n,) with -1 = unlabelled; `validation = (X, y)` stops early on its AUC."""
        self.check_parameters()
        X, grades = self._check_training(X, y)
        self.latent_: LatentModel | None = None
        if self.features == "latent":
            self._fit_latent(X, grades)
        else:
            self._boost(X, grades, validation)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores (n,): the greater, the more relevant."""
        X = self._check_features(X)
        return self.stumps_.scores(X) if self.latent_ is None else self.latent_.scores(X)

    def _parts(self, x: Any) -> tuple[Array, float]:
        return self.stumps_.parts(x) if self.latent_ is None else self.latent_.parts(x)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores (n,) after each round; latent features have none."""
        self._check_features(X)
        self._refuse_latent("rounds to yield scores of")
        yield from super().staged_decision_function(X)

    @property
    def feature_importances_(self) -> Array:
        """Each feature's share of the total |weight| of the stumps, (d,)."""
        self._refuse_latent("stumps to weigh features by")
        return super().feature_importances_

    def _refuse_latent(self, what: str) -> None:
        if self.latent_ is not None:
            raise AttributeError(f'features="latent" has no {what}; train with features="stumps".')

    def _check_choices(self) -> None:
        if self.features not in ("stumps", "latent"):
            raise ParameterError(f'features = {self.features!r} is unknown: choose "stumps" or "latent".')
        if not (callable(self.labeller) or self.labeller in ("auto", "neighbours", "confident")):
            raise ParameterError(
                f'labeller = {self.labeller!r} is unknown: choose "auto", "neighbours", "confident" or give a callable.'
            )
        if self.labeller == "confident" and self.features != "latent":
            raise ParameterError('labeller="confident" labels by the latent ranking; it needs features="latent".')

    # The two terms of the criterion

    def _pairs(self, X: Any, grades: Array) -> list[OrderedPairs]:
        labelled, unlabelled = np.flatnonzero(grades >= 0), np.flatnonzero(grades == UNLABELLED)
        claims = self._claims(X, grades, labelled, unlabelled)
        return self._sets(grades, labelled, unlabelled, claims)

    @property
    def _confident(self) -> bool:
        return self.features == "latent" and self.labeller in ("auto", "confident")

    def _claims(self, X: Any, grades: Array, labelled: IntArray, unlabelled: IntArray) -> TentativeLabels:
        if len(unlabelled) == 0:
            return TentativeLabels(np.empty(0), np.empty(0))
        parts = X[labelled], grades[labelled], X[unlabelled]
        if not callable(self.labeller):
            return neighbour_labels(*parts, self.n_neighbors)
        return checked_labels(self.labeller(*parts), np.unique(grades[labelled]), len(unlabelled))

    def _sets(
        self, grades: Array, labelled: IntArray, unlabelled: IntArray, claims: TentativeLabels
    ) -> list[OrderedPairs]:
        self._remember(len(grades), unlabelled, claims)
        claimed = np.flatnonzero(claims.grades >= 0)
        discounts = discounts_of(self.discount, unlabelled, claims)[claimed] * (TRUST if self._confident else 1.0)
        claimed, discounts = claimed[discounts > 0], discounts[discounts > 0]
        rows, given = unlabelled[claimed], claims.grades[claimed]
        if self.mixed:
            every = np.concatenate([labelled, rows])
            weights = np.concatenate([np.ones(len(labelled)), discounts])
            mixture = OrderedPairs(every, np.concatenate([grades[labelled], given]), weights=weights)
            mixture.share = 1.0
            return [mixture]
        sets = [OrderedPairs(labelled, grades[labelled])]
        if len(np.unique(given)) > 1:
            # sqrt: a pair's discount is the geometric mean of its two, and D stays a product (eq. 9)
            sets.append(OrderedPairs(rows, given, weights=np.sqrt(discounts)))
        return sets

    def _remember(self, n: int, unlabelled: IntArray, claims: TentativeLabels) -> None:
        self.tentative_ = np.full(n, -1.0)
        self.tentative_[unlabelled] = claims.grades
        self.similarity_ = None if claims.similarity is None else np.zeros(n)
        if self.similarity_ is not None:
            self.similarity_[unlabelled] = claims.similarity

    # Features for text

    def _fit_latent(self, X: Any, grades: Array) -> None:
        labelled, unlabelled = np.flatnonzero(grades >= 0), np.flatnonzero(grades == UNLABELLED)
        self.latent_ = latent_features(X, labelled, self.n_components, self.random_state)
        Z = self.latent_.transform(X)
        weights = np.zeros(Z.shape[1])
        for claims in self._claim_turns(X, Z, grades, weights):
            sets = self._sets(grades, labelled, unlabelled, claims)
            weights[:] = minimise_pairs(Z, sets, weights)
        self.latent_.set_weights(weights)
        self.loss_curve_ = np.array(
            [sum(p.share for p in sets), sum(p.share * p.loss_at(Z[p.rows] @ weights)[0] for p in sets)]
        )

    def _claim_turns(self, X: Any, Z: Array, grades: Array, weights: Array) -> Iterator[TentativeLabels]:
        """Yield what to fit next; "confident" looks at the weights that the last fit left."""
        labelled, unlabelled = np.flatnonzero(grades >= 0), np.flatnonzero(grades == UNLABELLED)
        if not self._confident:
            yield self._claims(X, grades, labelled, unlabelled)
            return
        yield TentativeLabels(np.full(len(unlabelled), -1.0))
        count = self.n_confident * int((grades == grades.max()).sum())
        for _ in range(TURNS):
            yield confident_labels(Z[unlabelled] @ weights, count, grades[labelled])
