"""Label ranking by boosted regression trees on the flows of preference graphs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank._validation import check_callable, check_int, check_real, check_seed
from arcrank.decompositions import get_decomposition
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, PreferenceGraphs
from arcrank.graphs.cut import CUT
from arcrank.losses.mean_curvature import MeanCurvature
from arcrank.rankers.arc_weights import check_arc_weights
from arcrank.rankers.base import LabelRanker, Sizes, check_sample_weight
from arcrank.rankers.linear import Explanation, relative_to_cut
from arcrank.solvers.forest import Forest
from arcrank.solvers.history import History

__all__ = ["TreeRanker"]

_MOST_LEAVES = 131_072  # LightGBM's limit
_SCORES = 9  # scores, start, outflow, inflow, gradient, curvature, and LightGBM's own scores, gradients and curvatures
_LONGEST_STEP = 20.0  # where all margins in a leaf are wrong by far, curvatures vanish
_SMALLEST_CURVATURE = 1e-3  # in a leaf: where margins are large there is nothing left to learn


class TreeRanker(LabelRanker):
    """Rank labels by sums of regression trees that minimise the log-linear loss of preference graphs.

    `sum_i 1/s_i sum_{pieces of D(G_i)} log(1 + sum_arcs w exp(-margin))` is reduced by gradient boosting: each round
    fits a tree to the flows of the labels, inflow - outflow, and their curvature. For data with up to some hundred
    features, which need no scaling, and up to some dozen labels. NaN is a missing value.

    Parameters
    ----------
    decomposition : str or callable
        "domination", "zero-one" ("identity"), "disagreement", "dominated", or a callable
        `(heads, tails, row) -> pieces`.
    n_rounds : int
        Rounds of a run.
    learning_rate : float
        Factor of each tree, more than 0 and at most 1.
    n_runs : int
        Runs with different random numbers whose mean is the model.
    shared_trees : bool
        Grow one tree in each round, whose leaves have a step for each label (by scikit-learn), or a tree for each label
        (by LightGBM, the optional extra `trees`). A trained model ranks without LightGBM.
    max_leaf_nodes : int
        The most leaves of a tree.
    min_samples_leaf : int
        The fewest training instances of a leaf.
    l2_regularization : float
        Added to the sum of curvatures by which a leaf's step is divided.
    random_thresholds : bool
        Draw one threshold at random for each feature of a split (extremely randomised trees), and not search for the
        best one. Runs then differ, and on small data their mean is more accurate.
    max_features : float
        Share of the features that are drawn for each split.
    subsample : float
        Share of the instances that are drawn for each round.
    steps : "newton" or "gradient"
        What a leaf adds to the scores. "newton" is the step that reduces the loss most. "gradient" is a multiple of the
        mean gradient of the instances there, starting from scores of 0: with `arc_weights="count"` instances of small
        weights then have little influence even where they are alone in a leaf. One round of large trees with
        `learning_rate=1` is a forest that ranks labels by their mean differences in `from_scores(margin="difference")`.
        For shared trees.
    normalize : bool
        Divide an instance's pieces by their number s_i, or count every piece fully.
    arc_weights : "margin" or "count"
        What the weights of arcs mean, as in `LogLinearRanker`: "count" multiplies the loss of a piece.
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
        for neither.
    callback : callable, optional
        Called with each entry of the history; True stops.
    random_state : int, RandomState or None
        Of thresholds, features and instances that are drawn; None (the default) draws others each time.
    n_jobs : int
        Threads of the loss and of LightGBM.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    forest_ : Forest
        The trees as arrays.
    intercept_ : (k,) array
        Scores before the first round, those of the best constant ranking (0 for gradient steps), less the offsets of a
        calibration.
    labels_ : (k,) array
        The columns of a matrix, else sorted.
    history_ : list of {iteration, loss, run, seconds}
        The loss is that before the round.
    calibration_ : Calibration
        With cut_label: what `predict_proba` is computed by, and how it was fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import TreeRanker
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> y = np.where(np.abs(X[:, 0]) < 0.5, "inside", "outside")  # not linear in X
    >>> ranker = TreeRanker(random_state=0).fit(X, y)
    >>> ranker.rank([[0.1], [-0.9], [0.8]])[:, 0].tolist()
    ['inside', 'outside', 'outside']
    """

    forest_: Forest
    intercept_: Array
    _takes_missing = True

    def __init__(
        self,
        decomposition: Any = "domination",
        n_rounds: int = 200,
        *,
        learning_rate: float = 0.1,
        n_runs: int = 4,
        shared_trees: bool = True,
        max_leaf_nodes: int = 15,
        min_samples_leaf: int = 5,
        l2_regularization: float = 0.0,
        random_thresholds: bool = True,
        max_features: float = 1.0,
        subsample: float = 1.0,
        steps: str = "newton",
        normalize: bool = True,
        arc_weights: str = "margin",
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
    ) -> None:
        self.decomposition = decomposition
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.n_runs = n_runs
        self.shared_trees = shared_trees
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.random_thresholds = random_thresholds
        self.max_features = max_features
        self.subsample = subsample
        self.steps = steps
        self.normalize = normalize
        self.arc_weights = arc_weights
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        for name in ("n_rounds", "n_runs", "min_samples_leaf", "n_jobs"):
            check_int(name, getattr(self, name), at_least=1)
        check_int("max_leaf_nodes", self.max_leaf_nodes, at_least=2, at_most=_MOST_LEAVES)
        for name in ("learning_rate", "max_features", "subsample"):
            check_real(name, getattr(self, name), above=0, at_most=1)
        check_real("l2_regularization", self.l2_regularization, at_least=0)
        for name in ("shared_trees", "random_thresholds"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        if self.steps not in ("newton", "gradient"):
            raise ParameterError(f"steps must be 'newton' or 'gradient', got {self.steps!r}.")
        if self.steps == "gradient" and not self.shared_trees:
            raise ParameterError("steps='gradient' is for shared_trees=True; give only one of them another value.")
        check_arc_weights(self.arc_weights)
        check_callable("callback", self.callback)
        check_seed("random_state", self.random_state)
        self._check_cut_parameters()
        get_decomposition(self.decomposition)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from instances X, (n, d), and preferences y, anything `as_graphs` takes."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        self._boost(X, graphs, weight)
        self._calibrate_by_folds(X, graphs, None if sample_weight is None else weight)
        return self

    def _boost(self, X: Any, graphs: PreferenceGraphs, weight: Array) -> None:
        loss = self._loss(graphs, weight)
        start = np.zeros(loss.shape[1])
        if self.steps == "gradient":
            loss = MeanCurvature(loss, weight)
        else:
            start = _best_constants(loss)
        boosting = self._grower(X, loss, start)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_runs).tolist()
        history = History(self.callback, self.n_runs * self.n_rounds, self.verbose)
        try:
            for seed in seeds:
                if boosting.run(self.n_rounds, seed, history):
                    break
        finally:  # after Ctrl-C, the trees grown so far rank
            history.close()
            if history.entries:
                self.history_, self.forest_ = history.entries, boosting.forest()
                self.intercept_ = relative_to_cut(start[None, :])[0] if self.cut_label else start

    def _loss(self, graphs: PreferenceGraphs, weight: Array) -> Any:
        from arcrank.losses import LogLinearLoss
        from arcrank.losses.counted import CountedLoss

        decomposition = get_decomposition(self.decomposition)
        if self.arc_weights == "count" and isinstance(graphs, ArcGraphs):
            return CountedLoss(graphs, decomposition, weight, n_jobs=self.n_jobs)
        return LogLinearLoss(graphs, decomposition, weight, normalize=self.normalize, n_jobs=self.n_jobs)

    def _grower(self, X: Any, loss: Any, start: Array) -> Any:
        """What grows the trees, with the parameters in its words."""
        if self.shared_trees:
            from arcrank.solvers.shared_trees import SharedTrees

            settings = {
                "max_leaf_nodes": int(self.max_leaf_nodes),
                "min_samples_leaf": int(self.min_samples_leaf),
                "splitter": "random" if self.random_thresholds else "best",
                "max_features": float(self.max_features),
            }
            steps = {
                "learning_rate": self.learning_rate,
                "l2": self.l2_regularization,
                "longest_step": _LONGEST_STEP if self.steps == "newton" else np.inf,
                "subsample": self.subsample,
            }
            return SharedTrees(X, loss, start, **steps, settings=settings)
        from arcrank.solvers.lightgbm_trees import LightGBMTrees

        settings = {
            "learning_rate": self.learning_rate,
            "num_leaves": int(self.max_leaf_nodes),
            "min_data_in_leaf": int(self.min_samples_leaf),
            "min_sum_hessian_in_leaf": _SMALLEST_CURVATURE,
            "lambda_l2": self.l2_regularization,
            "extra_trees": bool(self.random_thresholds),
            "feature_fraction_bynode": self.max_features,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1.0),
            "num_threads": int(self.n_jobs),
        }
        return LightGBMTrees(X, loss, start, settings)

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        X = self._check_features(X, reset=False)
        scores = self.forest_.scores(X, self._n_columns)
        return (relative_to_cut(scores) if self.cut_label else scores) + self.intercept_

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Why label `above` scores higher (or lower) than `below` for one instance: each feature's part of the margin.

        At each split on the way to a leaf the mean score of the training instances there changes; the change counts
        for the feature of the split. The parts and the intercept, the margin of the mean, sum to the margin.

        Parameters
        ----------
        x : (1, d) or (d,) array
            One instance.
        above, below : labels
            Two labels of `labels_`, or `arcrank.CUT` for one of them: why a label is in or out.
        """
        used, parts, constants = self.forest_.parts(self._one_row(x), self._n_columns)
        (high, high_constant), (low, low_constant) = (self._column_and_constant(name) for name in (above, below))
        values = parts[:, high] - parts[:, low]
        constant = constants[high] - constants[low] + high_constant - low_constant
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[used]
        kept = np.flatnonzero(values)
        return Explanation.of(above, below, names[kept], values[kept], float(constant))

    @property
    def _n_columns(self) -> int:
        return len(self.labels_) + bool(self.cut_label)

    def _column_and_constant(self, label: Any) -> tuple[int, float]:
        """The label's column of the trees, of which the cut has the first, and its intercept."""
        if label is CUT:
            if not self.cut_label:
                raise InputError("This TreeRanker has not learnt a cut; fit it with cut_label=True.")
            return 0, 0.0
        at = self._column(label)
        return at + bool(self.cut_label), float(self.intercept_[at])

    def _bytes_needed(self, sizes: Sizes) -> int:
        """Scores and what is computed from them; trees are small, and their copy of X is smaller than X."""
        return 8 * _SCORES * sizes.instances * sizes.labels


def _best_constants(loss: Any) -> Array:
    """The scores, the same for all instances, with the least `loss + 1/2 ||scores||^2`, which sum to 0."""
    from arcrank.solvers.design import LabelDesign
    from arcrank.solvers.flow_sums import FlowProblem
    from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs

    n, k = loss.shape
    state = PrimalState(np.zeros((1, k)))
    design: Any = LabelDesign(np.ones((n, 1)), k, 1)
    solve_lbfgs(FlowProblem(design, loss), state, tol=1e-6, max_iter=100, history=History())
    return state.W[0]
