"""A model applied to documents: scores, rankings and explanations. Nothing here imports numba."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank._typing import Array
from arcrank._wording import as_json
from arcrank.errors import InputError, ParameterError
from arcrank.graphs.cut import CUT
from arcrank.inference.explanation import explanation_report
from arcrank.inference.feature_map import CONTENTS, FeatureMap, transform_matrix
from arcrank.inference.model_parts import content_kind, split_model
from arcrank.inference.ranked_document import RankedDocument
from arcrank.rankers.linear import Explanation, top_columns
from arcrank.solvers.products import row_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arcrank.datasets import Corpus
    from arcrank.rankers.feature_names import FeatureNames

__all__ = ["Predictor", "ranks_candidates", "ranks_documents", "top_places"]

_CELLS = 1 << 22  # scores in memory at a time
_LISTED = 256  # labels of a ranker that finds the best ones without scores of all: enough for probabilities and sets
_FEW_LABELS = 512  # up to this number, sorting whole rows is faster than selecting the best of each


def ranks_documents(model: Any) -> bool:
    """Whether a model ranks documents by relevance and not labels."""
    _, ranker = split_model(model)
    return not hasattr(ranker, "score_labels") and hasattr(ranker, "decision_function")


def ranks_candidates(model: Any) -> bool:
    """Whether a model was fitted on CandidateSets."""
    return getattr(split_model(model)[1], "_kind", None) == "candidates"


class Predictor:
    """Scores, rankings and explanations of one model. The weights of a linear ranker are transposed once.

    Parameters
    ----------
    model : a label ranker, or a RankingPipeline or Pipeline of text features and a label ranker
        What `arcrank.load` returns.
    """

    def __init__(self, model: Any) -> None:
        self.transformers, self.ranker = split_model(model)
        self.takes = content_kind(model)
        if not hasattr(self.ranker, "score_labels"):
            raise InputError(f"{type(self.ranker).__name__} ranks instances, not labels.\nTrain a label ranker.")
        self.columns = FeatureMap.of_model(model)
        self.labels: list[Any] = self.ranker.labels_.tolist()
        self._label_array = np.empty(len(self.labels), dtype=object)  # to take many of them at a time
        self._label_array[:] = self.labels
        weights = None if self._has_kernel() or self._is_low_rank() else getattr(self.ranker, "coef_", None)
        self._weights = None if weights is None else np.ascontiguousarray(weights.T)

    def _has_kernel(self) -> bool:
        return getattr(self.ranker, "kernel", None) not in (None, "linear")

    def _is_low_rank(self) -> bool:
        return hasattr(self.ranker, "codes_")

    @property
    def takes_text(self) -> bool:
        """Whether the model takes texts."""
        return self.takes == "text"

    @cached_property
    def written_labels(self) -> dict[Any, str]:
        """The labels as JSON, encoded once rather than for each document."""
        return {label: as_json(label) for label in self.labels}

    def features(self, documents: Corpus) -> Any:
        """The features of a batch, in the columns of the model."""
        if documents.content_kind != self.takes:
            raise InputError(
                f"The model takes {CONTENTS[self.takes]}, but these are {CONTENTS[documents.content_kind]}.\n"
                "Give documents like those that the model was trained on."
            )
        if self.takes != "features":
            return self.transformers.transform(documents.texts if self.takes == "text" else documents.table)
        return transform_matrix(self.transformers, self.columns.matrix(documents.X, documents.feature_names))

    def scores(self, X: Any) -> Array:
        """Scores (n, k) of what `features` returns."""
        if self._weights is None:
            return np.asarray(self.ranker.score_labels(X))
        scores = row_products(X, self._weights)
        if self.ranker.intercept_.any():
            scores += self.ranker.intercept_
        return scores

    def places(self, X: Any) -> NDArray[np.intp]:
        """The columns of all labels (n, k), best first."""
        return top_places(self.scores(X), None)

    @property
    def calibration(self) -> Any:
        """What turns scores into probabilities, or None."""
        return getattr(self.ranker, "calibration_", None)

    def threshold(self, threshold: float | None, recall: float | None) -> float | None:
        """The probability from which labels are predicted: the given one, or that of a recall; None for neither."""
        if threshold is None and recall is None:
            return None
        if threshold is not None and recall is not None:
            raise ParameterError("--threshold and --recall both decide which labels are predicted.\nGive one of them.")
        if self.calibration is None:
            raise ParameterError(
                "The model has no probabilities, so there is nothing to compare with --threshold or --recall.\n"
                "Train it again on label sets with arcrank train --learner log-linear or auto."
            )
        return threshold if threshold is not None else self.calibration.recall_threshold(recall)

    def rank(
        self, documents: Corpus, top: int | None = None, *, explain: int = 0, threshold: float | None = None
    ) -> Iterator[RankedDocument]:
        """Yield the ranking of each document of a batch.

        Parameters
        ----------
        documents : Corpus
            Texts or features; their labels are ignored.
        top : int or None
            How many labels; None for all.
        explain : int
            How many parts of the margin between the first two labels to list; 0 for no explanation.
        threshold : float or None
            The probability from which labels are predicted; None for the model's own choice.
        """
        X = self.features(documents)
        width = max(_LISTED, top or 0) if self._finds_best(top) else len(self.labels)
        step = max(1, _CELLS // max(1, width))
        for start in range(0, X.shape[0], step):
            part = X if step >= X.shape[0] else X[start : start + step]
            yield from self._rank_part(documents, start, part, top, explain, threshold)

    def _rank_part(
        self, documents: Corpus, start: int, X: Any, top: int | None, explain: int, threshold: float | None
    ) -> Iterator[RankedDocument]:
        """Rank rows whose scores fit into memory; `start` is the number of the first one."""
        columns, scores = self._scored(X, top)
        places = top_places(scores, top)
        order = places if columns is None else np.take_along_axis(columns, places, axis=1)
        known = np.diff(X.indptr) if hasattr(X, "indptr") else np.count_nonzero(X, axis=1)
        ids: Iterable[Any] = repeat(None) if documents.ids is None else documents.ids[start : start + len(order)]
        reasons: Iterable[Any] = repeat(None)
        if explain and order.shape[1] > 1:
            reasons = self._reasons(documents, start, X, order, explain)
        values = np.take_along_axis(scores, places, axis=1)
        proba: Iterable[Any] = repeat(None)
        predicted: Iterable[Any] = repeat(None)
        if self.calibration is not None:
            probabilities = self.calibration.probabilities(scores)
            proba = np.take_along_axis(probabilities, places, axis=1).tolist()
            predicted = self._predicted(scores, probabilities, threshold, columns)
        # map stops at the last row; what documents do not have is repeated endlessly
        labels = self._label_array[order].tolist()
        return map(RankedDocument, labels, values.tolist(), known.tolist(), ids, reasons, proba, predicted)

    def _finds_best(self, top: int | None) -> bool:
        """Whether the ranker finds the best labels without the scores of all, which a softmax would need."""
        single = self.calibration is not None and self.calibration.is_single
        return top is not None and hasattr(self.ranker, "rank_numbers") and not single

    def _scored(self, X: Any, top: int | None) -> tuple[NDArray[np.int64] | None, Array]:
        """Columns and scores of the best labels, (n, m); or the scores of all, (n, k), with None for their columns."""
        if top is None or not self._finds_best(top):
            return None, self.scores(X)
        columns, scores = self.ranker.rank_numbers(X, max(top, _LISTED))
        return columns, scores

    def _predicted(
        self, scores: Array, probabilities: Array, threshold: float | None, listed: NDArray[np.int64] | None
    ) -> Iterator[list[Any]]:
        """The labels to predict of each row, best first; `listed` are the columns of the scores if not all."""
        if threshold is not None:
            chosen = probabilities >= threshold
        elif self.calibration.is_single:
            chosen = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        else:
            chosen = scores > 0.0
        for at, (row, values) in enumerate(zip(chosen, scores, strict=True)):
            places = np.flatnonzero(row)
            places = places[np.argsort(-values[places], kind="stable")]
            yield self._label_array[places if listed is None else listed[at, places]].tolist()

    def _reasons(self, documents: Corpus, start: int, X: Any, order: Any, parts: int) -> Iterator[dict[str, Any]]:
        for row, (above, below) in enumerate(order[:, :2].tolist()):
            text = None if documents.texts is None else documents.texts[start + row]
            yield self.explain(X[row : row + 1], above, below, text, parts)

    def explain(self, x: Any, above: int, below: int | None, text: str | None, parts: int | None) -> dict[str, Any]:
        """The largest parts of the margin between two labels, given by their columns, in the words of the text.

        None in place of the lower label is the cut: why the label is predicted, or is not.
        """
        return explanation_report(self.margin(x, above, below), self._feature_names, text, parts)

    def margin(self, x: Any, above: int, below: int | None) -> Explanation:
        """Each feature's part of the margin between two labels, given by their columns."""
        if self._weights is None:  # trees, kernels, averages, codes and sparse weights, which the ranker reads itself
            return self._margin_of_ranker(x, self.labels[above], CUT if below is None else self.labels[below])
        row = _as_csr(x)
        weights, constant = self._weights[row.indices, above], float(self.ranker.intercept_[above])
        if below is None and not self.ranker.cut_label:
            raise InputError("The model has not learnt a cut.\nTrain it again on label sets, or name a label --below.")
        if below is not None:
            weights = weights - self._weights[row.indices, below]
            constant -= float(self.ranker.intercept_[below])
        lower = CUT if below is None else self.labels[below]
        return Explanation.of(self.labels[above], lower, np.asarray(row.indices), row.data * weights, constant)

    def _margin_of_ranker(self, x: Any, above: Any, below: Any) -> Explanation:
        """The ranker's own explanation, with features by their columns."""
        try:
            why = self.ranker.explain(x, above, below)
        except ParameterError as error:  # online learners with a kernel, and precomputed kernels
            raise InputError(f"The model has a kernel: {error}\nTrain a linear model to explain it.") from error
        names = getattr(self.ranker, "feature_names_in_", range(self.ranker.n_features_in_))
        column = {name: at for at, name in enumerate(names)}
        return replace(why, parts=[(column[name], value) for name, value in why.parts])

    @cached_property
    def _feature_names(self) -> FeatureNames:
        from arcrank.rankers.feature_names import FeatureNames  # imports arcrank.text

        return FeatureNames(self.transformers, self.columns.names)

    def column_of(self, label: str) -> int:
        """The column of a label; for an unknown label, an error that suggests similar ones."""
        for column, known in enumerate(self.labels):
            if str(known) == label:
                return column
        names = [str(known) for known in self.labels]
        message = f"{_short(label)} is not one of the {len(names):,} labels of the model."
        raise InputError(f"{message}\n{_advice(label, names)}")


def _as_csr(x: Any) -> Any:
    if hasattr(x, "indptr"):
        return x
    from scipy.sparse import csr_matrix  # for dense features only

    return csr_matrix(x)


def _advice(label: str, names: list[str]) -> str:
    """Suggest similar labels, ignoring case; if there are none, list a few."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(name.casefold().strip(), []).append(name)
    form = label.casefold().strip()
    forms = [form] if form in by_form else difflib.get_close_matches(form, by_form, n=3, cutoff=0.5)
    if forms:
        return f"Did you mean {' or '.join(_short(name) for one in forms for name in by_form[one])}?"
    return f"Its labels include {', '.join(map(_short, names[:3]))}."


def _short(name: str) -> str:
    return as_json(name if len(name) <= 60 else name[:57] + "...")


def top_places(scores: Array, top: int | None) -> NDArray[np.intp]:
    """Columns in order of descending score, only the first `top`; equal scores keep the order of columns."""
    if scores.shape[1] <= _FEW_LABELS:
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return top_columns(scores, top)
