"""Partitions from what users have: Dask collections, delayed blocks, or a folder of files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arcrank.distributed.raw import RawPartition
from arcrank.distributed.shards import INDEX, ShardFolder
from arcrank.errors import InputError

__all__ = ["as_sources", "map_shard", "read_shard", "shards_of"]

_KINDS = (
    "dask.array, dask.dataframe, dask.bag, a list of delayed (X, y) or (X, y, weight), or the path of a folder of "
    "shards"
)


def as_sources(X: Any, y: Any = None, sample_weight: Any = None, *, relevance: bool = False) -> list[Any]:
    """Return a delayed `RawPartition` for each partition of the training data; with `relevance`, y is that of rows."""
    from dask import delayed

    if isinstance(X, str | os.PathLike):
        _refuse_y(y, sample_weight, "A folder of shards")
        if (Path(X) / INDEX).exists():
            return [delayed(map_shard)(str(X), number, relevance) for number in range(len(ShardFolder(X).shards))]
        return [delayed(read_shard)(str(path), relevance) for path in shards_of(X)]
    if isinstance(X, list | tuple) and X and all(_is_delayed(one) for one in X):
        _refuse_y(y, sample_weight, "A list of delayed blocks")
        return [delayed(_of_block)(one, number) for number, one in enumerate(X)]
    if hasattr(X, "to_textfiles") and hasattr(X, "to_delayed"):
        _refuse_y(y, sample_weight, "A bag of rows")
        return [delayed(_of_rows)(one, number, relevance) for number, one in enumerate(X.to_delayed())]
    if not hasattr(X, "to_delayed"):
        raise InputError(f"X must be {_KINDS}; got {type(X).__name__}.")
    return _of_collections(X, y, sample_weight)


def shards_of(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the data files of a folder in the order of their names."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder; give the path of a folder with a file for each partition.")
    found = sorted(path for path in root.iterdir() if not path.name.startswith((".", "_")))
    if not found:
        raise InputError(f"{root}: the folder is empty; put .svmlight, .jsonl or .parquet files into it.")
    return found


def map_shard(folder: str, number: int, relevance: bool = False) -> RawPartition:
    """Map one shard of a folder that `arcrank data convert` wrote."""
    shards = ShardFolder(folder)
    if relevance:
        raise InputError(f"{folder}: shards hold label sets; for relevance give .svmlight, .jsonl or .parquet files.")
    X, graphs = shards.read(number)
    names = shards.feature_names
    sets = [frozenset(shards.labels[labels].tolist()) for labels in np.split(graphs.label, graphs.ptr[1:-1])]
    return RawPartition(X, sets if len(graphs) else [], None, f"{folder}: {shards.shards[number].name}", names)


def read_shard(path: str, relevance: bool = False) -> RawPartition:
    """Read one file with features, as `read_corpus` does it; errors name the file and the line.

    A file without any byte is an empty partition. Files with `qid` hold the candidates of whole queries.
    """
    from arcrank.datasets import read_corpus

    if os.path.getsize(path) == 0:
        return RawPartition(None, None, source=path)
    return _of_corpus(read_corpus(path), path, relevance)


def _of_corpus(corpus: Any, source: str, relevance: bool) -> RawPartition:
    if corpus.texts is not None:
        raise InputError(
            f"{source} holds texts, and features are needed. Fit TextFeatures, and give the features as shards."
        )
    corpus.refuse_table("a cluster")
    if relevance:
        return RawPartition(corpus.X, corpus.relevance(), source=source, names=corpus.feature_names)
    if corpus.ptr is not None:
        from arcrank.rankers.candidates import CandidateSets

        sets = CandidateSets(corpus.X, corpus.ptr)
        return RawPartition(sets, corpus.grades, source=source, queries=corpus.ids)
    y = corpus.graphs() if corpus.label_sets is None else [frozenset(names) for names in corpus.label_sets]
    return RawPartition(corpus.X, y, source=source, names=corpus.feature_names)


def _of_rows(rows: Sequence[Any], number: int, relevance: bool) -> RawPartition:
    """A partition of a bag: objects as the lines of a JSON lines file, {"features": {...}, "labels": [...]}."""
    from arcrank._wording import as_json
    from arcrank.datasets import read_corpus

    name = f"partition {number}"
    lines = b"".join(as_json(row).encode() + b"\n" for row in rows)
    if not lines:
        return RawPartition(None, None, source=name)
    stream = io.BytesIO(lines)
    stream.name = name
    return _of_corpus(read_corpus(stream, "jsonl"), name, relevance)


def _of_block(block: Any, number: int) -> RawPartition:
    if isinstance(block, RawPartition):
        return block
    if not isinstance(block, tuple) or len(block) not in (2, 3):
        raise InputError(f"Partition {number} is {type(block).__name__}; a delayed block is (X, y) or (X, y, weight).")
    X, y, weight = block if len(block) == 3 else (*block, None)
    return RawPartition(X, y, weight, f"partition {number}")


def _of_parts(X: Any, y: Any, weight: Any, number: int) -> RawPartition:
    if hasattr(X, "columns"):
        X = X.to_numpy(dtype=np.float64)
    if hasattr(y, "to_numpy") and getattr(y, "ndim", 1) == 1:
        y = y.to_numpy()
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind not in "biuf":
        y = list(y)
    return RawPartition(X, y, None if weight is None else np.asarray(weight), f"partition {number}")


def _of_collections(X: Any, y: Any, weight: Any) -> list[Any]:
    from dask import delayed

    if y is None:
        raise InputError("y is missing: give a Dask collection with as many partitions as X.")
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
    parts = _blocks_of(X)
    others = [None if one is None else _blocks_of(_rows_as(one, X)) for one in (y, weight)]
    for name, one in zip(("y", "sample_weight"), others, strict=True):
        if one is not None and len(one) != len(parts):
            raise InputError(f"X has {len(parts)} partitions and {name} {len(one)}; give both the same partitions.")
    return [
        delayed(_of_parts)(part, *(None if one is None else one[number] for one in others), number)
        for number, part in enumerate(parts)
    ]


def _rows_as(other: Any, X: Any) -> Any:
    """Give an array the chunks of rows that X has."""
    if not hasattr(other, "to_delayed"):
        raise InputError(f"y and sample_weight must be Dask collections as X is; got {type(other).__name__}.")
    if not hasattr(other, "rechunk") or not hasattr(X, "rechunk"):
        return other
    return other.rechunk({0: X.chunks[0]} | ({1: -1} if other.ndim == 2 else {}))


def _blocks_of(collection: Any) -> list[Any]:
    return list(np.asarray(collection.to_delayed(), dtype=object).ravel())


def _is_delayed(one: Any) -> bool:
    from dask.delayed import Delayed

    from distributed import Future

    return isinstance(one, Delayed | Future)


def _refuse_y(y: Any, weight: Any, what: str) -> None:
    if y is not None or weight is not None:
        raise InputError(f"{what} holds preferences and weights itself; leave out y and sample_weight.")
