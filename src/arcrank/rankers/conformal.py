"""Label sets with a promised recall or precision, from the probabilities of any fitted model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from math import ceil, inf, log
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing

from arcrank._typing import Array, Mask
from arcrank._validation import check_real
from arcrank._wording import count
from arcrank.errors import InputError, NotCalibratedError, ParameterError
from arcrank.graphs.base import label_array, row_blocks
from arcrank.rankers.relevance import Relevance, read_relevance
from arcrank.rankers.risk_control import Cells, largest_loss, precision_threshold, recall_threshold

__all__ = ["ConformalSets"]

_BLOCK_CELLS = 1 << 22  # probabilities of a block of documents: 32 MB
Blocks = Iterator[tuple[slice, Array]]


class ConformalSets(BaseEstimator):
    """Label sets with a promised recall or precision, from the probabilities of a fitted model.

    A label is in the set of a document if its probability is at least `threshold_`, which `calibrate` chooses on
    documents that the model was not trained on.

    - `recall=0.9`: on average over calibration and new documents, a set holds at least 90 % of the relevant labels of
      its document (a document without relevant labels counts as 100 %). The threshold is the largest with that promise,
      by conformal risk control. For single labels this is the coverage of conformal prediction.
    - `precision=0.8`: with probability 1 - delta over the calibration documents, the expected share of right labels in
      a set is at least 80 % (an empty set counts as 100 %). The threshold is found by learn then test, with
      Hoeffding-Bentkus p-values; it is at least 0.01.

    Both promises hold for every model, even if its probabilities are wrong: with good probabilities the sets are
    smaller, or more complete. They assume that new documents are drawn as the calibration documents were, independently
    from the same source (for recall it is enough that all of them are exchangeable). They are about averages over
    documents, and say nothing about a single document, a group of documents or a single label. They do not hold when
    new documents differ from the calibration documents (drift): calibrate again on recent ones.

    Parameters
    ----------
    model : fitted model
        With `predict_proba(X)`, (n, k), and `labels_` or `classes_`: an arcrank ranker with `cut_label=True`, a
        `RankingPipeline` of one, or scikit-learn's `OneVsRestClassifier`.
    recall, precision : float between 0 and 1
        What is promised; give exactly one of them.
    delta : float between 0 and 1
        For precision: the probability that the calibration documents mislead.

    Attributes
    ----------
    threshold_ : float
        The smallest probability of a label in a set: 0 for sets of all labels, infinity for empty sets.
    n_documents_ : int
        How many documents it was calibrated on.
    labels_ : (k,) array
        The labels of the model.

    References
    ----------
    A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster: Conformal Risk Control, 2022.
    A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei: Learn then Test, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import recall_score
    >>> from arcrank import ConformalSets, LogLinearRanker
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(4500, 5))
    >>> Y = (X[:, :3] + random.normal(size=(4500, 3)) > 0).astype(int)
    >>> model = LogLinearRanker(cut_label=True).fit(X[:500], Y[:500])
    >>> sets = ConformalSets(model, recall=0.9).calibrate(X[500:2500], Y[500:2500])
    >>> print(f"{recall_score(Y[2500:], sets.predict(X[2500:]), average='samples', zero_division=1):.1f}")
    0.9
    >>> new = [[2, -2, 1, 0, 0], [-2, -2, -1, 0, 0]]
    >>> sets.predict(new).tolist(), sets.needs_review(new).tolist()
    ([[1, 0, 1], [0, 0, 0]], [False, True])
    """

    threshold_: float
    n_documents_: int
    labels_: NDArray[Any]
    _form: str

    def __init__(
        self, model: Any, recall: float | None = None, precision: float | None = None, delta: float = 0.1
    ) -> None:
        self.model = model
        self.recall = recall
        self.precision = precision
        self.delta = delta

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `calibrate` would refuse, without any data."""
        if (self.recall is None) == (self.precision is None):
            given = "neither was" if self.recall is None else "both were"
            raise ParameterError(
                f"ConformalSets promises either a recall or a precision, and {given} given; write, for example, "
                "ConformalSets(model, recall=0.9)."
            )
        for name in ("recall", "precision"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), above=0, below=1)
        check_real("delta", self.delta, above=0, below=1)
        _check_probabilities(self.model)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Choose the threshold on documents that the model was not trained on.

        The promise does not hold after calibration on training documents, whose labels the model has seen.

        Parameters
        ----------
        X : whatever the model takes
            The documents.
        y : label sets
            What `as_graphs` takes as an indicator matrix (a column for each label of the model, in their order), lists
            of names, single labels, or graphs of them. A label that the model does not know counts as a relevant label
            that is in no set: it lowers the recall that can be reached, and leaves precision as it is.
        """
        self.check_parameters()
        labels = _labels_of(self.model)
        n = _n_rows(X)
        truth = read_relevance(y, labels)
        if n != truth.relevant.shape[0]:
            raise InputError(
                f"X has {n:,} documents and y has {truth.relevant.shape[0]:,}; give one label set for each document."
            )
        if n == 0:
            raise InputError("X has no documents; calibrate on at least one, and better on hundreds.")
        blocks = self._probabilities(X, labels)
        if self.recall is not None:
            self.threshold_ = _choose_for_recall(blocks, truth, self.recall)
        elif self.precision is not None:
            self.threshold_ = _choose_for_precision(blocks, truth, self.precision, self.delta)
        self.labels_, self.n_documents_, self._form = labels, n, truth.form
        return self

    def predict(self, X: Any) -> Any:
        """The label set of each document, in the form of the y that was given to `calibrate`.

        An indicator matrix of integers, (n, k), dense or sparse as y was; lists of names after all other kinds.
        """
        self._check_calibrated()
        empty = sp.csr_matrix((0, len(self.labels_)), dtype=np.int64)
        found = (self._members(values) for _, values in self._probabilities(X, self.labels_))
        blocks = [sp.csr_matrix(members, dtype=np.int64) for members in found]
        sets = sp.vstack([empty, *blocks], format="csr")
        if self._form == "names":
            return [self.labels_[sets.indices[start:end]].tolist() for start, end in pairwise(sets.indptr)]
        return sets if self._form == "sparse" else sets.toarray()

    def needs_review(self, X: Any) -> Mask:
        """Whether a person should look at the set of a document, (n,), by the probabilities of the model.

        With a promised recall: where fewer than half of the set's labels are expected to be right (their mean
        probability is less than 0.5), or the set is empty. With a promised precision: where at least half a relevant
        label is expected outside the set (the probabilities of the labels outside sum to at least 0.5).
        """
        self._check_calibrated()
        review = self._is_vague if self.precision is None else self._is_incomplete
        found = (review(values) for _, values in self._probabilities(X, self.labels_))
        return np.concatenate([np.empty(0, dtype=bool), *found])

    def _is_vague(self, proba: Array) -> Mask:
        members = self._members(proba)
        sizes = members.sum(axis=1)
        return (sizes == 0) | (np.where(members, proba, 0.0).sum(axis=1) < 0.5 * sizes)

    def _is_incomplete(self, proba: Array) -> Mask:
        return np.where(self._members(proba), 0.0, proba).sum(axis=1) >= 0.5

    def _members(self, proba: Array) -> Mask:
        return proba >= self.threshold_

    def _probabilities(self, X: Any, labels: NDArray[Any]) -> Blocks:
        """Blocks of documents and the probabilities of their labels."""
        k = len(labels)
        rows = X.tocsr() if sp.issparse(X) else X
        for block in row_blocks(_n_rows(X), k, _BLOCK_CELLS):
            chosen = np.arange(block.start, block.stop)
            yield block, _checked(self.model.predict_proba(_safe_indexing(rows, chosen)), (len(chosen), k), block.start)

    def _check_calibrated(self) -> None:
        if not hasattr(self, "threshold_"):
            raise NotFittedError(
                "This ConformalSets is not calibrated yet; call calibrate(X, y) with documents that the model was not "
                "trained on."
            )


def _check_probabilities(model: Any) -> None:
    try:
        _ = model.predict_proba
    except NotCalibratedError:
        raise  # it says how to calibrate a ranker
    except AttributeError:
        raise ParameterError(
            f"ConformalSets needs a model with predict_proba, which this {type(model).__name__} does not have. Pass a "
            "ranker that was fitted with cut_label=True, or a classifier with probabilities."
        ) from None


def _labels_of(model: Any) -> NDArray[Any]:
    labels = getattr(model, "labels_", None)
    labels = getattr(model, "classes_", None) if labels is None else labels
    if labels is None:
        raise ParameterError(
            f"This {type(model).__name__} has neither labels_ nor classes_; pass a model that was fitted before."
        )
    if isinstance(labels, list) and any(np.ndim(one) for one in labels):
        raise ParameterError(
            f"The predict_proba of {type(model).__name__} gives a list with an array for each label, and ConformalSets "
            "takes one (n, k) array; use sklearn.multiclass.OneVsRestClassifier, or a ranker with cut_label=True."
        )
    return label_array(labels)


def _n_rows(X: Any) -> int:
    if isinstance(X, str):
        raise InputError(f"X is one text, {X[:40]!r}, where a list of documents belongs; pass [text].")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _checked(proba: Any, shape: tuple[int, int], first: int) -> Array:
    values = np.asarray(proba.toarray() if sp.issparse(proba) else proba, dtype=np.float64)
    if values.shape != shape:
        raise InputError(
            f"predict_proba of the model returned an array of shape {values.shape} for {count(shape[0], 'document')} "
            f"and {count(shape[1], 'label')}; it must have a row for each document and a column for each label."
        )
    if values.size and not (values.min() >= 0 and values.max() <= 1):  # NaN is in no order
        row, column = np.argwhere(~((values >= 0) & (values <= 1)))[0]
        raise InputError(
            f"predict_proba of the model returned {values[row, column]:g} for label {column} of document "
            f"{first + row}; probabilities are numbers from 0 to 1."
        )
    return values


def _choose_for_recall(blocks: Blocks, truth: Relevance, recall: float) -> float:
    n, known = truth.relevant.shape[0], np.diff(truth.relevant.indptr)
    sizes = known + truth.unknown
    share = 1.0 / np.maximum(1, sizes)
    proba = np.concatenate([_at(values, truth.relevant[rows]) for rows, values in blocks])
    found = recall_threshold(proba, np.repeat(share, known), float(share @ truth.unknown), n, recall)
    if found is None:
        _warn(_without_recall(n, recall, int(truth.unknown.sum()), int(sizes.sum())))
    elif found == inf:
        _warn(
            f"{np.count_nonzero(sizes == 0):,} of {count(n, 'calibration document')} have no relevant label, and a "
            f"recall of {recall:g} needs no set: all sets are empty. Calibrate on documents that have labels."
        )
    return 0.0 if found is None else found


def _at(proba: Array, relevant: Any) -> Array:
    """The probabilities of the relevant labels, in the order of the entries."""
    return proba[np.repeat(np.arange(len(proba)), np.diff(relevant.indptr)), relevant.indices]


def _without_recall(n: int, recall: float, n_unknown: int, n_relevant: int) -> str:
    needed = ceil(1 / (1 - recall) - 1e-6) - 1
    if n < needed or not n_unknown:
        reason = f"this takes at least {needed:,} calibration documents, and there are {n:,}. Calibrate on more."
    else:
        reason = (
            f"the model does not know {n_unknown:,} of the {n_relevant:,} relevant labels of the calibration "
            "documents. Train it on documents that have these labels, or promise less."
        )
    return f"A recall of {recall:g} cannot be promised, and the sets hold all labels: {reason}"


def _choose_for_precision(blocks: Blocks, truth: Relevance, precision: float, delta: float) -> float:
    cells = Cells()
    for rows, values in blocks:
        cells.add(values, truth.relevant[rows].toarray())
    found = precision_threshold(cells, precision, delta)
    if found is None:
        _warn(_without_precision(cells.n_rows, precision, delta))
    return inf if found is None else found


def _without_precision(n: int, precision: float, delta: float) -> str:
    if largest_loss(n, 1 - precision, delta) is None:
        needed = ceil(log(delta) / log(precision))
        reason = f"this takes at least {needed:,} calibration documents, and there are {n:,}. Calibrate on more."
    else:
        reason = "the most probable labels of the model are wrong too often. Improve the model, or promise less."
    return f"A precision of {precision:g} cannot be promised, and all sets are empty: {reason}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)  # where calibrate was called
