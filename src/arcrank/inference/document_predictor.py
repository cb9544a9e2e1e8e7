"""A ranker of documents applied to texts or features: scores and their explanations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank._typing import Array
from arcrank._wording import as_json
from arcrank.errors import InputError
from arcrank.inference.explanation import explanation_report
from arcrank.inference.feature_map import FeatureMap, corpus_features
from arcrank.inference.model_parts import split_model
from arcrank.inference.predictor import ranks_documents
from arcrank.rankers.linear import Explanation

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.rankers.feature_names import FeatureNames

__all__ = ["DocumentPredictor", "ScoredDocument"]


@dataclass(slots=True)
class ScoredDocument:
    """A document with its score.

    Attributes
    ----------
    rank : int
        Its place, 1 = best.
    row : int
        Its number in the input, from 1 on.
    score : float
        The greater, the more relevant.
    known_features : int
        How many features of the document the model knows.
    id : str or None
        The name of the document.

    Examples
    --------
    >>> ScoredDocument(1, 7, 0.5, 3, "a").to_json()
    '{"id": "a", "rank": 1, "row": 7, "score": 0.5, "known_features": 3}'
    """

    rank: int
    row: int
    score: float
    known_features: int
    id: str | None = None

    def to_json(self) -> str:
        """Return one line of JSON."""
        head = {} if self.id is None else {"id": self.id}
        fields = ("rank", "row", "score", "known_features")
        return as_json({**head, **{name: getattr(self, name) for name in fields}})


class DocumentPredictor:
    """Scores and explanations of a model that ranks documents.

    Parameters
    ----------
    model : a ranker of documents, or a Pipeline of text features and one
        What `arcrank.load` returns.
    """

    def __init__(self, model: Any) -> None:
        if not ranks_documents(model):
            raise InputError("This model ranks labels, not documents; use Predictor.")
        self._model = model
        self.transformers, self.ranker = split_model(model)
        self.columns = FeatureMap.of_model(model)

    @property
    def takes(self) -> str:
        """What documents are: "text" or "features"."""
        return "features" if self.transformers is None else "text"

    def features(self, documents: Corpus) -> Any:
        """Return the features of a batch, in the columns of the model."""
        return corpus_features(self._model, documents, self.columns)

    def scores(self, documents: Corpus) -> Array:
        """Return the scores (n,): the greater, the more relevant."""
        return np.asarray(self.ranker.decision_function(self.features(documents)))

    def rank(self, batches: Iterable[Corpus], top: int | None = None) -> list[ScoredDocument]:
        """Return all documents of some batches, or the best `top`, best first; equal scores keep their order."""
        scores, known, ids = [], [], []
        for batch in batches:
            X = self.features(batch)
            scores.append(np.asarray(self.ranker.decision_function(X)))
            known.append(np.diff(X.indptr) if hasattr(X, "indptr") else np.count_nonzero(X, axis=1))
            ids += batch.ids or [None] * len(batch)
        if not scores:
            return []
        values, counts = np.concatenate(scores), np.concatenate(known)
        order = np.argsort(-values, kind="stable")[:top].tolist()
        return [
            ScoredDocument(place, row + 1, float(values[row]), int(counts[row]), ids[row])
            for place, row in enumerate(order, start=1)
        ]

    def explain(self, x: Any, text: str | None, parts: int | None) -> dict[str, Any]:
        """Return the largest parts of the score of one row of features, in the words of the text."""
        columns, values, constant = self.ranker.score_parts(x)
        why = Explanation.of("relevant", "irrelevant", columns, values, constant)
        return explanation_report(why, self._feature_names, text, parts)

    @cached_property
    def _feature_names(self) -> FeatureNames:
        from arcrank.rankers.feature_names import FeatureNames  # with arcrank.text, which features do without

        return FeatureNames(self.transformers, self.columns.names)
