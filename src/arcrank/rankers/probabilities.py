"""Probabilities of a ranker's labels, and the offsets that make label sets of its scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

import numpy as np

from arcrank._typing import Array, Mask
from arcrank._validation import check_int
from arcrank.errors import InputError, NotCalibratedError, ParameterError
from arcrank.graphs.cut import insert_cut
from arcrank.rankers.set_offsets import check_set_measure, choose_offsets

if TYPE_CHECKING:
    from arcrank.graphs import PreferenceGraphs
    from arcrank.rankers.calibration import Calibration
    from arcrank.rankers.label_correlations import LabelCorrelations

__all__ = ["Probabilities", "refuse_few", "suffices"]

_FEWEST = 4  # documents with and without some label that a calibration needs


Method = TypeVar("Method", bound=Callable[..., Any])


class _IfCalibrated:
    """A method that exists only on calibrated rankers, as scikit-learn's tools ask by hasattr."""

    def __init__(self, method: Callable[..., Any]) -> None:
        update_wrapper(self, method)  # type: ignore[arg-type]
        self._method = method

    def __get__(self, ranker: Any, owner: Any = None) -> Any:
        if ranker is None:
            return self._method
        if not hasattr(ranker, "calibration_"):
            raise NotCalibratedError(
                f"This {type(ranker).__name__} has no probabilities. Fit it on label sets or single labels with "
                "cut_label=True and calibration_folds of at least 2, or call calibrate(X, y) with documents that were "
                "not in the training data."
            )
        return self._method.__get__(ranker, owner)


def if_calibrated(method: Method) -> Method:
    """A decorator of a method that only calibrated rankers have."""
    return _IfCalibrated(method)  # type: ignore[return-value]


class OfFolds(NamedTuple):
    """What out-of-fold scores of the training data say about a ranker; None where too little or nothing is wanted."""

    calibration: Calibration | None
    correlations: LabelCorrelations | None


class Probabilities:
    """What label rankers share that learn a cut or are calibrated.

    The parameters cut_label, cut_level, set_measure, calibration_folds and label_correlations are those of the rankers
    that have them.
    """

    cut_label: bool = False
    cut_level: int | None = None
    set_measure: str | None = None
    calibration_folds: int = 0
    label_correlations: bool = False
    labels_: Any
    coef_: Array
    intercept_: Array
    calibration_: Calibration
    _kind: str
    _learns_cut: bool = True
    """Whether the cut has weights of its own; the scores of binary learners are relative to 0 without them."""

    @if_calibrated
    def predict_proba(self, X: Any) -> Array:
        """The probability that each label is relevant, (n, k); after single labels each row sums to 1.

        Within a row the order is that of the scores. The method exists after `fit` with cut_label=True on label sets or
        single labels, and after `calibrate`.
        """
        scores = self.score_labels(X)  # type: ignore[attr-defined]
        return self.calibration_.probabilities(scores)

    @if_calibrated
    def predict_log_odds(self, X: Any) -> Array:
        """log(p / (1 - p)) of `predict_proba`, (n, k), whose order is that of the scores even where p rounds to 1."""
        scores = self.score_labels(X)  # type: ignore[attr-defined]
        return self.calibration_.log_odds(scores)

    @if_calibrated
    def predict_above_proba(self, X: Any, above: Any, below: Any) -> Array:
        """The probability, (n,), that label `above` ranks above label `below`, given that one is above the other."""
        scores = self.score_labels(X)  # type: ignore[attr-defined]
        a, b = (self._column(label) for label in (above, below))  # type: ignore[attr-defined]
        return self.calibration_.probability_above(scores[:, a] - scores[:, b])

    def calibrate(self, X: Any, y: Any) -> Self:
        """Choose the offsets and fit the probabilities on instances that were not in the training data.

        Parameters
        ----------
        X : (n, d) array, dense or sparse
            New instances.
        y : anything that `as_graphs` takes
            Their labels, of the kind given to `fit`, or graphs.
        """
        scores = self.score_labels(X)  # type: ignore[attr-defined]
        graphs = self._graphs_as_given(y)  # type: ignore[attr-defined]
        if len(graphs) != len(scores):
            raise InputError(f"X has {len(scores)} instances and y has {len(graphs)}; give one of each an instance.")
        graphs = insert_cut(graphs, self.cut_level, as_sets=self._kind != "layers")
        calibration = self._calibration_on(scores + self._offsets(), graphs, folds=0)
        if calibration is None:
            refuse_few(len(scores))
        self._keep_calibration(calibration, len(scores))
        return self

    def _check_cut_parameters(self) -> None:
        if not isinstance(self.cut_label, bool | np.bool_):
            raise ParameterError(f"cut_label must be True or False, got {self.cut_label!r}.")
        if self.cut_level is not None:
            check_int("cut_level", self.cut_level, at_least=0, also="None")
        if not isinstance(self.label_correlations, bool | np.bool_):
            raise ParameterError(f"label_correlations must be True or False, got {self.label_correlations!r}.")
        check_set_measure(self.set_measure)
        if check_int("calibration_folds", self.calibration_folds, at_least=0) == 1:
            raise ParameterError("calibration_folds must be 0, for no calibration, or at least 2; got 1.")

    def _learn_by_folds(self, X: Any, graphs: PreferenceGraphs, weight: Any = None) -> OfFolds:
        """The calibration and the label correlations by cross-validation on the training data.

        Rankers whose C is known ask for them before they have weights: then there is one set of weights at a time.
        """
        folds = int(self.calibration_folds)
        if not self.cut_label or not folds or len(graphs) < 2 * folds:
            return OfFolds(None, None)
        scores, correlations = self._out_of_fold(X, graphs, weight, folds), None
        graphs = insert_cut(graphs, self.cut_level)
        if self._learns_correlations(*scores.shape):
            from arcrank.rankers.label_correlations import fit_label_correlations
            from arcrank.rankers.out_of_fold import judgements

            correlations, scores = fit_label_correlations(scores, *judgements(graphs))
        return OfFolds(self._calibration_on(scores, graphs, folds), correlations)

    def _learns_correlations(self, n_instances: int, n_labels: int) -> bool:
        """Whether weights are to be corrected: those of linear rankers, after label sets and single labels."""
        if not self.label_correlations or self._kind not in ("sets", "indicator", "single"):
            return False
        from arcrank.rankers.label_correlations import suits

        return suits(n_instances, n_labels)

    def _keep_by_folds(self, found: OfFolds, n: int) -> None:
        """Correct the weights of a ranker that has learnt from n instances, and move its offsets."""
        if found.correlations is not None:
            found.correlations.correct_weights(self.coef_.T)
            self.intercept_ = found.correlations.correct_intercept(self.intercept_)
            self.label_correlations_ = found.correlations.mixing
        self._keep_calibration(found.calibration, n)

    def _keep_calibration(self, calibration: Calibration | None, n: int) -> None:
        """Move the offsets of a ranker that has learnt from n instances, or warn where a calibration is missing."""
        if calibration is not None:
            self._move_offsets(calibration.offsets)
            self.calibration_ = calibration
        elif self.cut_label and self.calibration_folds:
            warnings.warn(
                f"The {n} training instances are too few, or too much alike, to calibrate on: the cut stays "
                "where it was learnt, and there are no probabilities. Call calibrate(X, y) with other documents, or "
                "pass calibration_folds=0.",
                UserWarning,
                stacklevel=5,
            )

    def _calibrate_by_folds(self, X: Any, graphs: PreferenceGraphs, weight: Any = None) -> None:
        """Calibrate a fitted ranker by cross-validation on its training data."""
        self._keep_by_folds(self._learn_by_folds(X, graphs, weight), len(graphs))

    def _out_of_fold(self, X: Any, graphs: PreferenceGraphs, weight: Any, folds: int) -> Array:
        """Scores of training instances by rankers that have not seen them."""
        from arcrank.rankers.out_of_fold import out_of_fold_scores

        return out_of_fold_scores(self, X, graphs, weight, folds)

    def _n_threads(self) -> int:
        """How many folds may be fitted at a time."""
        return int(getattr(self, "n_jobs", 1))

    def _calibration_on(self, scores: Array, graphs: PreferenceGraphs, folds: int) -> Calibration | None:
        """Fit to scores without offsets, which are changed; None where there is too little to fit to."""
        from arcrank.rankers.calibration import (
            Calibration,
            fit_calibration,
            fit_temperature,
            recall_thresholds,
        )
        from arcrank.rankers.margins_sample import slope_of_margins
        from arcrank.rankers.out_of_fold import judgements

        judged, relevant = judgements(graphs)
        if not suffices(judged, relevant):
            return None
        single = self._kind == "single"
        measure = self.set_measure if self.cut_label else None
        offsets = np.zeros(scores.shape[1])
        if measure is not None:
            # The micro-F1 of single labels is their accuracy; what all offsets share does not change the best label.
            of_sets = "micro_f1" if single and measure != "macro_f1" else measure
            offsets = choose_offsets(scores, judged, relevant, of_sets)
        scores -= offsets
        calibration = Calibration(
            **fit_calibration(scores, judged, relevant),
            temperature=1.0,
            above_slope=slope_of_margins(scores, graphs),
            recall_thresholds=np.zeros(99),
            offsets=offsets,
            documents=len(scores),
            folds=folds,
            set_measure=measure,
            one_label=single,
        )
        if single:
            labelled = relevant.any(axis=1)
            weights = calibration.log_weights(scores[labelled])
            temperature = fit_temperature(weights, relevant[labelled].argmax(axis=1))
            calibration = replace(calibration, temperature=temperature)
        thresholds = recall_thresholds(calibration, scores, relevant)
        return replace(calibration, recall_thresholds=thresholds)

    def _offsets(self) -> Array:
        """What a calibration has subtracted from the scores."""
        return self.calibration_.offsets if hasattr(self, "calibration_") else np.zeros(len(self.labels_))

    def _drop_calibration(self) -> None:
        """Return to the cut as it was learnt."""
        self.__dict__.pop("label_correlations_", None)
        if hasattr(self, "calibration_"):
            self._move_offsets(np.zeros_like(self.calibration_.offsets))
            del self.calibration_

    def _move_offsets(self, offsets: Array) -> None:
        self.intercept_ = self.intercept_ + (self._offsets() - offsets)


def refuse_few(n: int) -> NoReturn:
    """Raise the error for instances that cannot calibrate a ranker."""
    raise InputError(
        f"These {n} instances cannot calibrate a ranker: some label must be relevant in at least {_FEWEST} of them, "
        "and some label irrelevant in as many. Give more instances."
    )


def suffices(judged: Mask, relevant: Mask) -> bool:
    """Whether there are enough instances with and without some label."""
    with_some = relevant.any(axis=1).sum(), (judged & ~relevant).any(axis=1).sum()
    return min(with_some) >= _FEWEST
