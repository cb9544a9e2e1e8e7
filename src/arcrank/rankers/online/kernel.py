"""Online rankers that may have a kernel: prototypes are weights, or sums over support vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._features import canonical_csr, check_csr
from arcrank._typing import Array, IntArray
from arcrank._validation import check_real
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import PreferenceGraphs
from arcrank.rankers.base import Sizes
from arcrank.rankers.candidates import CandidateSets, refuse_candidates
from arcrank.rankers.linear import Explanation
from arcrank.rankers.online.base import OnlineRanker
from arcrank.rankers.online.hindsight import Hindsight, passes_over
from arcrank.solvers.kernels import Kernel
from arcrank.solvers.online_kernel import SupportVectors
from arcrank.solvers.online_margin import Stepper

__all__ = ["KernelOnlineRanker"]


class KernelOnlineRanker(OnlineRanker):
    """An online ranker with the parameters kernel, gamma, degree and coef0; kernel=None is linear."""

    kernel: str | Callable[[Any, Any], Any] | None
    gamma: float | None
    degree: float
    coef0: float
    _budget: int | None = None
    """The most support vectors; None is any number."""

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        if self.kernel is not None and self.kernel not in ("rbf", "poly") and not callable(self.kernel):
            raise ParameterError(f"kernel must be None, 'rbf', 'poly' or a callable, got {self.kernel!r}.")
        if self.gamma is not None:
            check_real("gamma", self.gamma, above=0, also="None")
        if self.kernel == "poly":
            check_real("degree", self.degree, above=0)
            check_real("coef0", self.coef0)
        super().check_parameters()

    hindsight_: Hindsight | None

    @abstractmethod
    def _fit_in_hindsight(self, X: Any, graphs: PreferenceGraphs, passes: int) -> Hindsight:
        """Fit the machine whose margins and losses the mistakes of this ranker are bounded by."""

    def hindsight(self, X: Any, y: Any) -> Self:
        """Fit a `PreferenceMachine` to the stream X, y that this ranker has learnt from, for `mistake_bound()`.

        It has the pieces, the loss and the C of this ranker, and is kept as `hindsight_`: the squared norm of its
        weights, and its summed loss on the stream. Model files do not store it.
        """
        self.check_parameters()
        if self.kernel is not None:
            raise ParameterError("hindsight needs a linear ranker; leave kernel out.")
        refuse_candidates(X, "hindsight")
        X = canonical_csr(self._check_features(X, reset=False))
        graphs = self._with_cut(self._graphs_as_given(y), self._kind)
        if len(graphs) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(graphs)}; give one of each for an instance.")
        self.hindsight_ = self._fit_in_hindsight(X, graphs, passes_over(graphs, self.n_rounds_))
        return self

    def _resolved_kernel(self) -> Kernel:
        assert self.kernel is not None
        gamma = 1.0 / self.n_features_in_ if self.gamma is None else float(self.gamma)
        return Kernel("polynomial" if self.kernel == "poly" else self.kernel, gamma, self.degree, self.coef0)

    def _next_candidates(self, sets: CandidateSets, y: Any) -> tuple[Any, PreferenceGraphs]:
        if self.kernel is not None:
            raise ParameterError("CandidateSets are learnt by linear online rankers; leave kernel out.")
        return super()._next_candidates(sets, y)

    def _new_model(self, k: int) -> Any:
        if self.kernel is None:
            return super()._new_model(k)
        return SupportVectors.none(self.n_features_in_, k)

    def _bytes_needed(self, sizes: Sizes) -> int:
        return super()._bytes_needed(sizes) if self.kernel is None else 0  # it grows with the mistakes

    def _learn_support(self, stepper: Stepper, X: Any, rows: IntArray) -> None:
        self._model.learn(stepper, canonical_csr(X), rows, self._progress, self._resolved_kernel(), self._budget)

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        if self.kernel is None:
            return super().score_labels(X)
        X = self._check_features(X, reset=False)
        return self._relative(self._model.scores(X, self._resolved_kernel(), self.average, self.n_rounds_))

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """Prototypes, (k, d): those after the last round, or their mean over all rounds with `average`."""
        if self.kernel is not None:
            raise AttributeError("With a kernel there are no weights; see score_labels.")
        return super().coef_

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """As of every linear ranker: each feature's part of the margin between two labels for one instance x."""
        if self.kernel is not None:
            raise ParameterError("explain needs a linear ranker; with a kernel a margin is not a sum over features.")
        return super().explain(x, above, below)

    def _check_average(self) -> None:
        if self.kernel is None:
            super()._check_average()

    def _plain_parameters(self) -> dict[str, Any]:
        if callable(self.kernel):
            raise ParameterError("A state cannot hold a callable kernel; use 'rbf' or 'poly'.")
        return super()._plain_parameters()

    def _model_arrays(self) -> dict[str, NDArray[Any]]:
        if self.kernel is None:
            return super()._model_arrays()
        names = ("data", "indices", "indptr")
        vectors = {f"support_{name}": getattr(self._model.vectors, name) for name in names}
        rounds = {"before": self._model.before, "born": self._model.born}
        return vectors | {"coefficients": self._model.coefficients} | rounds

    def _restore_model(self, state: Mapping[str, Any], copy: bool) -> Any:
        if self.kernel is None:
            return super()._restore_model(state, copy)
        coefficients = np.array(state["coefficients"], dtype=np.float64, order="C")
        shape = (len(coefficients), self.n_features_in_)
        data, indices, indptr = (
            (np.array if copy else np.asarray)(state[f"support_{name}"]) for name in ("data", "indices", "indptr")
        )
        before = np.array(state["before"], dtype=np.int64)
        if coefficients.shape[1:] != (len(self.labels_) + self._columns_before,) or before.shape != shape[:1]:
            raise InputError(f"The state has coefficients of shape {coefficients.shape}; it is damaged.")
        check_csr(data, indices, indptr, shape)
        vectors = canonical_csr(sp.csr_matrix((data, indices, indptr), shape=shape))
        return SupportVectors(vectors, coefficients, before, self._restore_born(state))
