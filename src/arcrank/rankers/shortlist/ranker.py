"""A label ranker for ten thousand to a million labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import arcrank.compiled.shortlist_rank  # noqa: F401 - numba is loaded anyway, so that kernels score every document
from arcrank._typing import Array, IntArray
from arcrank._validation import check_callable, check_int, check_real, check_seed
from arcrank.decompositions import CUT_DOMINATION, DOMINATION, Decomposition, get_decomposition
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.base import label_array
from arcrank.graphs.cut import CUT, insert_cut, mentions_cut, plain_labels
from arcrank.graphs.unseen import seen_on_top
from arcrank.metrics.ranking import as_indicator
from arcrank.rankers.base import LabelRanker, Sizes, check_sample_weight, rank_matrix
from arcrank.rankers.fingerprint import fingerprint
from arcrank.rankers.probabilities import refuse_few, suffices
from arcrank.rankers.shortlist.calibration import calibrate_on_cells, shortlist_cells
from arcrank.rankers.shortlist.explanation import ShortlistExplanation, numbers_of
from arcrank.rankers.shortlist.neighbours import Neighbours
from arcrank.rankers.shortlist.pattern import cut_weights, extended, initial_weights, joined_cut, kept_features, pruned
from arcrank.rankers.shortlist.scorer import ShortlistScorer, blocks
from arcrank.rankers.shortlist.warm import WarmState
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.history import History
from arcrank.solvers.shortlist import LOSSES, NO_OFFSETS, Ascent, listed_labels
from arcrank.solvers.shortlist_arrays import SparseWeights, csr_rows

__all__ = ["ShortlistRanker"]

_DEFAULTS = {"log-linear": (3.0, 8.0), "squared-hinge": (0.25, 1.0), "hinge": (0.25, 1.0)}
"""C and prior of each loss, for labels with few documents each: held-out training records of `load_subjects`."""
_LISTED = 64  # labels of a ranking among which `predict` looks for the end of a label set


class ShortlistRanker(LabelRanker):
    """Rank ten thousand to a million labels by sparse linear scores, and by votes of similar training documents.

    `min_W  1/2 ||W - W0||^2 + C sum_i sum_{pieces of D(G_i)} L(piece)`, over weights of a sparse pattern: a label has
    weights only for the features of its own documents. The prior W0 is `prior` times the label's unit centroid. For
    sparse X, such as tf-idf of texts; for dense X and for few labels use `LogLinearRanker` or `PreferenceMachine`.

    Parameters
    ----------
    loss : "log-linear", "squared-hinge" or "hinge"
        `log(1 + sum_arcs exp(-margin))`, `max(0, 1 - smallest margin)^2`, or without the square.
    decomposition : str or callable
        As in `LogLinearRanker`. With cut_label, the arcs from the cut to the labels below it are pieces of their own
        under "domination"; the cut has weights of its own. A callable needs every arc written out.
    C : float or None
        Weight of the data term; None is 3 for "log-linear" and 0.25 for the others.
    prior : float or None
        The length of the prior weights of each label; None is 8 for "log-linear" and 1 for the others.
    pattern : "documents" or "full"
        Which weights there are: of each label those of the features of its documents, or all. "full" needs memory for
        features x labels.
    working_set : int or None
        The labels of the rest, those with the highest scores, that a visit compares with the labels of a document,
        besides those that carry flow from earlier visits; None is all of them.
    max_df : float
        Features in a larger share of the documents have no weights where there are more than 1,000 labels: they say
        little and are in the pattern of most labels.
    fit_intercept : float
        The value of a constant feature, regularised like the others; 0 or False for none.
    neighbours : int
        How many of the most similar training documents vote for their labels, 0 for none.
    neighbours_weight : float
        A vote counts this times the squared similarity. In training, votes are a fixed part of the scores, without the
        vote of a document for itself, so that the weights learn what the votes lack.
    prune : float
        Weights that differ by less from 0 are dropped after training, and the others are rounded to float16; 0 keeps
        all of them in float32.
    tol : float
        The estimated relative duality gap at which training stops.
    max_iter : int
        Passes over the documents. Two suffice for rankings.
    cut_label, cut_level
        As in `LogLinearRanker`: learn where rankings end, so that `predict` returns the labels that score above 0.
    set_measure : str or None
        With cut_label, what `calibrate` chooses the end of label sets by: "micro_f1", "subset_accuracy" or
        "precision>=0.9"; an offset that all labels share.
    warm_start : bool
        Start from the last solution if the documents and their labels, `loss`, `decomposition`, `pattern`, `max_df` and
        `fit_intercept` are the same; after a change of C the dual variables are scaled.
    callback : callable, optional
        Called with each entry of the history; True stops.
    random_state : int, RandomState or None
        Of the order in which documents are visited.
    n_jobs : int
        Threads; the result does not depend on it.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    labels_ : (k,) array
        The columns of a matrix, else sorted.
    weights_ : SparseWeights
        ptr, label and weight: the weights of feature j are ptr[j]:ptr[j + 1].
    intercept_ : (k,) array
        The weights of the constant feature, times its value.
    cut_weights_ : (d,) array
        With cut_label: the weights of the cut, which are subtracted from those of every label.
    neighbours_ : Neighbours
        The training documents as inverted lists.
    history_ : list of {iteration, loss, gap, seconds}
        The loss is C times the sum above, over shortlists and at the weights met on the way through a pass, and so is
        the gap: an estimate that leaves out what labels outside the shortlists add.
    duality_gap_ : float
        The last gap of the history.
    n_iter_ : int
        Passes made.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> ranker = ShortlistRanker(random_state=0).fit(X, [["tea"], ["milk"], ["tea", "milk"]])
    >>> ranker.rank(X[:2], top=1).tolist()
    [['tea'], ['milk']]
    """

    weights_: SparseWeights
    cut_weights_: NDArray[np.float32]
    neighbours_: Neighbours

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        loss: str = "log-linear",
        decomposition: Any = "domination",
        C: float | None = None,
        prior: float | None = None,
        *,
        pattern: str = "documents",
        working_set: int | None = 16,
        max_df: float = 1 / 9,
        fit_intercept: float = 0.3,
        neighbours: int = 30,
        neighbours_weight: float = 12.0,
        prune: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 2,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        warm_start: bool = False,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.decomposition = decomposition
        self.C = C
        self.prior = prior
        self.pattern = pattern
        self.working_set = working_set
        self.max_df = max_df
        self.fit_intercept = fit_intercept
        self.neighbours = neighbours
        self.neighbours_weight = neighbours_weight
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        if self.loss not in LOSSES:
            raise ParameterError(f"loss must be one of {', '.join(map(repr, LOSSES))}; got {self.loss!r}.")
        if self.pattern not in ("documents", "full"):
            raise ParameterError(f"pattern must be 'documents' or 'full'; got {self.pattern!r}.")
        for name, value in (("C", self.C), ("tol", self.tol), ("max_df", self.max_df)):
            if value is not None or name != "C":
                check_real(name, value, above=0)
        for name in ("prior", "fit_intercept", "neighbours_weight", "prune"):
            value = getattr(self, name)
            if not (name == "prior" and value is None):
                check_real(name, float(value) if isinstance(value, bool) else value, at_least=0)
        if self.working_set is not None:
            check_int("working_set", self.working_set, at_least=1, also="None")
        for name, least in (("max_iter", 1), ("n_jobs", 1), ("neighbours", 0)):
            check_int(name, getattr(self, name), at_least=least)
        check_callable("callback", self.callback)
        check_seed("random_state", self.random_state)
        self._check_cut_parameters()
        if self.set_measure == "macro_f1":
            raise ParameterError(
                "set_measure must be one that needs a single offset for all labels, such as 'micro_f1'; got 'macro_f1'."
            )
        self._cut()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from documents X, sparse (n, d), and preferences y, anything `as_graphs` takes."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        above, judged = listed_labels(graphs)
        self._learn_neighbours(X, above)
        votes = self._votes_in_training(X, own=True)
        kept = kept_features(X, self.max_df, graphs.n_labels)
        full = self.pattern == "full"
        weights = initial_weights(kept, above, judged, self._setting(1), full=full)
        bias = np.zeros(graphs.n_labels, np.float32)
        if not self.warm_start:
            self._ascend(kept, graphs, weight, weights, bias, votes)
            return self
        problem = self._problem(kept, graphs, weight)
        prior = weights.weight.copy()
        flows = self._last_flows(problem, weights, bias)
        store = self._ascend(kept, graphs, weight, weights, bias, votes, flows)
        self._warm = WarmState(problem, self._setting(0), store, weights.weight - prior, bias)
        return self

    def _problem(self, X: Any, graphs: PreferenceGraphs, weight: Array) -> tuple[Any, ...]:
        """What dual variables belong to."""
        return fingerprint(X, graphs, weight), self.loss, self._pieces(), self.pattern, float(self.fit_intercept)

    def _last_flows(self, problem: tuple[Any, ...], weights: SparseWeights, bias: Any) -> FlowStore | None:
        last: WarmState | None = getattr(self, "_warm", None)
        return last.resume(self._setting(0), weights, bias) if last is not None and last.problem == problem else None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further documents, which may have new labels; the documents learnt before are not visited again.

        New labels follow the others in `labels_` and start from the centroids of their documents. All documents vote as
        neighbours. Columns of an indicator are those of the first `fit`. A calibration is lost.
        """
        if not hasattr(self, "labels_"):
            return self.fit(X, y, sample_weight)
        self.check_parameters()
        X = self._check_features(X, reset=False)
        graphs = self._extended_graphs(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        votes = self._votes_in_training(X, own=False)
        above, judged = listed_labels(graphs)
        kept = kept_features(X, self.max_df, graphs.n_labels)
        old = joined_cut(self.weights_, self.cut_weights_) if self.cut_label else self.weights_
        fresh = initial_weights(kept, above, judged, self._setting(1), full=self.pattern == "full")
        bias = np.zeros(graphs.n_labels, np.float32)
        bias[int(self.cut_label) : int(self.cut_label) + len(self.intercept_)] = self.intercept_
        if self.neighbours:
            members = above[:, 1:] if self.cut_label else above
            self.neighbours_ = self.neighbours_.extended(Neighbours.of(X, members))
        seen = len(self.intercept_) + int(self.cut_label)
        self._ascend(kept, graphs, weight, extended(old, fresh, seen, graphs.n_labels), bias, votes)
        return self

    def _extended_graphs(self, y: Any, n: int) -> PreferenceGraphs:
        """Graphs over the labels learnt, then those that are new, with the cut first if there is one."""
        self._drop_calibration()
        given = (
            y if isinstance(y, PreferenceGraphs) else as_graphs(y, kind=None if self._kind == "graphs" else self._kind)
        )
        if len(given) != n:
            raise InputError(f"X has {n} documents and y has {len(given)}; give one preference graph for each.")
        known = set(self.labels_.tolist())
        new = [name for name in plain_labels(given).tolist() if name not in known]
        labels = label_array([*self.labels_.tolist(), *new])
        graphs = align_labels(given, label_array([*labels.tolist(), CUT]) if mentions_cut(given) else labels)
        graphs = self._with_cut(graphs, self._kind)
        self.labels_ = labels
        if hasattr(self, "_top_seen"):  # a model file does not hold it
            self._top_seen = seen_on_top(graphs)[-len(labels) :] | np.pad(self._top_seen, (0, len(new)))
        return graphs

    def _setting(self, number: int) -> float:
        """C or the prior, with the default of the loss."""
        given = (self.C, self.prior)[number]
        return float(_DEFAULTS[self.loss][number] if given is None else given)

    def _learn_neighbours(self, X: Any, above: Any) -> None:
        """Keep the documents with the labels that are above others; the cut is not a label."""
        members = above[:, 1:] if self.cut_label else above
        self.neighbours_ = Neighbours.of(X, members) if self.neighbours else Neighbours.nothing(X.shape[1])

    def _ascend(
        self,
        X: Any,
        graphs: PreferenceGraphs,
        weight: Array,
        weights: SparseWeights,
        bias: Any,
        votes: Any,
        flows: FlowStore | None = None,
    ) -> FlowStore:
        cost = self._setting(0) * weight
        room = graphs.n_labels if self.working_set is None else int(self.working_set)
        constant = float(self.fit_intercept)
        jobs = int(self.n_jobs)
        ascent = Ascent(
            X, graphs, self._pieces(), self.loss, cost, weights, bias, room, constant**2, votes, jobs, flows
        )
        history = History(self.callback, self.max_iter, self.verbose)
        random = check_random_state(self.random_state)
        try:
            ascent.solve(tol=self.tol, max_iter=self.max_iter, random=random, history=history)
        finally:
            history.close()
            self.history_, self.n_iter_, self.duality_gap_ = history.entries, len(history.entries), ascent.gap
            self._keep(weights, bias)
        return ascent.store

    def _votes_in_training(self, X: Any, *, own: bool) -> Any:
        """The votes for documents, without those for themselves if they are the neighbours too."""
        if not self.neighbours:
            return NO_OFFSETS
        found = self.neighbours_.find(csr_rows(X), int(self.neighbours), int(self.n_jobs), own=0 if own else -1)
        return self.neighbours_.votes(found, float(self.neighbours_weight), len(self.labels_), int(self.cut_label))

    def _keep(self, weights: SparseWeights, bias: NDArray[np.float32]) -> None:
        """Keep the weights as they are used: pruned, rounded, and without those of the cut."""
        self.cut_weights_ = np.zeros(0, np.float32)
        intercept = bias.astype(np.float64)
        if self.cut_label:
            weights, self.cut_weights_ = cut_weights(weights)
            intercept = intercept[1:] - intercept[0]
        self.weights_, self.intercept_ = pruned(weights, float(self.prune)), intercept

    def _cut(self) -> Decomposition:
        return get_decomposition(self.decomposition)

    def _pieces(self) -> Decomposition:
        return CUT_DOMINATION if self.cut_label and self._cut() is DOMINATION else self._cut()

    def _bytes_needed(self, sizes: Sizes) -> int:
        """Some scores for each label and thread; "full" has all weights."""
        weights = 12 * sizes.features * sizes.labels if self.pattern == "full" else 0
        return weights + 64 * sizes.labels * int(self.n_jobs)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if not sp.issparse(X) and not hasattr(X, "sparse"):
            raise InputError(
                f"ShortlistRanker needs a sparse X, such as tf-idf of texts; got {type(X).__name__}. With dense "
                "features every label has a weight for every feature: use LogLinearRanker, PreferenceMachine or "
                "MMPRanker. If most entries are 0, pass scipy.sparse.csr_matrix(X)."
            )
        return super()._check_features(X, reset=reset)

    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Label names in order, best first: (n, k), or (n, top). Equal scores keep the order of `labels_`."""
        return self.labels_[self.rank_numbers(X, top)[0]]

    def rank_numbers(self, X: Any, top: int | None = None) -> tuple[IntArray, Array]:
        """Label numbers in order, best first, and their scores: two (n, top) arrays; all labels without `top`.

        The numbers are what the metrics of `arcrank.metrics.top_k` take.
        """
        if top is not None:
            check_int("top", top, at_least=1, also="None")
        X = self._check_features(X, reset=False)
        return self._scorer().best(X, len(self.labels_) if top is None else min(int(top), len(self.labels_)))

    def score_labels(self, X: Any, labels: Any = None) -> Array:
        """Scores of all labels, (n, k), or of given ones only: the higher, the better the label fits.

        With very many labels ask for a block of documents at a time, or for `rank(X, top)`.
        """
        X = self._check_features(X, reset=False)
        return self._scorer().scores(X, np.arange(len(self.labels_)) if labels is None else self._columns(labels))

    def label_ranks(self, X: Any, Y: Any) -> tuple[IntArray, Array]:
        """The ranks of given labels of each document, and their scores, without the scores of all.

        The rank of a label is the number of labels that score no less.

        Parameters
        ----------
        X : (n, d) sparse matrix
            The documents.
        Y : (n, k) sparse indicator
            Which labels; its columns are those of `labels_`. Ranks and scores are in the order of its CSR cells.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> X = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> ranker = ShortlistRanker(random_state=0).fit(X, [["tea"], ["milk"], ["tea", "milk"]])
        >>> ranker.label_ranks(X[:2], sp.csr_matrix([[1, 1], [0, 1]]))[0].tolist()  # milk and tea, then tea
        [2, 1, 2]
        """
        X, listed = self._check_features(X, reset=False), as_indicator(Y)
        if listed.shape != (X.shape[0], len(self.labels_)):
            raise InputError(f"Y has shape {listed.shape}; give a row for each document and a column for each label.")
        return self._scorer().ranks(X, listed.indptr, listed.indices)

    def _scorer(self) -> ShortlistScorer:
        votes = self.neighbours_, int(self.neighbours), float(self.neighbours_weight)
        return ShortlistScorer(self.weights_, self.intercept_, self.cut_weights_, *votes)

    def predict(self, X: Any) -> Any:
        """The kind of supervision that was given to `fit`, as the other rankers do; see `LabelRanker.predict`.

        Label sets are looked for among the first 64 labels of each ranking. Indicators are sparse.
        """
        if self._kind == "single":
            return self.labels_[self.rank_numbers(X, 1)[0][:, 0]]
        if self._kind not in ("indicator", "sets"):
            X = self._check_features(X, reset=False)
            return np.vstack([rank_matrix(self.score_labels(X[block])) for block in blocks(X.shape[0])])
        numbers, scores = self.rank_numbers(X, _LISTED)
        sizes = (scores > 0.0).sum(axis=1) if self.cut_label else self._cut_sizes(scores)
        if self._kind == "sets":
            return [self.labels_[row[:size]].tolist() for row, size in zip(numbers, sizes, strict=True)]
        inside = np.arange(numbers.shape[1]) < sizes[:, None]
        cells = np.ones(int(inside.sum()), np.int64), (np.nonzero(inside)[0], numbers[inside])
        return sp.csr_matrix(cells, shape=(len(numbers), len(self.labels_)))

    def calibrate(self, X: Any, y: Any) -> Self:
        """Choose the end of label sets and fit the probabilities, on documents that were not in the training data.

        Both are fitted on the 256 first labels of each ranking and on the relevant ones. y are label sets, or layers
        with `cut_level` or CUT.
        """
        X, given = self._check_features(X, reset=False), self._graphs_as_given(y)
        if len(given) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} documents and y has {len(given)}; give one label set for each.")
        graphs = insert_cut(given, self.cut_level, as_sets=self._kind != "layers")
        if not isinstance(graphs, LayeredGraphs):
            raise InputError(f"ShortlistRanker is calibrated on label sets or layers, got {given!r}.")
        cells = shortlist_cells(self, X, graphs)
        if not suffices(cells.judged, cells.relevant):
            refuse_few(X.shape[0])
        cells = cells._replace(scores=cells.scores + self._offsets()[0])
        single = self._kind == "single"
        measure = self.set_measure if self.cut_label and not single else None
        calibration = calibrate_on_cells(cells, len(self.labels_), measure, single=single)
        self._move_offsets(calibration.offsets)
        self.calibration_ = calibration
        return self

    def score(self, X: Any, y: Any) -> float:
        """One minus the error that belongs to the decomposition, a block of documents at a time."""
        from arcrank.metrics import generalized_error

        X, graphs = self._check_features(X, reset=False), self._graphs_of(y)
        total = 0.0
        for block in blocks(X.shape[0]):
            part = graphs[block]
            total += len(part) * generalized_error(part, self.score_labels(X[block]), self.decomposition)
        return 1.0 - total / X.shape[0]

    def explain(self, x: Any, above: Any, below: Any) -> ShortlistExplanation:
        """Why label `above` scores higher (or lower) than `below` for one document.

        The parts are those of its features and of the similar training documents that have one of the labels.

        Parameters
        ----------
        x : (1, d) sparse matrix
            One document.
        above, below : labels
            Two labels of `labels_`, or `arcrank.CUT` for one of them.
        """
        row = self._check_features(x, reset=False)
        if row.shape[0] != 1:
            raise InputError(f"explain takes one document, got {row.shape[0]}; pass X[[i]].")
        numbers = numbers_of(self.labels_.tolist(), (above, below), cut_label=bool(self.cut_label))
        names = getattr(self, "feature_names_in_", None)
        words = row.indices if names is None else names[row.indices]
        return ShortlistExplanation.of_row(self._scorer(), row, (above, below), (numbers[0], numbers[1]), words)

    def _columns(self, labels: Any) -> IntArray:
        numbers = {name: j for j, name in enumerate(self.labels_.tolist())}
        unknown = [name for name in labels if name not in numbers]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} is not one of the {len(self.labels_)} labels of this ranker; see labels_."
            )
        return np.array([numbers[name] for name in labels], dtype=np.int64)
