"""What the online rankers share: blocks in, a state that can be copied, and the losses on the way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank._validation import check_int, check_seed
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.base import label_array
from arcrank.graphs.margins import smallest_margins
from arcrank.rankers.base import Sizes, warn_without_arcs
from arcrank.rankers.candidate_ranker import CANDIDATES, CandidateRanker
from arcrank.rankers.candidates import CandidateSets, refuse_candidates
from arcrank.rankers.linear import relative_to_cut
from arcrank.rankers.online.supervision import first_graphs, next_graphs
from arcrank.solvers.history import History
from arcrank.solvers.online import N_SUMS, Progress, Prototypes, check_born, check_progress
from arcrank.solvers.products import row_products

__all__ = ["OnlineRanker"]


class OnlineRanker(CandidateRanker):
    """A linear ranker that sees one document after the other.

    Subclasses have the parameters epochs, average, shuffle, random_state and verbose, and make the steps.
    """

    epochs: int
    average: bool
    shuffle: bool
    random_state: Any
    verbose: int
    history_: list[dict[str, Any]]
    _progress: Progress
    _model: Any

    @abstractmethod
    def _learn(self, X: Any, graphs: PreferenceGraphs, rows: NDArray[np.int64]) -> None:
        """Make the steps of the rows of X, (n, d) or features of candidates, in the given order."""

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_int("epochs", self.epochs, at_least=1)
        if not isinstance(self.shuffle, bool | np.bool_):
            raise ParameterError(f"shuffle must be True or False, got {self.shuffle!r}.")
        check_seed("random_state", self.random_state)
        self._check_cut_parameters()

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch, in `epochs` passes over X, (n, d) or CandidateSets, in their order unless `shuffle`."""
        self.check_parameters()
        if isinstance(X, CandidateSets):
            X, graphs = self._first_candidates(X, y)
            warn_without_arcs(graphs)
        else:
            X = self._check_features(X, reset=True)
            graphs = self._learn_labels(y, X.shape[0])
            self._start(len(self.labels_))
        random = check_random_state(self.random_state)
        history = History(total=self.epochs, verbose=self.verbose)
        for _ in range(self.epochs):
            rows = random.permutation(len(graphs)) if self.shuffle else np.arange(len(graphs))
            self._learn(X, graphs, rows.astype(np.int64))
            history.add(**dict(zip(("loss1", "loss2", "loss3"), self._progress.mean_losses(), strict=True)))
        history.close()
        self.history_ = history.entries
        if self._kind != CANDIDATES:
            self._calibrate_by_folds(X, graphs)
        return self

    def _first_candidates(self, sets: CandidateSets, y: Any) -> tuple[Any, PreferenceGraphs]:
        """The features and graphs of the first candidates, with which learning starts."""
        features, graphs = self._next_candidates(sets, y)
        self._start(1)
        return features, graphs

    def _next_candidates(self, sets: CandidateSets, y: Any) -> tuple[Any, PreferenceGraphs]:
        longest = len(self.labels_) if hasattr(self, "_model") and self._kind == CANDIDATES else 0
        sets, graphs = self._learn_candidates(sets.stored(), y)
        self.labels_ = np.arange(max(longest, len(self.labels_)))
        return sets.features, graphs

    def partial_fit(self, X: Any, y: Any, labels: Any = None) -> Self:
        """Go on learning from the rows of X, (n, d), in the given order; `epochs` and `shuffle` are for `fit`.

        The first call fixes the kind of y and the number of features. Where y names its labels, a later call may name
        new ones: they start at zero, and what was learnt of the others stays as it is. Graphs are matched by the names
        of their labels, in whatever order.

        Parameters
        ----------
        X : (n, d) array, dense or sparse
            The instances.
        y : anything that `as_graphs` takes
            Their preferences, always of one kind.
        labels : sequence of names, optional
            On the first call the names in the wanted order, else they are sorted; on a later call the names that may be
            new. New names are appended, those of one call sorted unless given here.
        """
        self.check_parameters()
        first = not hasattr(self, "_model")
        if isinstance(X, CandidateSets):
            if not first:
                self._check_unchanged()
                self._check_candidates(X)
            features, graphs = (self._first_candidates if first else self._next_candidates)(X, y)
            self._learn(features, graphs, np.arange(len(graphs)))
            return self
        if not first and self._kind == CANDIDATES:
            raise InputError(f"This {type(self).__name__} learnt from CandidateSets; give CandidateSets too.")
        X = self._check_features(X, reset=first)
        if first:
            graphs, kind, names = first_graphs(y, labels)
        else:
            self._check_unchanged()
            kind = self._kind
            graphs, names = next_graphs(y, kind, self.labels_, labels, cut=self._cut_is_mentioned())
        graphs = self._with_cut(graphs, kind)
        if len(graphs) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(graphs)}; give one of each an instance.")
        if first or len(names) > len(self.intercept_):
            self._check_memory(Sizes(len(graphs), self.n_features_in_, graphs.n_labels))
        self._kind, self.labels_ = kind, names
        self.__dict__.pop("_top_seen", None)  # of an earlier fit; a stream meets its labels as it goes
        if first:
            self._start(len(names))
        elif len(names) > len(self.intercept_):
            self._grow(len(names))
        self._learn(X, graphs, np.arange(len(graphs)))
        return self

    def _start(self, k: int) -> None:
        self.__dict__.pop("hindsight_", None)
        self._progress = Progress()
        self._model = self._new_model(k + self._columns_before)
        self.intercept_ = np.zeros(k)

    @property
    def _columns_before(self) -> int:
        """Columns of the model before those of the labels: that of the cut, so that new labels go to the end."""
        return int(bool(self.cut_label) and self._learns_cut and self._kind != CANDIDATES)

    @property
    def _n_columns(self) -> int:
        """Columns of the model: labels and the cut, or the one that candidates share."""
        return 1 if self._kind == CANDIDATES else len(self.labels_) + self._columns_before

    def _cut_is_mentioned(self) -> bool:
        """Whether y itself says which labels are above the cut."""
        return bool(self._columns_before) and self.cut_level is None and self._kind in ("arcs", "layers")

    def _new_model(self, k: int) -> Any:
        return Prototypes.zeros(self.n_features_in_, k, self.average)

    def _bytes_needed(self, sizes: Sizes) -> int:
        return (2 if self.average else 1) * super()._bytes_needed(sizes)

    def _grow(self, k: int) -> None:
        """Make room for new labels, whose scores have the mean offset of the others."""
        self._model.grow(k + self._columns_before, self._progress.rounds)
        new = k - len(self.intercept_)
        if hasattr(self, "calibration_"):
            offsets = np.append(self._offsets(), np.full(new, self._offsets().mean()))
            self.calibration_ = replace(self.calibration_, offsets=offsets)
            self.intercept_ = -offsets
        else:
            self.intercept_ = np.zeros(k)

    def _move_offsets(self, offsets: Array) -> None:
        """The weights have no intercept, so it holds the offsets only, as after `set_state`."""
        self.intercept_ = -offsets

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """Prototypes, (k, d): those after the last round, or their mean over all rounds with `average`."""
        check_is_fitted(self)
        weights = self._model.mean(self.n_rounds_)
        return (relative_to_cut(weights) if self._columns_before else weights).T

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        if isinstance(X, CandidateSets) or getattr(self, "_kind", None) == CANDIDATES:
            return super().score_labels(X)
        scores = row_products(self._check_features(X, reset=False), self._model.mean(self.n_rounds_))
        return self._relative(scores)

    def _relative(self, scores: Array) -> Array:
        """Scores of the model's columns as scores of labels."""
        return (relative_to_cut(scores) if self._columns_before else scores) + self.intercept_

    def _fitted_progress(self) -> Progress:
        check_is_fitted(self)
        return self._progress

    @property
    def n_rounds_(self) -> int:
        """Documents with arcs that were learnt from, counting each epoch."""
        return self._fitted_progress().rounds

    @property
    def n_skipped_(self) -> int:
        """Documents without arcs (no topic, or all of them), which are not rounds; MMP cannot learn from them."""
        return self._fitted_progress().skipped

    @property
    def cumulative_losses_(self) -> Array:
        """Losses 1, 2 and 3, (m, 3): means over the rounds so far, each measured before its update (Figures 4 and 5).

        Row j is of round `loss_rounds_[j]`: every round up to 65,536 of them, beyond that every second, fourth, ...,
        and always the last.
        """
        return self._fitted_progress().losses()[1]

    @property
    def loss_rounds_(self) -> NDArray[np.int64]:
        """The round of each row of `cumulative_losses_`, (m,)."""
        return self._fitted_progress().losses()[0]

    def margins(self, X: Any, y: Any) -> Array:
        """Each document's margin (Figure 1), (n,): the smallest margin of its arcs, NaN where it has none.

        For label sets that is the lowest score of a relevant label less the highest of the others: positive where the
        ranking is perfect. y is of the kind given to fit, or graphs.
        """
        refuse_candidates(X, "margins")
        scores = self.score_labels(X)
        graphs = self._graphs_of(y)
        if graphs.shape != scores.shape:
            raise InputError(f"X has scores of shape {scores.shape} and y is {graphs!r}; give one graph per row of X.")
        return smallest_margins(graphs, scores)

    def get_state(self, *, copy: bool = True) -> dict[str, Any]:
        """All that is needed to score and to go on learning: "parameters" (JSON-able), "labels" (a list) and arrays.

        The arrays are copies unless copy=False, which gives those that learning goes on in. `set_state` and
        `from_state` take the state back; learning from there equals never having stopped, bit for bit.
        """
        check_is_fitted(self)
        parameters = {"kind": self._kind, "n_features": self.n_features_in_, **self._plain_parameters()}
        if hasattr(self, "feature_names_in_"):
            parameters["feature_names"] = self.feature_names_in_.tolist()
        model = {name: array.copy() if copy else array for name, array in self._model_arrays().items()}
        state = {"parameters": parameters, "labels": self.labels_.tolist(), **self._progress.arrays(), **model}
        return state | ({"calibration": self.calibration_} if hasattr(self, "calibration_") else {})

    def _plain_parameters(self) -> dict[str, Any]:
        """The estimator's parameters as JSON has them; only `fit` uses random_state, so an object of it can go."""
        parameters: dict[str, Any] = self.get_params()
        seed = parameters["random_state"]
        parameters["random_state"] = int(seed) if isinstance(seed, int | np.integer) else None
        return parameters

    def _model_arrays(self) -> dict[str, NDArray[Any]]:
        return {"weights": self._model.weights, "late": self._model.late, "born": self._model.born}

    def _restore_model(self, state: Mapping[str, Any], copy: bool) -> Any:
        shape = (self.n_features_in_, self._n_columns)
        model = Prototypes(_array(state, "weights", copy), _array(state, "late", copy), self._restore_born(state))
        if model.weights.shape != shape or model.late.shape != (shape if self.average else (0, 0)):
            raise InputError(
                f"The state has weights of shape {model.weights.shape} and sums of shape {model.late.shape} for "
                f"{shape[0]} features and {shape[1]} labels; it is damaged, or of another ranker."
            )
        return model

    def _restore_born(self, state: Mapping[str, Any]) -> NDArray[np.int64]:
        """The rounds before each label; states of earlier versions do not have them, and count from the first round."""
        k = self._n_columns
        born = np.zeros(k, dtype=np.int64) if state.get("born") is None else np.array(state["born"], dtype=np.int64)
        check_born(born, k, self._progress.rounds)
        return born

    def set_state(self, state: Mapping[str, Any], *, copy: bool = True) -> Self:
        """Become the ranker that `get_state` described, parameters included; copy=False goes on in its arrays."""
        parameters = dict(state["parameters"])
        self._kind, self.n_features_in_ = parameters.pop("kind"), parameters.pop("n_features")
        names = parameters.pop("feature_names", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.set_params(**parameters)
        self.labels_ = label_array(state["labels"])
        sums = _array(state, "sums")
        if sums.shape == (N_SUMS - 1,):  # a state of an earlier version
            sums = np.append(sums, 0.0)
        progress = np.array(state["counters"], dtype=np.int64), sums, _array(state, "curve")
        check_progress(*progress)
        self._progress = Progress(*progress)
        self._model = self._restore_model(state, copy)
        self.intercept_ = np.zeros(1 if self._kind == CANDIDATES else len(self.labels_))
        self.__dict__.pop("calibration_", None)
        if state.get("calibration") is not None:
            self.calibration_ = state["calibration"]
            self.intercept_ = -self.calibration_.offsets
        return self

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, copy: bool = True) -> Self:
        """The ranker that `get_state` described."""
        return cls().set_state(state, copy=copy)

    def _check_unchanged(self) -> None:
        self._check_average()
        if self._model.n_columns != self._n_columns:
            raise ParameterError("cut_label was fixed by the first call; call fit to start again, or use a new ranker.")

    def _check_average(self) -> None:
        if bool(self.average) != bool(len(self._model.late)):
            raise ParameterError("average was fixed by the first call; call fit to start again, or use a new ranker.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")


def _array(state: Mapping[str, Any], name: str, copy: bool = True) -> Array:
    """In C order, and a copy unless that is not wanted: an array of a file's may be read-only."""
    return (np.array if copy else np.asarray)(state[name], dtype=np.float64, order="C")
