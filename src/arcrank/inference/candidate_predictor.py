"""A ranker of candidates applied to queries: the order of each query's candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank.errors import InputError
from arcrank.inference.feature_map import FeatureMap
from arcrank.inference.model_parts import split_model
from arcrank.inference.predictor import ranks_candidates
from arcrank.inference.ranked_document import RankedDocument
from arcrank.rankers.candidates import CandidateSets

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["CandidatePredictor"]


class CandidatePredictor:
    """Rankings of the candidates of queries.

    Parameters
    ----------
    model : a ranker that was fitted on CandidateSets
        What `arcrank.load` returns.
    """

    def __init__(self, model: Any) -> None:
        if not ranks_candidates(model):
            raise InputError("This model ranks labels or documents, not candidates; use Predictor.")
        _, self.ranker = split_model(model)
        self.columns = FeatureMap.of_model(model)

    def candidates(self, queries: Corpus) -> CandidateSets:
        """The candidates of a batch of queries, in the columns of the model."""
        if queries.ptr is None:
            raise InputError(
                f"{queries.source or 'The data'} holds documents, and this model ranks candidates of queries.\n"
                'Give a qid file, or JSON lines with "candidates".'
            )
        return CandidateSets(self.columns.matrix(queries.X, queries.feature_names), queries.ptr)

    def rank(self, queries: Corpus, top: int | None = None) -> Iterator[RankedDocument]:
        """Yield the candidates of each query, best first, as their numbers in the file, from 0 on."""
        sets = self.candidates(queries)
        scores, known = self.ranker.score_labels(sets), np.diff(sets.features.indptr)
        ids = queries.ids or [None] * len(queries)
        for name, first, last in zip(ids, sets.ptr[:-1], sets.ptr[1:], strict=True):
            order = np.argsort(-scores[first:last], kind="stable")[:top]
            values = scores[first:last][order]
            yield RankedDocument(order.tolist(), values.tolist(), int(known[first:last].sum()), name)
