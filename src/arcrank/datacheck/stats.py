"""One pass over a file before training: what is in it, in memory that grows with labels and a few bytes per row."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import labels_of
from arcrank.datasets.order import LabelOrder, best_labels
from arcrank.datasets.supervision import as_arcs, row_preferences
from arcrank.training.estimate import ResourceEstimate, estimate_resources

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["CorpusStats", "corpus_stats"]

_SAMPLED = 2000


@dataclass
class CorpusStats:
    """Counts of one file. Rows are numbered from 1, without those that could not be read."""

    path: str
    n_rows: int = 0
    n_characters: int = 0
    n_features: int = 0
    n_values: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    """How many rows name each label."""
    without_labels: list[int] = field(default_factory=list)
    without_content: list[int] = field(default_factory=list)
    documents: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)
    """The first row of every document, by what it holds, with what was said about its labels."""
    duplicates: int = 0
    duplicates_that_differ: list[tuple[int, int]] = field(default_factory=list)
    contradicting_rows: list[int] = field(default_factory=list)
    arcs: Counter[tuple[str, str]] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    order: LabelOrder = field(default_factory=LabelOrder)
    warnings: list[Warning] = field(default_factory=list)
    """What its reader warned of."""
    first_error: str = ""
    """What is wrong with the first row that could not be read, and what to do, on the lines below."""
    _resources: dict[int | None, ResourceEstimate] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether the documents are texts."""
        return self.n_characters > 0 or not self.n_values

    def resources(self, n_labels: int | None = None) -> ResourceEstimate:
        """What one fit on these data needs; `n_labels` where they are not those of the data. It is computed once."""
        if n_labels not in self._resources:
            self._resources[n_labels] = estimate_resources(self, n_labels)
        return self._resources[n_labels]


def corpus_stats(path: str, blocks: Iterator[Corpus]) -> CorpusStats:
    """Go through the blocks of a file."""
    found = CorpusStats(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for block in blocks:
            _add_block(found, block)
    found.warnings = [one.message for one in caught if isinstance(one.message, Warning)]
    return found


def _add_block(found: CorpusStats, block: Corpus) -> None:
    found.skipped.update(block.skipped)
    for content, (kind, value) in zip(_contents(block), _supervision(block), strict=True):
        found.n_rows += 1
        said = repr((kind, value)).encode()
        _add_content(found, content, None if kind == "votes" else said)
        _add_labels(found, kind, value)
    if block.table is not None:
        found.n_values += sum(cell is not None for cells in block.table.values() for cell in cells)
        found.n_features = max(found.n_features, len(block.table))
    if block.X is not None:
        found.n_values += int(csr_matrix(block.X).nnz)
        found.n_features = max(found.n_features, block.X.shape[1])


def _contents(block: Corpus) -> Iterator[str | list[tuple[Any, Any]]]:
    """Texts, or features as sorted (name or number, value): the same in whatever column a file has put them."""
    if block.texts is not None:
        yield from block.texts
        return
    if block.table is not None:
        for cells in zip(*block.table.values(), strict=True):
            yield sorted((name, cell) for name, cell in zip(block.table, cells, strict=True) if cell is not None)
        return
    names, X = block.feature_names, csr_matrix(block.X)
    for i in range(len(block)):
        at = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[at].tolist(), X.data[at].tolist()
        yield sorted((names[j] if names else str(j), v) for j, v in zip(columns, values, strict=True) if v)


def _supervision(block: Corpus) -> list[tuple[str, Any]]:
    """The preferences of each row; the order within a label set says nothing."""
    if block.grades is not None:
        return [("grades", [])] * len(block)
    rows = row_preferences(block)
    return [(kind, sorted(value) if kind == "labels" else value) for kind, value in rows]


def _add_content(found: CorpusStats, content: str | list[tuple[Any, Any]], said: bytes | None) -> None:
    """Note a document, and whether it occurred before; said is None for votes, of which a document may have many."""
    plain = " ".join(content.split()).casefold() if isinstance(content, str) else repr(content) if content else ""
    if isinstance(content, str):
        found.n_characters += len(content)
        if len(found.sample) < _SAMPLED:
            found.sample.append(content)
    if not plain:
        found.without_content.append(found.n_rows)
        return
    if said is None:
        found.documents.setdefault(_digest(plain.encode()), (found.n_rows, b""))
        return
    key, digest = _digest(plain.encode()), _digest(said)
    first = found.documents.setdefault(key, (found.n_rows, digest))
    if first[0] != found.n_rows:
        found.duplicates += 1
        if first[1] != digest:
            found.duplicates_that_differ.append((first[0], found.n_rows))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=12).digest()


def _add_labels(found: CorpusStats, kind: str, value: Any) -> None:
    found.kinds[kind] += 1
    names = set(labels_of(kind, value))
    kind, value = as_arcs(kind, value)
    found.labels.update(names)
    found.order.add(best_labels(kind, value))
    if not names or (kind == "layers" and len(value) < 2):
        found.without_labels.append(found.n_rows)
    if kind == "arcs":
        arcs = {tuple(arc) for arc in value}
        found.arcs.update(arcs)
        if any((tail, head) in arcs for head, tail in arcs):
            found.contradicting_rows.append(found.n_rows)
