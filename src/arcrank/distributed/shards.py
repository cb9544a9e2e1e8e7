"""Shards: folders of memory-mapped CSR arrays with label sets, written by `write_shards`, read without copies.

A folder of shards holds `shards.json`, which names labels, features, and each file with its size and checksum, and for
each shard the files data, indices, indptr, set_ptr and set_label. The index is written last, so that a folder without
it was not finished. Pages of mapped files do not count as memory of the process: the system drops them when it needs
the space.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank.errors import FormatError, InputError
from arcrank.graphs import LayeredGraphs
from arcrank.graphs.base import label_array
from arcrank.io.atomic import write_atomically

__all__ = ["INDEX", "Shard", "ShardFolder", "write_corpus_shards", "write_shards"]

INDEX = "shards.json"
_FORMAT = "arcrank-shards-1"
_TYPES = {"data": "<f8", "indices": "<i4", "indptr": "<i8", "set_ptr": "<i8", "set_label": "<i4"}


@dataclass(frozen=True)
class Shard:
    """One shard of a folder: rows, stored values, and a checksum for each of its files."""

    name: str
    rows: int
    values: int
    files: dict[str, dict[str, Any]]


class ShardFolder:
    """A folder of shards.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from arcrank.distributed import ShardFolder, write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shards(folder, [(np.eye(2), [["tea"], ["milk"]])], labels=["milk", "tea"])
    ...     shards = ShardFolder(folder)
    ...     X, graphs = shards.read(0)
    ...     (shards.n_rows, shards.labels.tolist(), X.toarray().tolist(), graphs.levels().tolist())
    (2, ['milk', 'tea'], [[1.0, 0.0], [0.0, 1.0]], [[1, 0], [0, 1]])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        index = _read_index(self.folder)
        self.labels: NDArray[Any] = label_array(index["labels"])
        self.n_features = int(index["n_features"])
        self.feature_names: list[str] | None = index["feature_names"]
        self.shards = [Shard(**one) for one in index["shards"]]

    @property
    def n_rows(self) -> int:
        """The number of instances of all shards."""
        return sum(one.rows for one in self.shards)

    @property
    def n_values(self) -> int:
        """The number of stored feature values of all shards."""
        return sum(one.values for one in self.shards)

    def read(self, number: int) -> tuple[sp.csr_matrix, LayeredGraphs]:
        """Map one shard: features and label sets."""
        shard = self.shards[number]
        parts = {part: self._map(shard, part) for part in _TYPES}
        # SciPy's constructor would copy pointers of 64 bits to 32; the arrays are put in as they are.
        X = sp.csr_matrix((shard.rows, self.n_features), dtype=np.float64)
        X.data, X.indices, X.indptr = parts["data"], parts["indices"], parts["indptr"]
        top, rest = np.zeros(len(parts["set_label"]), dtype=np.int32), np.ones(shard.rows, dtype=np.int32)
        graphs = LayeredGraphs(parts["set_ptr"], parts["set_label"], top, rest, len(self.labels), self.labels)
        return X, graphs

    def _map(self, shard: Shard, part: str) -> NDArray[Any]:
        path, facts = self.folder / f"{shard.name}.{part}", shard.files[part]
        found = path.stat().st_size if path.is_file() else -1
        if found != facts["bytes"]:
            raise FormatError(
                f"{path}: the file has {max(found, 0):,} bytes where {facts['bytes']:,} were written. Convert again."
            )
        if not found:
            return np.zeros(0, dtype=_TYPES[part])
        return np.memmap(path, dtype=_TYPES[part], mode="r")

    def verify(self) -> None:
        """Raise a FormatError that names the first file whose checksum is not the one written."""
        for shard in self.shards:
            for part, facts in shard.files.items():
                path = self.folder / f"{shard.name}.{part}"
                with open(path, "rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != facts["sha256"]:
                        raise FormatError(f"{path}: the checksum is wrong, so the file is damaged. Convert again.")


def _read_index(folder: Path) -> dict[str, Any]:
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(
            f"{folder} is a folder without {INDEX}, so not one of finished shards. Give a file, or write shards with "
            "`arcrank data convert --to shards`."
        ) from None
    except ValueError as error:
        raise FormatError(f"{folder / INDEX}: the index cannot be read ({error}). Convert again.") from None
    if index.get("format") != _FORMAT:
        raise FormatError(f"{folder / INDEX}: the format is {index.get('format')!r}, and {_FORMAT!r} can be read.")
    return dict(index)


def write_shards(
    folder: str | os.PathLike[str],
    blocks: Iterable[tuple[Any, Any]],
    *,
    labels: list[str],
    n_features: int | None = None,
    feature_names: list[str] | None = None,
) -> None:
    """Write a shard for each block (X, label sets); a folder without an index was not finished.

    Parameters
    ----------
    folder : path
        It is created if it does not exist; it must not be one of shards already.
    blocks : iterable of (X, sets)
        Features, (n, d), and a list of label names for each row, or an (n, k) sparse indicator of the labels.
    labels : list of str
        All labels in column order.
    n_features : int, optional
        The number of columns; by default that of the widest block.
    feature_names : list of str, optional
        The names of the columns.

    Examples
    --------
    >>> import os, tempfile
    >>> from arcrank.distributed import write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shards(folder, [([[1.0, 0.0]], [["tea"]]), ([[0.0, 1.0]], [["milk"]])], labels=["milk", "tea"])
    ...     sorted(os.listdir(folder))[:2]
    ['shard-00000.data', 'shard-00000.indices']
    """
    root = Path(folder)
    if (root / INDEX).exists():
        raise InputError(f"{root}: there are shards already; give another folder.")
    root.mkdir(parents=True, exist_ok=True)
    number = {name: j for j, name in enumerate(labels)}
    shards: list[Shard] = []
    width = 0
    for features, sets in blocks:
        X = sp.csr_matrix(features, dtype=np.float64)
        X.sum_duplicates()
        width = max(width, X.shape[1])
        shards.append(_write_shard(root, f"shard-{len(shards):05}", X, *_numbered(sets, number)))
    index = {
        "format": _FORMAT,
        "labels": list(labels),
        "n_features": width if n_features is None else n_features,
        "feature_names": feature_names,
        "shards": [vars(one) for one in shards],
    }
    write_atomically(root / INDEX, [json.dumps(index).encode()])


def _numbered(sets: Any, number: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return pointers and label numbers, ascending within a row."""
    if sp.issparse(sets):
        indicator = sp.csr_matrix(sets)
        indicator.sort_indices()
        return indicator.indptr, indicator.indices
    unknown = next((name for names in sets for name in names if name not in number), None)
    if unknown is not None:
        raise InputError(f"The label {unknown!r} is not among the {len(number)} labels; name all labels in labels=.")
    rows = [sorted({number[name] for name in names}) for names in sets]
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return ptr, np.array([j for row in rows for j in row])


def _write_shard(root: Path, name: str, X: sp.csr_matrix, ptr: Any, label: Any) -> Shard:
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "set_ptr": ptr, "set_label": label}
    files = {}
    for part, values in parts.items():
        content = np.ascontiguousarray(values, dtype=_TYPES[part]).data.cast("B")
        write_atomically(root / f"{name}.{part}", [content])
        files[part] = {"bytes": content.nbytes, "sha256": hashlib.sha256(content).hexdigest()}
    return Shard(name, X.shape[0], int(X.nnz), files)


def write_corpus_shards(folder: str | os.PathLike[str], read: Callable[[], Iterable[Any]]) -> int:
    """Write blocks of corpora with features and label sets as shards; return the number of rows.

    `read` is called twice: the labels of all rows must be known before the first row is written.
    """
    labels: set[str] = set()
    names: list[str] | None = None
    rows = width = 0
    for block in read():
        if block.X is None or block.label_sets is None or block.ptr is not None:
            raise FormatError(f"{block.source}: shards hold features with label sets. Convert to .jsonl instead.")
        labels.update(name for one in block.label_sets for name in one)
        names, width, rows = block.feature_names, max(width, block.X.shape[1]), rows + len(block)
    parts = ((block.X, block.label_sets) for block in read() if len(block))
    write_shards(folder, parts, labels=sorted(labels), n_features=width, feature_names=names)
    return rows
