"""Explanations of scores that are not linear: each feature's part of a margin, by sampled Shapley values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, IntArray

__all__ = ["shapley_parts"]

ORDERS = 10
"""Orders of the features that are drawn, each of them used forwards and backwards."""


def shapley_parts(
    margin: Callable[[Any], Array], x: Any, baseline: Any, *, random_state: int = 0
) -> tuple[IntArray, Array, float]:
    """Return the features in which x differs from the baseline, their parts, and the margin of the baseline.

    From the baseline to x one feature after another takes its value in x, and the change of the margin is the part of
    that feature; parts are averaged over orders of the features (Štrumbelj & Kononenko 2014). Whatever the orders, the
    parts and the margin of the baseline sum to the margin of x.

    Parameters
    ----------
    margin : callable
        From rows, sparse if x is, to margins, (n,).
    x, baseline : (1, d) arrays, dense or sparse
        The instance, and what it is compared with.
    random_state : int
        Of the orders.
    """
    start, end = (row.toarray()[0] if sp.issparse(row) else np.asarray(row)[0] for row in (baseline, x))
    features = np.flatnonzero(start != end)
    parts = np.zeros(len(features))
    first = float(margin(_rows(start[None], sparse=sp.issparse(x)))[0])
    if not len(features):
        return features, parts, first
    random = np.random.default_rng(random_state)
    drawn = [random.permutation(len(features)) for _ in range(ORDERS)]
    orders = [order for one in drawn for order in (one, one[::-1])]  # antithetic pairs have a smaller variance
    for order in orders:
        path = np.tile(start, (len(order) + 1, 1))
        for step, place in enumerate(order, 1):
            path[step:, features[place]] = end[features[place]]
        parts[order] += np.diff(margin(_rows(path, sparse=sp.issparse(x))))
    return features, parts / len(orders), first


def _rows(rows: Array, *, sparse: bool) -> Any:
    return sp.csr_matrix(rows) if sparse else rows
