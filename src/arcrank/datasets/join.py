"""Join blocks into one corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import Corpus

__all__ = ["join"]


def join(blocks: list[Corpus], order: Callable[[Iterable[str]], list[str]] = sorted) -> Corpus:
    """Return the rows of all blocks as one corpus; at least one block.

    Labels are those of the blocks if all agree, else their union in the given order. X is as wide as the widest block:
    later blocks of a file know at least the columns of earlier ones.
    """
    if len(blocks) == 1:
        return blocks[0]
    last = blocks[-1]
    return Corpus(
        labels=_labels(blocks, order),
        texts=_chain([b.texts for b in blocks]),
        X=None if last.X is None else _stack([b.X for b in blocks]),
        table=None if last.table is None else _join_tables([b.table or {} for b in blocks]),
        label_sets=None if last.ptr is not None else _label_sets(blocks),
        preferences=None if last.ptr is not None else _preferences(blocks),
        ptr=None if last.ptr is None else _pointer(blocks),
        grades=None if last.grades is None else np.concatenate([b.grades for b in blocks if b.grades is not None]),
        ids=_ids(blocks),
        feature_names=last.feature_names,
        source=last.source,
        skipped=dict(sum((Counter(b.skipped) for b in blocks), Counter())),
    )


def _labels(blocks: list[Corpus], order: Callable[[Iterable[str]], list[str]]) -> list[str]:
    first = blocks[0].labels
    if all(b.labels == first for b in blocks):
        return first
    return order({label for b in blocks for label in b.labels})


def _label_sets(blocks: list[Corpus]) -> list[list[str]] | None:
    """Chain the label sets, unless some block holds other kinds of preferences."""
    return _chain([b.label_sets for b in blocks]) if all(b.label_sets is not None for b in blocks) else None


def _preferences(blocks: list[Corpus]) -> list[tuple[str, Any]] | None:
    if all(b.preferences is None for b in blocks):
        return None
    return [row for b in blocks for row in (b.preferences or [("labels", names) for names in b.label_sets or []])]


def _pointer(blocks: list[Corpus]) -> Any:
    sizes = np.concatenate([np.diff(b.ptr) for b in blocks if b.ptr is not None])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ids(blocks: list[Corpus]) -> list[str | None] | None:
    if all(b.ids is None for b in blocks):
        return None
    return [name for b in blocks for name in (b.ids or [None] * len(b))]


def _chain(parts: list[list[Any] | None]) -> list[Any] | None:
    return None if parts[-1] is None else [row for part in parts for row in part or []]


def _join_tables(parts: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """Blocks of one file have the same columns; a block of skipped rows only may have none."""
    names = next((list(part) for part in parts if part), [])
    return {name: [value for part in parts for value in part.get(name, [])] for name in names}


def _stack(parts: list[csr_matrix]) -> csr_matrix:
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    shape = (len(sizes), max(part.shape[1] for part in parts))
    indices = np.concatenate([part.indices for part in parts])
    return csr_matrix((np.concatenate([part.data for part in parts]), indices, indptr), shape=shape)
