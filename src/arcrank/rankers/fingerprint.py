"""Whether two fits have the same data."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.graphs import ArcGraphs, CandidateGraphs, LayeredGraphs, PreferenceGraphs

__all__ = ["fingerprint"]


def fingerprint(X: Any, graphs: PreferenceGraphs, weight: Array) -> str:
    """Identifies the problem, so that a warm start is used on the same one only."""
    digest = hashlib.blake2b(repr((X.shape, graphs.shape, type(graphs))).encode())
    parts = [X.data, X.indices, X.indptr] if sp.issparse(X) else [np.ascontiguousarray(X)]
    if isinstance(graphs, CandidateGraphs):
        parts, graphs = [*parts, graphs.ptr], graphs.graphs
    if isinstance(graphs, LayeredGraphs):
        parts += [graphs.ptr, graphs.label, graphs.level, graphs.rest]
    if isinstance(graphs, ArcGraphs):
        parts += [graphs.arc_ptr, graphs.head, graphs.tail, np.ones(1) if graphs.weight is None else graphs.weight]
    for part in [*parts, weight]:
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
