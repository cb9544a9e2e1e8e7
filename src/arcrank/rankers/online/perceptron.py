"""One binary perceptron per label as a label ranker (Crammer & Singer 2002, section 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._features import canonical_csr
from arcrank._typing import Array, IntArray
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.rankers.online.base import OnlineRanker
from arcrank.solvers.candidate_online import learn_by_rule
from arcrank.solvers.online import PERCEPTRON

__all__ = ["PerceptronRanker"]


class PerceptronRanker(OnlineRanker):
    """One binary perceptron per label, ranked by their scores (Crammer & Singer 2002, section 4.3).

    A relevant label whose score is not positive moves its prototype by +x, another label whose score is not negative
    by -x. y must be label sets: single labels, an indicator, lists of names, or graphs of two layers, where labels that
    are not judged stay as they are. `predict` takes the labels of positive score.

    A document without labels is a negative example of every label known so far, and a document with all labels a
    positive one, as in the paper, where the documents that do not have a topic are its complement. So an empty set
    means that no label applies; leave out documents whose labels are unknown.

    Parameters
    ----------
    epochs : int
        Passes of `fit`; `partial_fit` makes one over what it is given.
    average : bool
        Score by the mean of the prototypes over all rounds in place of the last ones. Documents with no or all labels
        change the prototypes, but are not rounds.
    shuffle : bool
        Draw a new order of the rows in each pass of `fit`, by `random_state`.
    cut_label : bool
        Fit offsets and probabilities for label sets. The scores of binary perceptrons are relative to 0 anyway, so no
        cut is learnt.
    cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`.
    random_state : int, RandomState or None
        Of the order.
    verbose : int
        A line on stderr after each pass of `fit`.

    Attributes
    ----------
    labels_, coef_, cumulative_losses_, loss_rounds_, n_rounds_, n_skipped_
        As in `MMPRanker`; the losses are those of the ranking. Documents with no or all labels have no ranking to
        measure: `n_skipped_` counts them, although the perceptrons learn from them.

    Examples
    --------
    >>> from arcrank.rankers.online import PerceptronRanker
    >>> ranker = PerceptronRanker().fit([[2, 0], [0, 3], [1, 0]], ["oil", "ship", "oil"])
    >>> ranker.coef_
    array([[ 2., -3.],
           [-2.,  3.]])
    >>> ranker.predict([[1, 0]]).tolist()
    ['oil']
    """

    _learns_cut = False

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        epochs: int = 1,
        average: bool = False,
        shuffle: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
    ) -> None:
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds

    def _learn(self, X: Any, graphs: PreferenceGraphs, rows: IntArray) -> None:
        if isinstance(graphs, CandidateGraphs):
            learn_by_rule(self._model, PERCEPTRON, X, graphs, np.asarray(rows, dtype=np.int64), self._progress)
            return
        self._model.learn(PERCEPTRON, canonical_csr(X), graphs, rows, self._progress)

    def _cut_sizes(self, ordered: Array) -> IntArray:
        return (ordered > 0.0).sum(axis=1)
