"""Label sets of new documents over the labels of a model, which may not know all of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import IntArray
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.base import shorten
from arcrank.graphs.kinds import check_later, detect_kind, unwrap

__all__ = ["Relevance", "read_relevance"]

_SET_KINDS = ("single", "sets", "indicator")


class Relevance(NamedTuple):
    """The relevant labels of n documents.

    relevant : (n, k) boolean CSR over the labels of the model
    unknown : (n,) how many relevant labels the model does not know
    form : "dense", "sparse" or "names", in which sets are predicted
    """

    relevant: Any
    unknown: IntArray
    form: str


def read_relevance(y: Any, labels: NDArray[Any]) -> Relevance:
    """Read label sets of any form over the labels of a model; labels that it does not know are counted.

    Examples
    --------
    >>> import numpy as np
    >>> found = read_relevance([["tea"], ["milk", "water", "wine"]], np.array(["milk", "tea"]))
    >>> found.relevant.toarray().astype(int).tolist(), found.unknown.tolist(), found.form
    ([[0, 1], [1, 0]], [0, 2], 'names')
    """
    if isinstance(y, PreferenceGraphs):
        graphs, form = y, "names"
    else:
        # what y leaves open, as two names for each document, can only be label sets here
        kind = detect_kind(unwrap(y), None if labels.dtype.kind in "biuf" else "sets")
        graphs = _graphs_of(y, kind, labels)
        form = "names" if kind != "indicator" else "sparse" if sp.issparse(y) else "dense"
    if not isinstance(graphs, LayeredGraphs):
        raise InputError(f"Calibration needs label sets, got {graphs!r}; see as_graphs for how to write them.")
    if graphs.labels is None:
        graphs = align_labels(graphs, labels)
        assert isinstance(graphs, LayeredGraphs)
    given = labels if graphs.labels is None else graphs.labels
    return Relevance(*_match(graphs.to_indicator(), given, labels), form)


def _graphs_of(y: Any, kind: str, labels: NDArray[Any]) -> PreferenceGraphs:
    if kind not in _SET_KINDS:
        raise InputError(
            "Calibration needs label sets (an indicator matrix, lists of names, or one label for each document), "
            f"and this y is of the kind {kind!r}; see as_graphs for how to write label sets."
        )
    if kind == "indicator":
        check_later(y, kind, labels)
        return as_graphs(y, kind=kind, labels=labels)
    # the names of y, so that those which the model does not know can be counted
    is_empty = kind == "sets" and not any(len(one) for one in unwrap(y))
    return as_graphs(y, kind=kind, labels=labels if is_empty else None)


def _match(indicator: Any, given: NDArray[Any], labels: NDArray[Any]) -> tuple[Any, IntArray]:
    """The relevant labels by the columns of `labels`, and how many are not among these in each document."""
    number = {name: j for j, name in enumerate(labels.tolist())}
    columns = np.array([number.get(name, -1) for name in given.tolist()], dtype=np.int64)
    entries = indicator.tocoo()
    column = columns[entries.col]
    known = column >= 0
    if len(known) and not known.any():
        raise InputError(
            f"The model knows none of the labels of y ({shorten(given.tolist())}); its labels are "
            f"{shorten(labels.tolist())}. If it was fitted on an indicator matrix, pass y as one."
        )
    n = indicator.shape[0]
    cells = np.ones(int(known.sum()), dtype=bool), (entries.row[known], column[known])
    return sp.csr_matrix(cells, shape=(n, len(labels))), np.bincount(entries.row[~known], minlength=n)
