"""Weights that are the product of label codes and an embedding, and the fit of a machine that learns both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arcrank._typing import Array, IntArray
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.cut import CUT
from arcrank.losses.zero_flows import zero_flows
from arcrank.rankers.base import add_intercept
from arcrank.rankers.candidate_ranker import CandidateRanker
from arcrank.rankers.preference_machine.fitting import warn_unconverged
from arcrank.solvers.history import History
from arcrank.solvers.products import row_products

if TYPE_CHECKING:
    from collections.abc import Callable

    from arcrank.rankers.preference_machine.machine import PreferenceMachine
    from arcrank.solvers.margin_problem import MarginProblem

__all__ = ["LowRankRanker", "fit_codes"]


class LowRankRanker(CandidateRanker):
    """A linear ranker with scores `X @ coef_.T + intercept_` or `(X @ embedding_.T) @ codes_.T + intercept_`.

    With `codes_`, the product `coef_` is computed when it is asked for and never kept.
    """

    codes_: Array
    embedding_: Array

    @property
    def coef_(self) -> Array:
        """The weights, (k, d)."""
        if self._is_low_rank():
            return np.asarray(self.codes_ @ self.embedding_)
        if "coef_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no weights of features, coef_.")
        weights: Array = self.__dict__["coef_"]
        return weights

    @coef_.setter
    def coef_(self, weights: Array) -> None:
        self.__dict__["coef_"] = weights

    @coef_.deleter
    def coef_(self) -> None:
        del self.__dict__["coef_"]

    def _is_low_rank(self) -> bool:
        return "codes_" in self.__dict__

    def score_labels(self, X: Any) -> Array:
        """(n, k) scores."""
        if not self._is_low_rank():
            return super().score_labels(X)
        embedded = row_products(self._check_features(X, reset=False), self.embedding_.T)
        return row_products(embedded, self.codes_.T) + self.intercept_

    def _label_weights(self, label: Any, columns: IntArray) -> tuple[Array, float]:
        if label is CUT or not self._is_low_rank():
            return super()._label_weights(label, columns)
        at = self._column(label)
        return self.codes_[at] @ self.embedding_[:, columns], float(self.intercept_[at])


def fit_codes(
    machine: PreferenceMachine,
    X: Any,
    graphs: PreferenceGraphs,
    make: Callable[[Array | None], MarginProblem],
    constant: float,
) -> None:
    """Learn codes and embedding, and keep them as the weights of the machine.

    make : from codes to a problem whose costs are those of the machine's C
    """
    from arcrank.solvers.coding import centroid_codes, learn_codes

    design = sp.csr_matrix(add_intercept(X, constant) if machine.fit_intercept else X)
    random = check_random_state(machine.random_state)
    flows = zero_flows(graphs, machine._cut())
    start = centroid_codes(design, flows, graphs.shape, min(int(machine.code_length), graphs.n_labels), random)
    if machine._pieces().constant_cut:
        start[0] = 0.0  # so is its score
    history = History(machine.callback, None, machine.verbose)
    limits: dict[str, Any] = {"tol": machine.tol, "max_iter": int(machine.max_iter), "random": random}
    options: dict[str, Any] = {"shrinking": machine.shrinking, "n_jobs": machine.n_jobs}
    try:
        found = learn_codes(design, make, start, **limits, history=history, **options)
    finally:
        history.close()
    machine.history_, machine.n_iter_ = history.entries, found.passes
    machine.duality_gap_, machine.objective_ = found.gap, found.objective
    codes = found.codes[1:] - found.codes[:1] if machine.cut_label else found.codes
    machine.codes_, machine.embedding_ = codes, np.ascontiguousarray(found.embedding[: X.shape[1]].T)
    machine.intercept_ = np.zeros(len(codes))
    if machine.fit_intercept:
        machine.intercept_ = constant * (codes @ found.embedding[X.shape[1]])
    if not found.converged:
        warn_unconverged(machine, found.gap)
