"""Log-linear label ranking (Dekel, Manning & Singer 2003)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_callable, check_int, check_real, check_seed
from arcrank.decompositions import CONSTANT_CUT_DOMINATION, DOMINATION, Decomposition, get_decomposition
from arcrank.errors import ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs, PreferenceGraphs
from arcrank.rankers.arc_weights import check_arc_weights, count_arcs
from arcrank.rankers.base import Sizes, add_intercept, check_sample_weight
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.fingerprint import fingerprint
from arcrank.rankers.label_feature_ranker import LabelFeatureRanker
from arcrank.rankers.loglinear_candidates import fit_candidates
from arcrank.rankers.scale import DataScale, check_cost, check_intercept, measure_scale
from arcrank.rankers.thresholds import learn_thresholds, set_sizes
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs

if TYPE_CHECKING:
    from arcrank.solvers.history import History
    from arcrank.solvers.loglinear_dual import DualAscent, DualState

SOLVERS = ("auto", "dual", "lbfgs", "boosting")
_FEW_WEIGHTS = 20_000  # below, L-BFGS's vectors cost nothing and it needs fewer passes
_MANY_FLOWS = 30_000_000  # above, the dual variables would take more than 240 MB
_LBFGS_VECTORS = 60  # arrays as large as the weights: SciPy's memory of 20 steps has 45 of them, and it copies
_BOOSTING_VECTORS = 5  # weights, W+ and W-, and those of negative features
_FACTORS: dict[str | None, float] = {"zero-one": 0.5}  # of C="scale"; 1 for other decompositions
_SCORES = 4  # scores, outflow, inflow and their difference


class LogLinearRanker(LabelFeatureRanker):
    """Rank labels by linear scores that minimise the log-linear loss of preference graphs.

    `min_W  1/2 ||W||^2 + C sum_i 1/s_i sum_{pieces of D(G_i)} log(1 + sum_arcs w exp(-margin))`

    Parameters
    ----------
    decomposition : str or callable
        "domination" (the paper's best), "zero-one" ("identity"), "disagreement", "dominated", or a callable
        `(heads, tails, row) -> pieces`. With cut_label, the cut is the constant 0 under "domination"; under the others
        it has weights of its own.
    solver : "auto", "dual", "lbfgs" or "boosting"
        "dual" is ascent with a duality-gap certificate, "boosting" the paper's Figure 3, which does not use C;
        `solver_` is what "auto" chose. For disagreement and callables "dual" has a variable for each arc, O(arcs)
        memory; otherwise layered graphs are never written out.
    C : float or "scale"
        Weight of the data term. "scale" is `factor sqrt(k / density) / mean ||x||^2`, density being the share of values
        of X that are not 0; the factor is 1, 0.5 for "zero-one", k / 10 for "disagreement", twice as much with
        cut_label. `C_` is the number.
    normalize : bool
        Divide an instance's pieces by their number s_i (the paper's way), or count every piece fully.
    arc_weights : "margin" or "count"
        What the weight w of an arc means. "margin": the paper's w inside the logarithm, which shifts the margin by
        log w. "count": for votes, `w log(1 + sum exp(-margin))` over pieces of arcs of equal weight, and pieces are
        not divided by their number, so that ten votes weigh ten times as much as one.
    label_features : dict of labels and vectors of numbers, optional
        What is known of the labels, such as prices and sizes of models. The scores become `x' W_y + x' B z_y` with
        the same penalty on W and B, so that labels without any vote can be ranked (`add_labels`) and new ones need few
        votes (`partial_fit`). For "auto" and "lbfgs", without cut_label.
    loss : callable, optional
        A custom convex loss instead of the log-linear one, for "auto" and "lbfgs": `loss(graphs, decomposition,
        weight)` is called by `fit`, with C in the instances' weights, and returns a `FlowLoss`. Such a ranker is not
        for model files.
    fit_intercept : bool
        Add a constant feature, regularised like the others.
    intercept : "scaled" or "regularised"
        The value of the constant feature. "regularised": 1. "scaled": `sqrt(density mean ||x||^2)`, which is small
        where most values of X are 0, so that labels are not ranked by how frequent they are; with cut_label
        `sqrt(mean ||x||^2)`, since that matters to label sets. CandidateSets always have 1, for the cut only.
    smoothing : float
        For "boosting", eps in the step `1/2 ln((W+ + eps) / (W- + eps))`, in units of the features (Schapire & Singer
        1999). It bounds steps where W+ or W- is 0, as for rare words, and leaves the optimum as it is. With 0 (the
        paper's Figure 3) these steps would be infinite, so such weights stay unchanged.
    virtual : float
        For "boosting", the weight nu of virtual examples that regularise each weight (0 = the paper's Figure 3).
    tol : float
        The relative duality gap to reach; for "boosting" 1000 times the relative decrease that Theorem 1 promises.
    max_iter : int
        Passes over the instances, or iterations.
    cut_label : bool
        Learn where rankings end: a virtual label between the labels that are relevant and those that are not. Scores
        are then relative to it, `predict` returns the labels that score above 0, and an empty label set is an instance
        to learn from. Preferences other than label sets and single labels mention `arcrank.CUT` or need `cut_level`.
    cut_level : int or None
        Of layered graphs: the last layer above the cut, 0 being the top layer. None is the top layer of label sets.
    set_measure : str or None
        With cut_label, what the label sets of `predict` are to be best by, on out-of-fold scores of the training data:
        "micro_f1", "macro_f1" (an offset for each label), "subset_accuracy", "precision>=0.9" (or another number), or
        None to leave the cut where it was learnt.
    calibration_folds : int
        With cut_label, the folds of the cross-validation within `fit` that offsets and probabilities are fitted on; 0
        for neither. There is no calibration of CandidateSets.
    label_correlations : bool
        With cut_label and after label sets or single labels, correct the weights of each label by those of the others
        as far as the out-of-fold scores show that this helps: labels occur together or exclude each other, and the
        objective hardly sees it. It needs at least 100 instances and at most 2,000 labels, and ends with a linear
        ranker as without it. `duality_gap_` is that of the weights before the correction.
    warm_start : bool
        Start from the last solution; after a change of C alone the dual variables are scaled.
    callback : callable, optional
        Called with each entry of the history; True stops.
    n_jobs : int
        Threads of "lbfgs" and "boosting", and folds of the calibration that are fitted at a time. "dual" uses one: two
        blocks that are merged need more than twice the passes. The result does not depend on it.
    random_state : int, RandomState or None
        Of the order in which "dual" visits the instances; None (the default) draws another one each time.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    coef_ : (k, d) array
        The weights of each label.
    intercept_ : (k,) array
        What is added to the scores: the weights of the constant feature times its value.
    C_ : float
        The C that was used.
    labels_ : (k,) array
        The columns of a matrix, else sorted.
    duality_gap_ : float
        (primal - dual) / primal, for "dual" and "lbfgs".
    history_ : list of {iteration, loss, gap or bound, seconds}
        The loss is C times the sum above. During dual ascent gaps are those met on the way through a pass; the last
        one is exact.
    label_coef_ : (p, d) array, with a column for the constant feature where there is one
        With label_features: B', the weights that labels share as far as their features agree.
    n_iter_ : int
        Passes or iterations made.
    solver_ : str
        What was taken.
    calibration_ : Calibration
        With cut_label: what `predict_proba` is computed by, and how it was fitted.
    label_correlations_ : (k, k) array
        With label_correlations: what the score of the label of a row adds to that of the label of a column.
    thresholds_ : (any, first)
        Of label sets without cut_label: `predict` takes the labels that score above `any`, and the best one if it
        scores above `first`. Of the training instances as many labels are above `any` as were given, and as many best
        ones above `first` as sets were not empty.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> ranker = LogLinearRanker(C=10).fit(X, [["tea"], ["milk"], ["tea", "milk"]])
    >>> ranker.rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """

    def __init__(
        self,
        decomposition: Any = "domination",
        solver: str = "auto",
        C: float | str = "scale",
        *,
        normalize: bool = True,
        arc_weights: str = "margin",
        label_features: Any = None,
        loss: Any = None,
        fit_intercept: bool = True,
        intercept: str = "scaled",
        smoothing: float = 0.1,
        virtual: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        label_correlations: bool = True,
        warm_start: bool = False,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
    ) -> None:
        self.decomposition = decomposition
        self.solver = solver
        self.C = C
        self.normalize = normalize
        self.arc_weights = arc_weights
        self.label_features = label_features
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.smoothing = smoothing
        self.virtual = virtual
        self.tol = tol
        self.max_iter = max_iter
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds
        self.label_correlations = label_correlations
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from instances X, (n, d) or CandidateSets, and preferences y, anything `as_graphs` takes."""
        self.check_parameters()
        self.__dict__.pop("thresholds_", None)  # of an earlier fit, in case this one is interrupted
        if isinstance(X, CandidateSets):
            return fit_candidates(self, X, y, sample_weight)
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        self._set_scale(measure_scale(X, weight), graphs.n_labels)
        of_folds = self._learn_by_folds(X, graphs, None if sample_weight is None else weight)
        design = add_intercept(X, self._constant) if self.fit_intercept else X
        self.solver_ = self._choose_solver(self._sizes(graphs, X.shape[1]))
        counted = count_arcs(self.arc_weights, design, graphs, weight)
        if self.solver_ == "dual":
            self._fit_dual(*counted)
        else:
            design, pieces, counts = counted
            self._fit_primal(self._label_design(design, graphs.n_labels), pieces, counts)
        self._learn_threshold(X, graphs)
        self._keep_by_folds(of_folds, len(graphs))
        return self

    def _set_scale(self, scale: DataScale, n_labels: int) -> None:
        kind = self._cut().layered
        # A piece of disagreement is one of about k for each label: divided by their number, it counts little.
        divided = kind == "disagreement" and self._divides
        factor = 0.1 * n_labels if divided else _FACTORS.get(kind, 1.0)
        self.C_ = scale.cost(self.C, 2.0 * factor if self.cut_label else factor, n_labels)
        self._constant = scale.constant(self.intercept, with_cut=bool(self.cut_label))

    def _learn_threshold(self, X: Any, graphs: PreferenceGraphs) -> None:
        if self._kind in ("sets", "indicator") and isinstance(graphs, LayeredGraphs) and not self.cut_label:
            self.thresholds_ = learn_thresholds(X, self.coef_, self.intercept_, set_sizes(graphs))

    def _relevant(self, scores: Array) -> Mask:
        if hasattr(self, "thresholds_"):
            return self.thresholds_.sets(scores)
        return super()._relevant(
            scores
        )  # a fit that was interrupted, or a model file from before there were thresholds

    def _cut_sizes(self, ordered: Array) -> IntArray:
        """The cut whose two-layer graph has the smallest zero-one loss: log(1 + sum_h exp(-f_h) sum_t exp(f_t))."""
        if ordered.shape[1] < 2:
            return super()._cut_sizes(ordered)
        above = np.logaddexp.accumulate(-ordered, axis=1)[:, :-1]
        below = np.logaddexp.accumulate(ordered[:, ::-1], axis=1)[:, ::-1][:, 1:]
        return (above + below).argmin(axis=1) + 1

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_cost(self.C)
        check_intercept(self.intercept)
        check_arc_weights(self.arc_weights)
        check_real("tol", self.tol, above=0)
        check_real("max_iter", self.max_iter, above=0)
        check_int("n_jobs", self.n_jobs, at_least=1)
        check_real("smoothing", self.smoothing, at_least=0)
        check_real("virtual", self.virtual, at_least=0)
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {self.solver!r}.")
        if self.label_features is not None:
            self._check_label_features()
        if self.loss is not None and not callable(self.loss):
            raise ParameterError(
                f"loss must be None or a callable (graphs, decomposition, weight) -> FlowLoss; got {self.loss!r}."
            )
        if self.loss is not None and self.solver not in ("auto", "lbfgs"):
            raise ParameterError(f"A custom loss is minimised by solver='lbfgs' only; got solver={self.solver!r}.")
        check_callable("callback", self.callback)
        check_seed("random_state", self.random_state)
        self._check_cut_parameters()
        self._cut()

    def _cut(self) -> Decomposition:
        return get_decomposition(self.decomposition)

    def _pieces(self) -> Decomposition:
        """The decomposition of the graphs that are learnt from."""
        constant = self.cut_label and getattr(self, "_kind", None) != "candidates" and self._cut() is DOMINATION
        return CONSTANT_CUT_DOMINATION if constant else self._cut()

    @property
    def _divides(self) -> bool:
        """Whether the pieces of an instance are divided by their number; votes are counted."""
        return bool(self.normalize) and self.arc_weights != "count"

    def _sizes(self, graphs: PreferenceGraphs, n_features: int) -> Sizes:
        sizes = super()._sizes(graphs, n_features)._replace(explicit=isinstance(graphs, ArcGraphs))
        if self.solver not in ("auto", "dual") or self.loss is not None:
            return sizes
        from arcrank.solvers.loglinear_dual import count_flows

        return sizes._replace(flows=count_flows(graphs, self._cut()))

    def _choose_solver(self, sizes: Sizes) -> str:
        """The dual where weights are many and its variables few, or less memory than L-BFGS takes; else L-BFGS."""
        if self.solver != "auto":
            return self.solver
        if self.loss is not None or self.label_features is not None:
            return "lbfgs"
        n_weights = (sizes.features + self.fit_intercept) * sizes.labels
        fits = sizes.flows <= max(_MANY_FLOWS, _LBFGS_VECTORS * n_weights)
        few = sizes.explicit or sizes.flows <= 4 * sizes.instances * sizes.labels
        return "dual" if fits and few and n_weights > _FEW_WEIGHTS else "lbfgs"

    def _bytes_needed(self, sizes: Sizes) -> int:
        weights, scores = super()._bytes_needed(sizes), 8 * sizes.instances * sizes.labels
        solver = self._choose_solver(sizes)
        if solver == "dual":
            return (2 if self.warm_start else 1) * (weights + 8 * sizes.flows)
        return (_LBFGS_VECTORS if solver == "lbfgs" else _BOOSTING_VECTORS) * weights + _SCORES * scores

    def _fit_dual(self, X: Any, graphs: PreferenceGraphs, weight: Array) -> None:
        from arcrank.solvers.loglinear_dual import DualAscent

        ascent = DualAscent(X, graphs, self._pieces(), self.C_ * weight, normalize=self._divides)
        self._ascend(ascent, fingerprint(X, graphs, weight) if self.warm_start else "")

    def _ascend(self, ascent: DualAscent, data: str) -> None:
        """Fit by dual ascent; `data` identifies the problem, for a warm start."""
        state = self._warm_dual(ascent.start(), data)
        history, random = self._history(), check_random_state(self.random_state)
        try:
            ascent.solve(state, tol=self.tol, max_iter=self.max_iter, random=random, history=history)
        finally:
            self._finish(state, history, self.n_features_in_)

    def _warm_dual(self, state: DualState, data: str) -> DualState:
        """The last dual variables, scaled to the new C, if they were made from the same data."""
        if not self.warm_start:
            return state
        old_C, old_data, old = getattr(self, "_dual", (self.C_, None, state))
        if old_data == data and old.flows.shape == state.flows.shape:
            state.flows[:], state.W[:] = old.flows * (self.C_ / old_C), old.W * (self.C_ / old_C)
        self._dual = self.C_, data, state
        return state

    def _fit_path(
        self, X: Any, graphs: PreferenceGraphs, costs: Iterable[float], weight: Any = None
    ) -> Iterator[float]:
        """Fit by dual ascent at each C, best in ascending order, from the scaled flows of the last one; yield each C.

        X and graphs are what `_check_features` and `_learn_labels` returned: nothing is checked or copied again. At
        each step `coef_`, `intercept_` and `duality_gap_` are those of this C, without calibration and thresholds.
        """
        from arcrank.solvers.loglinear_dual import DualAscent

        weight = check_sample_weight(weight, X.shape[0])
        self._set_scale(measure_scale(X, weight), graphs.n_labels)
        design = add_intercept(X, self._constant) if self.fit_intercept else X
        design, graphs, weight = count_arcs(self.arc_weights, design, graphs, weight)
        ascent, last = DualAscent(design, graphs, self._pieces(), weight, normalize=self._divides), 1.0
        state, passes = ascent.start(), int(self.max_iter)
        for C in costs:
            ascent.rescale(state, C / last)
            random = check_random_state(self.random_state)
            ascent.solve(state, tol=self.tol, max_iter=passes, random=random, history=History())
            self.duality_gap_, self.C_, last = state.relative_gap, C, C
            self._set_weights(state.W.copy(), X.shape[1], self._constant)
            yield C

    def _fit_primal(self, features: Any, graphs: PreferenceGraphs, weight: Array) -> None:
        if self.solver_ == "lbfgs":
            self._minimise(features, self._bind_loss(graphs, self.C_ * weight))
            return
        from arcrank.solvers.loglinear_boosting import LabelSums

        loss = self._bind_loss(graphs, weight)
        self._boost(LabelSums(features, loss, graphs.arc_counts() > 0), features.weight_shape)

    def _minimise(self, features: Any, loss: Any) -> None:
        """Fit by L-BFGS."""
        from arcrank.solvers.flow_sums import FlowProblem

        state, history = PrimalState(self._warm_weights(features.weight_shape)), self._history()
        try:
            solve_lbfgs(FlowProblem(features, loss), state, tol=self.tol, max_iter=self.max_iter, history=history)
        finally:
            self._finish(state, history, self.n_features_in_)

    def _boost(self, problem: Any, shape: tuple[int, ...]) -> None:
        """Fit by the paper's Figure 3."""
        from arcrank.solvers.loglinear_boosting import solve_boosting

        state, history = PrimalState(self._warm_weights(shape)), self._history()
        steps: dict[str, Any] = {"smoothing": self.smoothing, "virtual": self.virtual, "tol": self.tol / 1000}
        try:
            solve_boosting(problem, state, **steps, max_iter=self.max_iter, history=history)
        finally:
            self._finish(state, history, self.n_features_in_)

    def _bind_loss(self, graphs: PreferenceGraphs, weight: Array) -> Any:
        if self.loss is not None:
            return self.loss(graphs, self._cut(), weight)
        from arcrank.losses import LogLinearLoss

        return LogLinearLoss(graphs, self._pieces(), weight, normalize=self._divides, n_jobs=self.n_jobs)

    def _warm_weights(self, shape: tuple[int, ...]) -> Array:
        if self.warm_start and hasattr(self, "coef_"):
            old = np.vstack([self.coef_.T, self.intercept_ / self._constant]) if self.fit_intercept else self.coef_.T
            if self.cut_label and self._kind != "candidates":
                old = _with_cut_weights(old, constant=self._pieces().constant_cut)
            old = old[: shape[0]].reshape(-1) if len(shape) == 1 else old
            if old.shape == shape:
                return old.copy()
        return np.zeros(shape)

    def _finish(self, state: DualState | PrimalState, history: History, n_features: int) -> None:
        history.close()
        self.history_, self.n_iter_ = history.entries, len(history.entries)
        W = state.W if state.W.ndim == 2 else state.W[:, None]
        W = W if self._kind == "candidates" else self._separate_shared(W)
        self._set_weights(W, n_features, self._constant)
        if self.solver_ == "boosting":
            self.__dict__.pop("duality_gap_", None)
            return
        self.duality_gap_ = state.relative_gap
        stalled = getattr(state, "stalled", False)
        if not state.converged and (self.n_iter_ >= self.max_iter or stalled):
            after = f"{self.n_iter_} iterations" if stalled else f"max_iter = {self.max_iter}"
            warnings.warn(
                f"{self.solver_} stopped after {after} with a relative duality gap of {state.relative_gap:.2g}, above "
                f"tol = {self.tol:g}. {self._remedy(stalled)}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _remedy(self, stalled: bool) -> str:
        if not stalled:
            return "Raise max_iter or tol, lower C, or scale X."
        if self.loss is None:
            return "It finds no better weights: raise tol, lower C, or scale X."
        return "It finds no better weights: check the flows of your own loss by finite differences, or raise tol."

    def _history(self) -> History:

        return History(self.callback, self.max_iter, self.verbose)


def _with_cut_weights(W: Array, *, constant: bool) -> Array:
    """(d, k + 1) weights, those of the cut first, of (d, k) weights relative to them.

    Flows sum to 0 over the labels of an instance, and so do the weights of a feature at the optimum, unless the cut is
    constant.
    """
    cut = np.zeros((len(W), 1)) if constant else -W.sum(axis=1, keepdims=True) / (W.shape[1] + 1)
    return np.hstack([cut, W + cut])
