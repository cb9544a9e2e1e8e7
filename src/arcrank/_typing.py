"""Types of arrays that many modules name in their signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "IntArray", "Mask"]

Array = NDArray[np.float64]
"""Scores, weights, features: whatever is computed with."""

IntArray = NDArray[np.integer[Any]]
"""Numbers of rows, labels or arcs, of any width."""

Mask = NDArray[np.bool_]
"""Which rows, labels or entries are meant."""
