"""Stored linear models as arrays: ranking and explaining without the estimators, scikit-learn and numba.

`load_for_ranking` returns what `Predictor` takes: a model of arrays if the file holds a linear ranker or one of very
many labels, alone or after arcrank's own text features, and else the estimators of `arcrank.load`. Both give the same
numbers, since both use the same functions of arrays: `text/encoder.py`, `solvers/products.py`,
`rankers/shortlist/scorer.py` and `rankers/calibration.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import Csr
from arcrank._typing import Array, IntArray
from arcrank.modelfile.api import build_model, read_model
from arcrank.rankers.calibration import Calibration
from arcrank.rankers.linear import relative_to_cut
from arcrank.solvers.products import row_products

if TYPE_CHECKING:
    from arcrank.modelfile.reading import StoredModel, StoredPart
    from arcrank.rankers.shortlist.explanation import ShortlistExplanation
    from arcrank.rankers.shortlist.scorer import ShortlistScorer

__all__ = ["ArrayPipeline", "LinearModel", "ShortlistModel", "array_model", "load_for_ranking"]

Values = dict[str, Any]


@dataclass
class LinearModel:
    """The weights of a linear ranker; attributes are named as those of the estimators."""

    labels_: NDArray[Any]
    coef_: Array
    intercept_: Array
    cut_label: bool
    calibration_: Calibration | None
    model_card_: dict[str, Any] = field(default_factory=dict)

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return self.coef_.shape[1]

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        return row_products(X, self.coef_.T) + self.intercept_


@dataclass
class ShortlistModel:
    """The sparse weights and the training documents of a `ShortlistRanker`; attributes are named as there."""

    labels_: NDArray[Any]
    n_features_in_: int
    scorer: ShortlistScorer
    cut_label: bool
    calibration_: Calibration | None
    model_card_: dict[str, Any] = field(default_factory=dict)

    def score_labels(self, X: Any) -> Array:
        """Scores of all labels, (n, k): the higher, the better the label fits."""
        return self.scorer.scores(X, np.arange(len(self.labels_)))

    def rank_numbers(self, X: Any, top: int) -> tuple[IntArray, Array]:
        """Label numbers in order, best first, and their scores: two (n, top) arrays."""
        return self.scorer.best(X, min(top, len(self.labels_)))

    def explain(self, x: Any, above: Any, below: Any) -> ShortlistExplanation:
        """Why label `above` scores higher (or lower) than `below` for one document, a CSR row."""
        from arcrank.rankers.shortlist.explanation import ShortlistExplanation, numbers_of

        high, low = numbers_of(self.labels_.tolist(), (above, below), cut_label=self.cut_label)
        return ShortlistExplanation.of_row(self.scorer, x, (above, below), (high, low), np.asarray(x.indices))


@dataclass
class ArrayPipeline:
    """Text features and a model of arrays, which are accessed as in scikit-learn's Pipeline."""

    steps: list[tuple[str, Any]]
    model_card_: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, at: int | slice) -> Any:
        """Return a step, or a pipeline of some steps."""
        return ArrayPipeline(self.steps[at]) if isinstance(at, slice) else self.steps[at][1]

    def transform(self, texts: list[str]) -> Csr:
        """Return the features of some texts, for the steps before the model."""
        features: Csr = self[0].transform(texts)
        return features

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """Return the names of the features."""
        names: NDArray[np.object_] = self[0].get_feature_names_out()
        return names


def load_for_ranking(path: str | os.PathLike[str]) -> Any:
    """Return a model that `Predictor` takes: of arrays if possible, else as `arcrank.load` returns it.

    Examples
    --------
    >>> import arcrank, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "drinks.arcrank")
    >>> arcrank.save(arcrank.RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"]), path)
    >>> load_for_ranking(path).score_labels(Csr(np.ones(1), np.array([1]), np.array([0, 1]), (1, 2))).tolist()
    [[1.0, 0.0]]
    """
    stored = read_model(path)
    return array_model(stored) or build_model(stored, path)


def array_model(stored: StoredModel) -> LinearModel | ShortlistModel | ArrayPipeline | None:
    """Return a stored model as arrays; None if it has parts that only the estimators can apply."""
    *before, last = stored.parts
    makers = [_ENCODERS.get(part.part.name) for part in before]
    is_shortlist = last.part.name == "shortlist"
    if len(before) > 1 or None in makers or not (is_shortlist or _is_linear(last)):
        return None
    ranker = (_shortlist_model if is_shortlist else _linear_model)(*last.values())
    if not stored.is_pipeline:
        ranker.model_card_ = stored.card
        return ranker
    encoders = [(part.step, make(*part.values())) for part, make in zip(before, makers, strict=True) if make]
    return ArrayPipeline([*encoders, (last.step, ranker)], stored.card)


def _is_linear(stored: StoredPart) -> bool:
    """Whether the scores of a ranker are products with weights, and those of labels, not of candidates."""
    parameters, learnt = stored.parameters, stored.learnt
    linear = stored.part.name in _LINEAR and parameters.get("kernel") in (None, "linear") and not learnt.get("members")
    return linear and learnt["kind"] != "candidates" and "label_codes" not in learnt


def _calibration(learnt: Values) -> Calibration | None:
    stored = learnt.get("calibration")
    return None if stored is None else Calibration(**stored)


def _shortlist_model(parameters: Values, learnt: Values) -> ShortlistModel:
    from arcrank.modelfile.shortlist import stored_arrays
    from arcrank.rankers.shortlist.neighbours import Neighbours
    from arcrank.rankers.shortlist.scorer import ShortlistScorer
    from arcrank.solvers.shortlist_arrays import SparseWeights

    weights, lists = stored_arrays(learnt)
    votes = Neighbours(*lists), int(parameters["neighbours"]), float(parameters["neighbours_weight"])
    scorer = ShortlistScorer(SparseWeights(*weights), learnt["intercept"], learnt["cut_weights"], *votes)
    cut, n_features = bool(parameters["cut_label"]), len(weights[0]) - 1
    return ShortlistModel(np.asarray(learnt["labels"]), n_features, scorer, cut, _calibration(learnt))


def _linear_model(parameters: Values, learnt: Values) -> LinearModel:
    calibration = _calibration(learnt)
    coef, intercept = _weights(learnt, calibration)
    labels = np.asarray(learnt["labels"])
    return LinearModel(labels, coef, intercept, bool(parameters.get("cut_label", False)), calibration)


def _weights(learnt: Values, calibration: Calibration | None) -> tuple[Array, Array]:
    """The weights (k, d) and the intercept; those of an online ranker are means, and its intercept holds offsets."""
    if "counters" not in learnt:
        return learnt["weights"], learnt["intercept"]
    from arcrank.solvers.online import Prototypes  # imports much that other models do without

    k = len(learnt["labels"])
    born = learnt.get("born")  # files of earlier versions have none
    born = np.zeros(learnt["weights"].shape[1], dtype=np.int64) if born is None else born
    columns = Prototypes(learnt["weights"], learnt["late"], born).mean(int(learnt["counters"][0]))
    columns = relative_to_cut(columns) if columns.shape[1] > k else columns
    return columns.T, np.zeros(k) if calibration is None else -calibration.offsets


def _term_encoder(parameters: Values, learnt: Values) -> Any:
    from arcrank.text.encoder import TermEncoder, word_options
    from arcrank.text.known_words import KnownWords

    # files of earlier versions have no language: True meant English
    words = KnownWords(**word_options(parameters, learnt.get("language", "english")))
    columns = {term: column for column, term in enumerate(learnt["terms"])}
    return TermEncoder(words, parameters["ngrams"], parameters["sublinear"], parameters["norm"], columns, learnt["idf"])


def _hash_encoder(parameters: Values, _: Values) -> Any:
    from arcrank.text.encoder import HashEncoder, word_options
    from arcrank.text.known_words import KnownWords

    words = KnownWords(**word_options(parameters, parameters["language"]))
    return HashEncoder(
        words, parameters["ngrams"], parameters["sublinear"], parameters["norm"], parameters["n_features"]
    )


_LINEAR = (
    "log-linear",
    "preference-machine",
    "rocchio",
    "average",
    "semi-supervised",
    "ordinal",
    "prank",
    "mmp",
    "perceptron",
)
_ENCODERS: dict[str, Callable[[Values, Values], Any]] = {
    "text-features": _term_encoder,
    "hashed-text-features": _hash_encoder,
}
