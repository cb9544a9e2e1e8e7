"""Data in blocks: of a corpus, of a stream of corpora, or of X and y."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from arcrank.datasets.corpus import Corpus
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import insert_cut, mentions_cut, plain_labels, without_cut
from arcrank.graphs.kinds import MATRIX_KINDS, check_later
from arcrank.rankers.candidates import refuse_candidates
from arcrank.rankers.out_of_fold import judgements

__all__ = ["Data", "Rows", "blocks_of"]

_BLOCK, _CELLS = 2048, 1 << 23  # rows, and scores, in memory at a time
Data = Any
"""A Corpus, an iterable of Corpus blocks, or X."""


@dataclass
class Rows:
    """Rows of X with their supervision, like a block of a corpus."""

    X: Any
    preferences: list[tuple[str, Any]]
    over_leaves: bool
    """Whether the labels are those of the ranker even if the model has a hierarchy, as in graphs."""
    texts: list[str] | None = None
    ids: list[str | None] | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    source: str = ""

    def __len__(self) -> int:
        return len(self.preferences)


def blocks_of(data: Data, y: Any, ranker: Any) -> Iterator[Corpus | Rows]:
    """The data in blocks whose scores fit into memory; `ranker` determines what kind of supervision y is."""
    if isinstance(data, Corpus):
        _refuse_y(y)
        step = _rows_at_a_time(ranker)
        return (data[start : start + step] for start in range(0, len(data), step))
    if y is None:
        return _corpora(data)
    refuse_candidates(data, "evaluate")
    return _row_blocks(data, _graphs(y, ranker), y, ranker)


def _rows_at_a_time(ranker: Any) -> int:
    return max(16, min(_BLOCK, _CELLS // max(1, len(ranker.labels_))))


def _refuse_y(y: Any) -> None:
    if y is not None:
        raise InputError("A corpus holds its own supervision, so y must be None; got both.")


def _corpora(data: Iterable[Any]) -> Iterator[Corpus]:
    if hasattr(data, "shape") or not isinstance(data, Iterable):
        raise InputError(f"Got {type(data).__name__} without y; pass y too, or a Corpus, which holds its labels.")
    for block in data:
        if not isinstance(block, Corpus):
            raise InputError(
                f"Got a collection of {type(block).__name__} without y; pass y too, or a Corpus, or blocks as "
                "`iter_corpus` yields them."
            )
        yield block


def _graphs(y: Any, ranker: Any) -> PreferenceGraphs:
    """Graphs with names; they may have labels that the ranker does not know. CUT comes first if they mention it."""
    graphs = y if isinstance(y, PreferenceGraphs) else _built(y, ranker)
    if mentions_cut(graphs):
        return insert_cut(graphs)
    return align_labels(graphs, ranker.labels_).with_labels(ranker.labels_) if graphs.labels is None else graphs


def _built(y: Any, ranker: Any) -> PreferenceGraphs:
    kind = None if ranker._kind == "graphs" else ranker._kind
    if kind is not None:
        check_later(y, kind, ranker.labels_)
    return as_graphs(y, kind=kind, labels=ranker.labels_ if kind in MATRIX_KINDS else None)


def _row_blocks(X: Any, graphs: PreferenceGraphs, y: Any, ranker: Any) -> Iterator[Rows]:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n != len(graphs):
        raise InputError(f"X has {n:,} instances and y has {len(graphs):,}; give one entry of y for each instance.")
    # names are strings; equal labels of different types, such as 1 and 1.0, share a name
    name_of = {label: str(label) for label in ranker.labels_.tolist()}
    has_cut = mentions_cut(graphs)
    names = np.array([name_of.get(label, str(label)) for label in plain_labels(graphs).tolist()], dtype=object)
    is_sets = _are_label_sets(graphs)
    step = _rows_at_a_time(ranker)
    for start in range(0, n, step):
        chosen = np.arange(start, min(n, start + step))
        part = _safe_indexing(X, chosen)
        texts = list(part) if isinstance(part[0] if isinstance(part, list) else None, str) else None
        rows = _by_cut(graphs[chosen], names) if has_cut else _named(graphs[chosen], names, is_sets=is_sets)
        yield Rows(part, rows, isinstance(y, PreferenceGraphs), texts)


def _are_label_sets(graphs: PreferenceGraphs) -> bool:
    """Whether every label of every instance is in one of two layers: relevant or not."""
    if not isinstance(graphs, LayeredGraphs):
        return False
    levels = np.concatenate([graphs.rest, graphs.level])
    return bool(np.isin(levels, (0, 1)).all())


def _by_cut(graphs: PreferenceGraphs, names: NDArray[Any]) -> list[tuple[str, Any]]:
    """The supervision of graphs that mention CUT: a label set where they say no more than what is above the cut."""
    judged, relevant = judgements(graphs)
    plain = without_cut(graphs)
    found = _named(plain, names, is_sets=False)
    for i in np.flatnonzero(judged.all(axis=1)):
        heads, tails = plain.arcs(int(i))
        if (relevant[i, heads] & ~relevant[i, tails]).all():
            found[i] = ("labels", names[relevant[i]].tolist())
    return found


def _named(graphs: PreferenceGraphs, names: NDArray[Any], *, is_sets: bool) -> list[tuple[str, Any]]:
    """The supervision of each instance as (kind, value), the form of `Corpus.preferences`."""
    if not isinstance(graphs, LayeredGraphs):
        arcs = (graphs.arcs(i) for i in range(len(graphs)))
        return [("arcs", list(zip(names[heads], names[tails], strict=True))) for heads, tails in arcs]
    if is_sets:
        relevant = graphs.to_indicator()  # sparse, since labels may be very many
        rows = (relevant.indices[a:b] for a, b in pairwise(relevant.indptr.tolist()))
        return [("labels", names[np.sort(row)].tolist()) for row in rows]
    levels = graphs.levels()
    return [("layers", [names[row == b].tolist() for b in np.unique(row[row >= 0])]) for row in levels]
