"""A predictor of a model that goes on learning: it copies no weights, so that a preference counts at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.graphs.cut import CUT
from arcrank.inference.predictor import Predictor
from arcrank.rankers.linear import Explanation, relative_to_cut
from arcrank.solvers.products import row_products

__all__ = ["LivePredictor"]


class LivePredictor(Predictor):
    """Scores of an online ranker from the weights of the features that a document has.

    `Predictor` copies all weights when it is made. That would take longer than learning a preference does.
    """

    def _has_kernel(self) -> bool:
        return True  # so that no weights are copied

    def scores(self, X: Any) -> Array:
        """Scores (n, k) of what `features` returns."""
        rows = csr_matrix(X)
        columns = np.unique(rows.indices)
        return row_products(rows[:, columns], self._label_weights(columns)) + self.ranker.intercept_

    def margin(self, x: Any, above: int, below: int | None) -> Explanation:
        """Each feature's part of the margin between two labels, given by their columns."""
        if below is None and not self.ranker.cut_label:
            raise InputError("The model has not learnt a cut.\nTrain it with cut_label=true, or name a label --below.")
        row = csr_matrix(x)
        weights = self._label_weights(row.indices)
        part, constant = weights[:, above], float(self.ranker.intercept_[above])
        if below is not None:
            part, constant = part - weights[:, below], constant - float(self.ranker.intercept_[below])
        lower = CUT if below is None else self.labels[below]
        return Explanation.of(self.labels[above], lower, np.asarray(row.indices), row.data * part, constant)

    def _label_weights(self, columns: Any) -> Array:
        """Weights (len(columns), k) of some features, relative to the cut if there is one."""
        weights = self.ranker._model.mean_of(columns, self.ranker.n_rounds_)
        return relative_to_cut(weights) if self.ranker._columns_before else weights
