"""Rank positions from costs such as runtimes."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array

__all__ = ["rank_positions"]


def rank_positions(costs: Array) -> Array:
    """Return the positions of each row of costs, (n, k): 1 = lowest; equal costs tie; NaN = not judged.

    Examples
    --------
    >>> import numpy as np
    >>> rank_positions(np.array([[5.0, 0.1, 5.0, 7.0, np.nan]]))
    array([[ 2.,  1.,  2.,  4., nan]])
    """
    lower = costs[:, None, :] < costs[:, :, None]
    return np.where(np.isnan(costs), np.nan, 1.0 + lower.sum(axis=2))
