"""The Preference Learning Model and its kernel machine (Aiolli & Sperduti 2004)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arcrank._typing import Array, Mask
from arcrank._validation import check_callable, check_int, check_real, check_seed
from arcrank.decompositions import CUT_DOMINATION, DOMINATION, Decomposition, get_decomposition
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.cut import CUT
from arcrank.losses.margin import MarginLoss, get_margin_loss
from arcrank.rankers.base import Sizes, add_intercept, check_sample_weight
from arcrank.rankers.candidate_ranker import CANDIDATES
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.kernels import Kernel, check_kernel, make_kernel
from arcrank.rankers.linear import Explanation
from arcrank.rankers.preference_machine.bound import MarginBound
from arcrank.rankers.preference_machine.candidates import fit_candidates
from arcrank.rankers.preference_machine.codes import check_code_name, check_codes, learns_codes
from arcrank.rankers.preference_machine.fitting import fit_kernel, fit_landmarks, fit_linear
from arcrank.rankers.preference_machine.low_rank import LowRankRanker, fit_codes
from arcrank.rankers.preference_machine.prediction import best_cuts
from arcrank.rankers.scale import DataScale, check_cost, check_intercept, measure_scale
from arcrank.rankers.shapley import shapley_parts
from arcrank.solvers.history import History
from arcrank.solvers.products import row_products

if TYPE_CHECKING:
    from arcrank.solvers.margin_problem import MarginProblem

_SCORED_AT_ONCE = 1000  # rows of a kernel matrix in memory at a time when new instances are scored
_FACTORS: dict[str, dict[str | None, float]] = {
    "hinge": {"zero-one": 0.15, "domination": 0.02, "disagreement": 0.003},
    "squared-hinge": {"zero-one": 0.1, "domination": 0.01, "cut-domination": 0.02, "disagreement": 0.003},
    "logistic": {"zero-one": 0.1, "domination": 0.08, "disagreement": 0.03},
    "exponential": {"zero-one": 0.1, "domination": 0.04, "disagreement": 0.02},
}
"""Of C="scale", by loss and decomposition; "hinge" and "domination" stand for what is not listed."""
LEARNT = (
    *("coef_", "intercept_", "codes_", "embedding_", "dual_coef_", "support_", "support_vectors_", "_kernel"),
    *("_bound_terms", "leave_one_out_bound_"),
)
"""What another fit may leave behind."""


class PreferenceMachine(LowRankRanker):
    """Rank labels by scores of large margin: a kernel machine on preference graphs.

    `min_W  1/2 ||W||^2 + C sum_{pieces} max_{arcs} w L(margin)`, the paper's eq. (5) with the hinge, solved by its dual
    (8). The paper's eq. (2) sums the losses too; its later display without a number, with a mean over N pieces and
    mu ||W||^2, is the same problem for `C = 1 / (2 mu N)`.

    Parameters
    ----------
    decomposition : str or callable
        "identity" (the same as "zero-one"), "domination", "dominated", "disagreement", or a callable
        `(heads, tails, row) -> pieces`: the paper's label mappings. With cut_label, the arcs from the cut to the labels
        below it are pieces of their own under "domination", since each of them is a separate question, and the cut is
        the constant 0; under the others it has weights of its own.
    loss : str
        "hinge" (the soft margin; the paper's KPLM), "squared-hinge" (modified least squares), "logistic",
        "exponential" or "beta-perceptron".
    kernel : str or callable
        "linear" (works on W, never on a kernel matrix), "polynomial", "rbf", "cosine", "precomputed" (fit gets the
        (n, n) values between training instances, the other methods those between new and training instances), or a
        callable `(A, B) -> (len(A), len(B))`.
    C : float or "scale"
        Weight of the data term. "scale" is `factor sqrt(k / density) / mean ||x||^2`, density being the share of values
        of X that are not 0, with a factor for each loss and decomposition, but at least 200 / mean ||x||^2 over the
        number of pieces; with other kernels than "linear" it is 1 / mean k(x, x). `C_` is the number.
    codes : (k, s) matrix, "one-vs-one", "error-correcting", "learn" or None
        The matrix M of class codes, scores being `<W x, M_r>`; None is the standard basis. The regulariser is on the
        (s, d) matrix W. "learn" learns M and W in turn: the weights M W are those of the smallest objective among
        matrices of rank `code_length` that the two steps find, with the regulariser 1/2 ||M W||^2 of the machine
        without codes, so that the same C suits both.
    code_length : int
        The length s of learnt codes; they are never longer than there are labels or features.
    fit_intercept : bool
        Add a constant to the kernel, as the paper does: a constant feature, regularised like the others.
    intercept : "scaled" or "regularised"
        The value of the constant feature. "regularised": 1, the paper's. "scaled": as in `LogLinearRanker`; with other
        kernels than "linear", `sqrt(mean k(x, x))`.
    aggregate : "max" or "sum"
        "max" over the arcs of a piece; "sum" makes every arc a piece.
    normalize : bool
        Divide an instance's pieces by their number; the paper counts every piece fully.
    beta : float
        The margin of "beta-perceptron".
    gamma : float or "scale"
        Of "rbf" and "polynomial", as in scikit-learn's SVC.
    landmarks : int or None
        Of kernels other than "linear" and "precomputed": approximate the kernel by its values with so many training
        instances, drawn at random (Nystroem's method). Time and memory are then linear in the instances.
    degree : float
        Of "polynomial".
    coef0 : float
        Of "polynomial".
    prediction : "auto" or "plm"
        What `predict` returns for label sets: "auto" the labels above the cut with cut_label=True, "plm" the paper's
        prediction, which is the only one without a cut.
    cut_label, cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`: learn where rankings end, so that `predict` returns label sets, and fit probabilities.
    label_correlations : bool
        As in `LogLinearRanker`, for kernel="linear" without codes.
    tol : float
        The relative duality gap to reach.
    max_iter : int
        Passes over the instances; a pass makes at least 1,000 visits.
    shrinking : bool
        Let instances at their optimum sleep for a few passes.
    cache_mb : float
        Memory for rows of the kernel matrix, in MB.
    warm_start : bool
        Start from the last dual variables, scaled to the new C, if graphs and decomposition are the same. Learnt codes
        start anew.
    callback : callable, optional
        Called with each entry of the history; True stops.
    n_jobs : int
        Threads that measure the gap, and folds of the calibration that are fitted at a time. The result does not
        depend on it.
    random_state : int, RandomState or None
        Of the order in which instances are visited; None (the default) draws another one each time.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    coef_, intercept_ : (k, d) and (k,) arrays
        The weights of a linear machine; of a kernel machine there is only the intercept, 0 unless offsets were chosen.
    embedding_ : (s, d) array
        The paper's W, where codes are given or learnt. Learnt ones have orthonormal rows, the most important first.
    codes_ : (k, s) array
        The paper's M, where codes are learnt. The distance of two rows is that of the weights of two labels, so the
        first two columns are the best picture of the labels. `coef_` is then the product, computed when asked for.
    C_ : float
        The C that was used.
    support_ : (m,) array
        Training instances that carry flow.
    dual_coef_, support_vectors_ : (m, k) and (m, d) arrays
        Those of a kernel machine.
    duality_gap_, objective_ : float
        (primal - dual) / primal, measured at the final weights; and the primal.
    leave_one_out_bound_ : float
        Support vectors over pieces, a bound on the leave-one-out error of pieces at any `tol`. It counts every piece
        that could be a support vector of the exact solution, whose margins are known up to an error that falls with
        the duality gap; so it falls with `tol`, to the share of pieces with a margin of at most 1.
    calibration_ : Calibration
        With cut_label: what `predict_proba` is computed by, and how it was fitted.
    label_correlations_ : (k, k) array
        With label_correlations: what the score of the label of a row adds to that of the label of a column.
    history_ : list of {iteration, loss, gap, seconds}
        The loss is the whole objective. Gaps are those met on the way through a pass, except where they are at most
        tol: those are measured. Where codes are learnt, there is an entry for each step that lowered the objective.
    n_iter_ : int
        Passes made.
    labels_ : (k,) array
        The columns of a matrix, else sorted.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> machine = PreferenceMachine(C=10).fit(X, [["tea"], ["milk"], ["tea", "milk"]])
    >>> machine.rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]

    Ordinal regression: grades nearer to the right one rank higher, so the graphs come from distances.

    >>> import numpy as np
    >>> from arcrank.graphs import LayeredGraphs
    >>> grades = np.array([0, 1, 2, 3])
    >>> graphs = LayeredGraphs.from_distances(np.abs(grades[:, None] - np.arange(4)))
    >>> machine = PreferenceMachine(C=10, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], graphs)
    >>> machine.rank([[0.2], [2.9]], top=2).tolist()
    [[0, 1], [3, 2]]
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        decomposition: Any = "identity",
        loss: Any = "hinge",
        kernel: Any = "linear",
        C: float | str = "scale",
        codes: Any = None,
        *,
        code_length: int = 50,
        fit_intercept: bool = True,
        intercept: str = "scaled",
        aggregate: str = "max",
        normalize: bool = False,
        beta: float = 1.0,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        landmarks: int | None = None,
        prediction: str = "auto",
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        label_correlations: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        shrinking: bool = True,
        cache_mb: float = 500,
        warm_start: bool = False,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
    ) -> None:
        self.decomposition = decomposition
        self.loss = loss
        self.kernel = kernel
        self.C = C
        self.codes = codes
        self.code_length = code_length
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.aggregate = aggregate
        self.normalize = normalize
        self.beta = beta
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.prediction = prediction
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds
        self.label_correlations = label_correlations
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_mb = cache_mb
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from instances X, (n, d) or CandidateSets, and preferences y, anything `as_graphs` takes."""
        from arcrank.solvers.margin_problem import make_problem

        self.check_parameters()
        if isinstance(X, CandidateSets):
            return fit_candidates(self, X, y, sample_weight)
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        kernel = None if self.kernel == "linear" else self._kernel_without_constant(X)
        codes = check_codes(self.codes, graphs.n_labels, with_cut=bool(self.cut_label))
        options: dict[str, Any] = {"aggregate": self.aggregate, "normalize": self.normalize}
        problem = make_problem(graphs, self._pieces(), self._loss(), weight, codes=codes, **options)
        constant = self._set_scale(X, weight, problem, kernel)
        problem.cost = self.C_ * problem.cost
        for name in LEARNT:
            self.__dict__.pop(name, None)
        of_folds = self._learn_by_folds(X, graphs, None if sample_weight is None else weight)
        if learns_codes(self.codes):
            parts = graphs, self._pieces(), self._loss(), self.C_ * weight
            fit_codes(self, X, graphs, lambda M: make_problem(*parts, codes=M, **options), constant)
        elif kernel is None:
            fit_linear(self, X, graphs, problem, constant)
        elif self.landmarks is not None:
            fit_landmarks(self, X, graphs, problem, kernel, constant)
        else:
            fit_kernel(self, X, graphs, problem, replace(kernel, constant=constant**2))
        self._keep_by_folds(of_folds, len(graphs))
        return self

    def _set_scale(self, X: Any, weight: Array, problem: MarginProblem, kernel: Kernel | None) -> float:
        """Resolve C, and return the value of the constant feature, 0 where there is none."""
        if kernel is None:
            scale, pieces = measure_scale(X, weight), float(problem.cost @ problem.pieces_of)
            self.C_ = scale.cost(self.C, self._factor(), problem.shape[1], pieces)
        else:
            scale = DataScale.of_diagonal(kernel.diagonal(X), weight)
            self.C_ = scale.cost(self.C, factor=1.0, n_labels=1)
        if not self.fit_intercept:
            return 0.0
        return scale.constant(self.intercept, with_cut=bool(self.cut_label))

    def _factor(self) -> float:
        """Return the factor of C="scale"."""
        kind = "disagreement" if self.aggregate == "sum" else self._pieces().layered
        factors = _FACTORS.get(self._loss().name, _FACTORS["hinge"])
        return factors.get(kind, factors["domination"])

    def score_labels(self, X: Any) -> Array:
        """(n, k) scores; for CandidateSets one score for each candidate, (candidates,)."""
        if not hasattr(self, "_kernel") or isinstance(X, CandidateSets) or self._kind == CANDIDATES:
            return super().score_labels(X)
        return self._kernel_scores(self._check_features(X, reset=False))

    def _candidate_scores(self, features: Any) -> Array:
        return self._kernel_scores(features)[:, 0] if hasattr(self, "_kernel") else super()._candidate_scores(features)

    def _kernel_scores(self, X: Any) -> Array:
        scores = np.empty((X.shape[0], self.dual_coef_.shape[1]))
        for start in range(0, X.shape[0], _SCORED_AT_ONCE):
            part = X[start : start + _SCORED_AT_ONCE]
            values = part[:, self.support_] if self.kernel == "precomputed" else part
            values = self._kernel.between(values, self.support_vectors_)
            scores[start : start + _SCORED_AT_ONCE] = row_products(values, self.dual_coef_)
        return scores + getattr(self, "intercept_", 0.0)

    def predict(self, X: Any, size: int | None = None) -> Any:
        """The paper's PLM prediction: the supervision whose preference graph costs least under loss and decomposition.

        Single labels: the highest score. Label sets: the labels above the cut with cut_label=True, else the best cut of
        the ranking; with `size`, the first `size` labels (q-label classification).
        Everything else: an (n, k) matrix of ranks, 1 = best.
        """
        if size is None:
            return super().predict(X)
        if self._kind not in ("indicator", "sets"):
            raise ParameterError(f"size is for label sets; this machine learnt {self._kind!r}. Call predict(X).")
        check_int("size", size, at_least=1, at_most=len(self.labels_))
        order = np.argsort(-self.score_labels(X), axis=1, kind="stable")[:, :size]
        if self._kind == "sets":
            return [self.labels_[row].tolist() for row in order]
        relevant = np.zeros((len(order), len(self.labels_)), dtype=np.int64)
        np.put_along_axis(relevant, order, 1, axis=1)
        return relevant

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Each feature's part of the margin of two labels.

        With kernel="linear" these are exact, as of every linear ranker. With other kernels they are sampled Shapley
        values: how much the margin changes, on average over orders of the features, when a feature of the mean support
        vector (of no features, if X is sparse) takes its value in x. They sum to the margin too.
        """
        if not hasattr(self, "_kernel"):
            return super().explain(x, above, below)
        if self.kernel == "precomputed" or isinstance(x, CandidateSets):
            raise ParameterError(
                "explain needs features of labels; with kernel='precomputed' or a kernel of candidates there are none."
            )
        row, (high, low) = self._one_row(x), [self._score_column(label) for label in (above, below)]
        vectors = self.support_vectors_
        baseline = sp.csr_matrix((1, row.shape[1])) if sp.issparse(row) else vectors.mean(axis=0, keepdims=True)
        features, parts, constant = shapley_parts(lambda rows: high(rows) - low(rows), row, baseline)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[features]
        return Explanation.of(above, below, names, parts, constant)

    def _score_column(self, label: Any) -> Callable[[Any], Array]:
        """The scores of one label; those of the cut are 0."""
        if label is CUT:
            self._label_weights(label, np.empty(0, dtype=np.intp))  # refuses a machine without a cut
            return lambda rows: np.zeros(rows.shape[0])
        column = self._column(label)
        return lambda rows: self.score_labels(rows)[:, column]

    def margin_bound(self, delta: float = 0.05) -> MarginBound:
        """Theorem 1: with probability 1 - delta, a bound on the expected number of violated pieces of a new instance.

        The theorem states ||M_r||^2 <= R_M but uses R = 2 R_M R_X as bound on ||M_h - M_t|| ||x||; here R_M bounds the
        norm ||M_r|| itself, which makes that right (for the standard basis both are 1). R_X includes the constant.
        """
        if self._is_low_rank():
            raise ParameterError("margin_bound is for fixed codes; this machine has learnt its codes.")
        if getattr(self, "_kind", None) == CANDIDATES:
            raise ParameterError("Theorem 1 is about labels that all instances share; CandidateSets have no bound.")
        return self._bound_terms.bound(delta)

    def _label_sets(self, scores: Array) -> Mask:
        return self._relevant(scores) if self.prediction == "plm" else super()._label_sets(scores)

    def _relevant(self, scores: Array) -> Mask:
        if self._cut().layered == "zero-one" and self.aggregate == "max":
            return super()._relevant(scores)  # the loss falls with the smallest margin, which is the gap at the cut
        order = np.argsort(-scores, axis=1, kind="stable")
        sizes = best_cuts(scores, order, self._cut(), self._loss(), aggregate=self.aggregate, normalize=self.normalize)
        relevant = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(relevant, order, np.arange(scores.shape[1]) < sizes[:, None], axis=1)
        return relevant

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_cost(self.C)
        check_intercept(self.intercept)
        for name in ("tol", "max_iter", "beta", "cache_mb"):
            check_real(name, getattr(self, name), above=0)
        check_int("n_jobs", self.n_jobs, at_least=1)
        if self.aggregate not in ("max", "sum"):
            raise ParameterError(f"aggregate must be 'max' or 'sum', got {self.aggregate!r}.")
        if self.prediction not in ("auto", "plm"):
            raise ParameterError(f"prediction must be 'auto' or 'plm', got {self.prediction!r}.")
        self._check_cut_parameters()
        if self.landmarks is not None:
            check_int("landmarks", self.landmarks, at_least=1, also="None")
            if self.kernel in ("linear", "precomputed"):
                raise ParameterError(f"landmarks has no meaning for kernel={self.kernel!r}; leave it out.")
        check_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        check_code_name(self.codes)
        check_int("code_length", self.code_length, at_least=1)
        if learns_codes(self.codes) and self.kernel != "linear":
            raise ParameterError(f"codes='learn' needs kernel='linear', got {self.kernel!r}; choose one of the two.")
        check_callable("callback", self.callback)
        check_seed("random_state", self.random_state)
        self._cut()
        self._loss()

    def _bytes_needed(self, sizes: Sizes) -> int:
        if self.kernel != "linear":  # scores, flows, and what a step adds to the scores
            return int(1e6 * self.cache_mb) + 3 * 8 * sizes.instances * sizes.labels
        weights, (_, d, k, *_) = super()._bytes_needed(sizes), sizes
        if self.codes is None:
            return weights
        if learns_codes(self.codes):  # two bases, their products and the embedded instances, twice
            return 8 * min(int(self.code_length), k) * (4 * (d + k) + 3 * sizes.instances)
        columns = k * (k - 1) // 2 if isinstance(self.codes, str) and self.codes == "one-vs-one" else k
        return weights + 8 * (d + k) * columns

    def _cut(self) -> Decomposition:
        return get_decomposition(self.decomposition)

    def _pieces(self) -> Decomposition:
        """The decomposition of the graphs that are learnt from."""
        return CUT_DOMINATION if self.cut_label and self._cut() is DOMINATION else self._cut()

    def _learns_correlations(self, n_instances: int, n_labels: int) -> bool:
        plain = self.kernel == "linear" and self.codes is None
        return plain and super()._learns_correlations(n_instances, n_labels)

    def _loss(self) -> MarginLoss:
        return get_margin_loss(self.loss, self.beta)

    def _fit_path(
        self, X: Any, graphs: PreferenceGraphs, costs: Iterable[float], weight: Any = None
    ) -> Iterator[float]:
        """Fit a linear machine at each C, best in ascending order, from the scaled flows of the last one; yield each C.

        X and graphs are what `_check_features` and `_learn_labels` returned: nothing is checked or copied again. At
        each step `coef_`, `intercept_` and `duality_gap_` are those of this C, without calibration and bounds.
        """
        from arcrank.solvers.margin_dual import LinearDual
        from arcrank.solvers.margin_problem import make_problem

        weight = check_sample_weight(weight, X.shape[0])
        problem = make_problem(
            graphs, self._pieces(), self._loss(), weight, aggregate=self.aggregate, normalize=self.normalize
        )
        unit, constant = problem.cost, self._set_scale(X, weight, problem, None)
        design, held = (add_intercept(X, constant), constant) if self.fit_intercept else (X, 0.0)
        solver = LinearDual(design, problem, n_jobs=self.n_jobs, constant=held)
        solution, passes = solver.start(), int(self.max_iter)
        for C in costs:
            solver.rescale(solution, C * unit)
            random = check_random_state(self.random_state)
            solver.solve(solution, tol=self.tol, max_iter=passes, random=random, history=History())
            self.duality_gap_, self.C_ = solution.relative_gap, C
            self._set_weights(solution.weights.copy(), X.shape[1], constant)
            yield C

    def _kernel_without_constant(self, X: Any) -> Kernel:
        numbers = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return make_kernel(self.kernel, X, **numbers, constant=0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        X = super()._check_features(X, reset=reset)
        if self.kernel == "precomputed" and sp.issparse(X):
            raise InputError("kernel='precomputed' needs a dense matrix of kernel values, got a sparse one.")
        return X
