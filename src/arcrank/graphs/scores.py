"""Scores of labels as preference graphs whose arcs are weighted by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arcrank.errors import InputError, ParameterError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, check_labels, row_blocks
from arcrank.graphs.layers import LayeredGraphs

__all__ = ["from_scores"]


def from_scores(
    scores: ArrayLike, labels: Any = None, *, better: str = "higher", margin: str = "binary"
) -> PreferenceGraphs:
    """Preference graphs of a table of scores, such as runtimes or qualities of answers.

    Parameters
    ----------
    scores : (n, k) array
        The score of each label for each instance; NaN = not judged. Equal scores mean no preference.
    labels : sequence of names, optional
        The names of the columns.
    better : {"higher", "lower"}
        Which scores are better.
    margin : {"binary", "difference"}
        "binary": layered graphs that say which label is better. "difference": arcs that are weighted by the difference
        of the scores, to be learnt with `arc_weights="count"`, so that large differences count more.

    Examples
    --------
    >>> from arcrank.graphs import from_scores
    >>> from_scores([[3.0, 1.0, 1.0]], margin="difference").weight.tolist()
    [2.0, 2.0]
    >>> from_scores([[3.0, 1.0, 1.0]], better="lower").levels().tolist()
    [[1, 0, 0]]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"scores must have a row for each instance and a column for each label, got {values.shape}.")
    if np.isinf(values).any():
        raise InputError("scores holds infinite values; replace them, or use NaN for labels that were not judged.")
    if better not in ("higher", "lower") or margin not in ("binary", "difference"):
        raise ParameterError(
            f"better must be 'higher' or 'lower' and margin 'binary' or 'difference'; got {better!r} and {margin!r}."
        )
    values = values if better == "higher" else -values
    if margin == "binary":
        return LayeredGraphs.from_grades(values, labels=labels)
    return _weighted(values, labels)


def _weighted(values: Any, labels: Any) -> ArcGraphs:
    n, k = values.shape
    rows, heads, tails, weights = [], [], [], []
    for block in row_blocks(n, k * k):
        part = values[block]
        difference = np.nan_to_num(part[:, :, None] - part[:, None, :], nan=0.0)
        row, head, tail = np.nonzero(difference > 0)
        rows.append(row + block.start)
        heads.append(head)
        tails.append(tail)
        weights.append(difference[row, head, tail])
    ptr = np.concatenate([[0], np.cumsum(np.bincount(np.concatenate(rows), minlength=n))])
    head, tail, weight = (np.concatenate(part) for part in (heads, tails, weights))
    return ArcGraphs(ptr, head, tail, weight, k, check_labels(labels, k))
