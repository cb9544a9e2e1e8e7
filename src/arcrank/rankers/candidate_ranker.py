"""What linear rankers do with CandidateSets: one weight for each joint feature, one score for each candidate."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank._validation import check_int
from arcrank.errors import InputError
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.graphs.cut import CUT
from arcrank.rankers.base import LinearRanker
from arcrank.rankers.candidates import CandidateSets, add_cut_candidate, candidate_graphs_with_cut
from arcrank.rankers.linear import Explanation
from arcrank.rankers.outer_features import OuterFeatures
from arcrank.rankers.scale import DataScale, measure_scale, scale_of_sums
from arcrank.solvers.products import row_products

__all__ = ["CANDIDATES", "CandidateRanker", "candidate_scale", "ranks_in_rows"]

CANDIDATES = "candidates"
"""The kind of supervision of a ranker that was fitted on CandidateSets."""


class CandidateRanker(LinearRanker):
    """A linear ranker that takes CandidateSets in the place of X.

    Scores are then (candidates,), in the order of the features, and `coef_` is (1, d).
    """

    def score_labels(self, X: Any) -> Array:
        """(n, k) scores; for CandidateSets one score for each candidate, (candidates,)."""
        if isinstance(X, CandidateSets):
            self._check_candidates(X)
            return self._candidate_scores(X.features)
        if getattr(self, "_kind", None) == CANDIDATES:
            raise InputError(f"This {type(self).__name__} was fitted on CandidateSets; give CandidateSets too.")
        return super().score_labels(X)

    def rank(self, X: Any, top: int | None = None) -> Any:
        """Label names in order, (n, k) or (n, top); for CandidateSets a list of candidate numbers for each instance."""
        if not isinstance(X, CandidateSets):
            return super().rank(X, top)
        if top is not None:
            check_int("top", top, at_least=1, also="None")
        scores = self.score_labels(X)
        parts = (scores[a:b] for a, b in zip(X.ptr, X.ptr[1:], strict=False))
        return [np.argsort(-part, kind="stable")[:top] for part in parts]

    def predict(self, X: Any) -> Any:
        """The kind of supervision that was given to `fit`; of CandidateSets the rank of each candidate, 1 = best."""
        if not isinstance(X, CandidateSets):
            return super().predict(X)
        return ranks_in_rows(self.score_labels(X), X.ptr)

    def score(self, X: Any, y: Any) -> float:
        """One minus the error of the ranker's decomposition; for CandidateSets y is as in `fit`."""
        if not isinstance(X, CandidateSets):
            return super().score(X, y)
        from arcrank.metrics import generalized_error

        decomposition = getattr(self, "decomposition", "domination")
        return 1.0 - generalized_error(X.graphs(y), self.score_labels(X), decomposition)

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Why label `above` scores higher (or lower) than `below` for one instance: each feature's part of the margin.

        Parameters
        ----------
        x : (1, d) or (d,) array, or CandidateSets of one instance
            One instance.
        above, below : labels
            Two labels of `labels_`, or `arcrank.CUT` for one of them: why a label is in or out. Of CandidateSets, the
            numbers of two candidates of the instance.
        """
        if not isinstance(x, CandidateSets):
            return super().explain(x, above, below)
        self._check_candidates(x)
        if len(x) != 1:
            raise InputError(f"explain takes one instance, got {len(x)}; pass sets[[i]].")
        (high, constant), (low, other) = (self._candidate_parts(x, name) for name in (above, below))
        difference = sp.csr_matrix(high - low)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[difference.indices]
        return Explanation.of(above, below, names, difference.data, constant - other)

    def _candidate_parts(self, sets: CandidateSets, name: Any) -> tuple[Any, float]:
        """Each feature's part of the score of a candidate, (1, d), and the constant."""
        if name is CUT:
            self._label_weights(CUT, np.empty(0, dtype=np.intp))  # refuses a ranker without a cut
            return sp.csr_matrix((1, self.n_features_in_)), 0.0
        place = check_int("a candidate", name, at_least=0, at_most=int(sets.ptr[-1]) - 1, error=InputError)
        row = sets.stored().features[[place]]
        return sp.csr_matrix(row).multiply(self.coef_), float(self.intercept_[0])

    def _candidate_scores(self, features: Any) -> Array:
        """The scores of candidates with these features."""
        w = self.coef_[0]
        scores = features.products(w) if isinstance(features, OuterFeatures) else row_products(features, w[:, None])
        return np.asarray(scores).ravel() + self.intercept_[0]

    def _learn_candidates(self, sets: CandidateSets, y: Any) -> tuple[CandidateSets, CandidateGraphs]:
        """Check candidates and preferences, and note what the ranker learns; return both with the cut, if there is one.

        The cut is one more candidate of each instance, without features; the others then have a constant one.
        """
        if y is None:
            raise InputError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        self._kind, self.n_features_in_ = CANDIDATES, sets.shape[1]
        self._check_candidates(sets)
        self._drop_calibration()
        self.__dict__.pop("_top_seen", None)
        with_cut = bool(self.cut_label) and self._learns_cut
        graphs = candidate_graphs_with_cut(y, sets, self.cut_level) if with_cut else sets.graphs(y)
        self.labels_ = np.arange(graphs.n_labels - with_cut)
        if with_cut:
            sets = add_cut_candidate(sets, constant=getattr(self, "fit_intercept", False))
        return sets, graphs

    def _check_candidates(self, sets: CandidateSets) -> None:
        if not hasattr(self, "n_features_in_"):
            check_is_fitted(self)
        features = sets.features
        if isinstance(features, OuterFeatures):
            parts = features.values()
        else:
            parts = ((features.data if sp.issparse(features) else features),) * 2
        # A sum of finite numbers below the largest feature is finite, and needs no matrix of the size of the features.
        if not all(np.isfinite(part.min(initial=0.0)) and np.isfinite(part.max(initial=0.0)) for part in parts):
            raise InputError("Candidate features hold NaN or infinite values; replace or drop them.")
        if getattr(self, "_kind", CANDIDATES) != CANDIDATES:
            raise InputError(f"This {type(self).__name__} was fitted on a matrix X; give a matrix too.")
        if sets.shape[1] != self.n_features_in_:
            raise InputError(f"Candidates have {sets.shape[1]} features, the ranker learnt {self.n_features_in_}.")

    def _graphs_of(self, y: Any) -> PreferenceGraphs:
        if self._kind != CANDIDATES:
            return super()._graphs_of(y)
        if not isinstance(y, PreferenceGraphs):
            raise InputError("Give preference graphs over the candidates.")
        return y


def candidate_scale(sets: CandidateSets, weight: Array) -> DataScale:
    """Measure the features of candidates whose instances have these weights, (n,)."""
    rows = np.repeat(weight, sets.counts())
    if not isinstance(sets.features, OuterFeatures):
        return measure_scale(sets.features, rows)
    sums = (float(sets.features.squares() @ rows), float(sets.features.nonzeros() @ rows), float(rows.sum()))
    return scale_of_sums(sums, sets.shape[1])


def ranks_in_rows(scores: Array, ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ranks within each instance, 1 = best: the number of candidates with a score of at least the candidate's."""
    ranks = np.empty(len(scores), dtype=np.int64)
    for a, b in itertools.pairwise(ptr):
        own = scores[a:b]
        ranks[a:b] = len(own) - np.searchsorted(np.sort(own), own, side="left")
    return ranks
