"""The measures of candidates that training and evaluation report: NDCG and the four errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.graphs import CandidateGraphs
from arcrank.metrics.generalized import generalized_error
from arcrank.metrics.orders import ndcg_at

__all__ = ["DESCRIPTIONS", "candidate_measures"]

CUTOFFS = (1, 5, 10)
_ERRORS = {
    "zero_one_error": "share of instances with a wrong arc; a tie counts as an error",
    "disagreement_error": "share of arcs in the wrong order",
    "domination_error": "share of candidates that are not above all candidates of a lower grade",
    "dominated_error": "share of candidates that are not below all candidates of a higher grade",
}
DESCRIPTIONS = {f"ndcg_at_{r}": f"gain of the first {r}, over that of the best order" for r in CUTOFFS} | _ERRORS
"""What each measure means."""


def candidate_measures(grades: Array, scores: Array, ptr: NDArray[np.int64]) -> dict[str, float | None]:
    """Measure scores of candidates, as means over the instances that have arcs; None where there are none.

    Grades and scores are (candidates,). Grades below 0 are moved up for NDCG, so that the lowest is 0.

    Examples
    --------
    >>> found = candidate_measures(np.array([1.0, 0.0, 2.0, 1.0, 0.0]), np.array([2.0, 1.0, 3.0, 1.0, 2.0]), [0, 2, 5])
    >>> found["ndcg_at_1"], found["zero_one_error"], round(found["disagreement_error"], 3)
    (1.0, 0.5, 0.167)
    """
    graphs = CandidateGraphs.from_grades(grades, ptr)
    rows = np.flatnonzero(graphs.arc_counts() > 0)
    if not len(rows):
        return dict.fromkeys(DESCRIPTIONS)
    lowest = min(0.0, float(np.nanmin(grades)))
    values: list[Any] = [ndcg_at(grades - lowest, scores, r, ptr=ptr) for r in CUTOFFS]
    for name in _ERRORS:
        decomposition = name.removesuffix("_error").replace("_", "-")
        values.append(generalized_error(graphs, scores, decomposition, reduce="none")[rows].mean())
    return {name: None if math.isnan(value) else float(value) for name, value in zip(DESCRIPTIONS, values, strict=True)}
