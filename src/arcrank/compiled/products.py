"""Products of CSR features with weights and with flows, for some rows at a time.

Sums run in the order of the rows and features, as SciPy's do, so that blocks of rows give the same bits as all of them.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.rows import add_columns, add_row, score_row

_FEW = 4
"""Where fewer than 1/4 of the flows of an instance are not 0, a loop over those is faster than one over all labels."""


@kernel
def score_rows(start, indptr, indices, data, W, scores):
    """Set scores, (m, k), to X[start : start + m] W."""
    for i in range(len(scores)):
        score_row(indptr, indices, data, W, start + i, scores[i])


@kernel
def add_flows(start, indptr, indices, data, flow, total):
    """Add X[start : start + m]' flow to total, (d, k)."""
    k = total.shape[1]
    moved, net = np.empty(k, np.int64), np.empty(k)
    for i in range(len(flow)):
        n = 0
        for j in range(k):
            if flow[i, j] != 0.0:
                moved[n], net[n] = j, flow[i, j]
                n += 1
        if _FEW * n < k:
            add_columns(indptr, indices, data, total, start + i, moved, net, n)
        else:
            add_row(indptr, indices, data, total, start + i, flow[i])
