"""The documents of a stream in random order, in bounded memory.

Documents are distributed to temporary files at random, and each file is shuffled in memory, or distributed again if it
is still too large: every order is equally likely, however long the stream and whatever its order. A stream that fits
into memory does not use the disk. The files have no name, so nothing is left behind, not even after `kill -9`.
"""

from __future__ import annotations

import errno
import marshal
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import IO, Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import Corpus, labels_of
from arcrank.datasets.formats.svmlight import numeric_order

__all__ = ["shuffled", "shuffled_records"]

HELD_BYTES = 1 << 26
_FILES = 64
_BUFFER = 1 << 16
_FULL = (errno.ENOSPC, errno.EDQUOT)


def shuffled(
    blocks: Iterator[Corpus],
    random: np.random.Generator,
    *,
    batch_rows: int = 1000,
    labels: Sequence[str] | None = None,
) -> Iterator[Corpus]:
    """Read all blocks, then yield their documents in random order, in blocks of `batch_rows`.

    Each block's labels are those given, or all that the stream names. The first block counts all skipped rows. Ids of
    documents are dropped.
    """
    rows = _Rows(blocks)
    records = shuffled_records(rows.records(), random, HELD_BYTES)
    batch = list(islice(records, batch_rows))
    names = list(labels) if labels is not None else numeric_order(rows.labels)
    yield rows.block(batch, names, dict(rows.skipped))
    while batch := list(islice(records, batch_rows)):
        yield rows.block(batch, names, {})


class _Rows:
    """The rows of blocks as records, and records as blocks; it also collects what the rows have in common."""

    def __init__(self, blocks: Iterator[Corpus]) -> None:
        self.labels: set[str] = set()
        self.skipped: Counter[str] = Counter()
        self._blocks = blocks
        self._feature_names: list[str] | None = None
        self._width: int | None = None
        self._source = ""

    def records(self) -> Iterator[bytes]:
        """Yield each row as bytes that can be written to a file."""
        for block in self._blocks:
            self.skipped.update(block.skipped)
            self._source = block.source
            if block.X is not None:
                self._width, self._feature_names = int(block.X.shape[1]), block.feature_names
            for content, (kind, value) in zip(_contents(block), _preferences(block), strict=True):
                self.labels.update(labels_of(kind, value))
                plain = [tuple(vote) for vote in value] if kind == "votes" else value  # marshal knows no named tuples
                yield marshal.dumps((content, kind, plain))

    def block(self, records: list[bytes], labels: list[str], skipped: dict[str, int]) -> Corpus:
        """Return records as a corpus."""
        rows = [marshal.loads(record) for record in records]
        contents = [content for content, _, _ in rows]
        only_sets = all(kind == "labels" for _, kind, _ in rows)
        return Corpus(
            labels=labels,
            texts=contents if self._width is None else None,
            X=None if self._width is None else _matrix(contents, self._width),
            feature_names=self._feature_names,
            label_sets=[value for _, _, value in rows] if only_sets else None,
            preferences=None if only_sets else [(kind, value) for _, kind, value in rows],
            source=self._source,
            skipped=skipped,
        )


def _contents(block: Corpus) -> Iterator[Any]:
    """Texts, or the columns and values of each row as bytes."""
    block.refuse_table("an online learner")
    if block.texts is not None:
        yield from block.texts
        return
    X = csr_matrix(block.X)
    for i in range(len(block)):
        at = slice(X.indptr[i], X.indptr[i + 1])
        yield X.indices[at].astype(np.int64).tobytes(), X.data[at].astype(np.float64).tobytes()


def _preferences(block: Corpus) -> Iterator[tuple[str, Any]]:
    if block.preferences is not None:
        yield from block.preferences
    else:
        yield from (("labels", labels) for labels in block.label_sets or ())


def _matrix(contents: list[tuple[bytes, bytes]], width: int) -> csr_matrix:
    indices = np.frombuffer(b"".join(columns for columns, _ in contents), dtype=np.int64)
    values = np.frombuffer(b"".join(values for _, values in contents), dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum([len(columns) // 8 for columns, _ in contents], dtype=np.int64)])
    return csr_matrix((values.copy(), indices.copy(), indptr), shape=(len(contents), width))


def shuffled_records(records: Iterator[bytes], random: np.random.Generator, held_bytes: int) -> Iterator[bytes]:
    """Yield the records in random order, all orders being equally likely, with about `held_bytes` in memory."""
    held, whole = _take(records, held_bytes)
    if whole:
        yield from (held[i] for i in random.permutation(len(held)))
        return
    with _Files() as files:
        files.distribute(chain(held, records), random)
        held.clear()
        for part in files.parts():
            yield from shuffled_records(part, random, held_bytes)


def _take(records: Iterator[bytes], held_bytes: int) -> tuple[list[bytes], bool]:
    """Records of about `held_bytes`, and whether these are all."""
    held, size = [], 0
    for record in records:
        held.append(record)
        size += len(record)
        if size > held_bytes and len(held) > 1:  # a single record needs no shuffling, however long it is
            return held, False
    return held, True


class _Files:
    """Temporary files that records are distributed to; each is created for its first record."""

    def __init__(self) -> None:
        self._files: dict[int, IO[bytes]] = {}
        self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            with suppress(OSError):  # its buffer may not fit on the disk
                file.close()

    def distribute(self, records: Iterator[bytes], random: np.random.Generator) -> None:
        """Write each record to a file drawn at random."""
        try:
            for record in records:
                self._put(int(random.integers(_FILES)), record)
            for file in self._files.values():
                file.seek(0)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise OSError(error.errno, self._about_space()) from error

    def _put(self, number: int, record: bytes) -> None:
        if number not in self._files:
            self._files[number] = tempfile.TemporaryFile(buffering=_BUFFER)  # noqa: SIM115
        self._written += self._files[number].write(len(record).to_bytes(8, "little") + record)

    def parts(self) -> Iterator[Iterator[bytes]]:
        """The records of each file."""
        return (_read(self._files[number]) for number in sorted(self._files))

    def _about_space(self) -> str:
        return (
            f"No space left in {tempfile.gettempdir()} for shuffling the documents: {self._written:,} bytes were "
            "written, but the size of the decompressed file is needed. Set TMPDIR to a folder with more space, "
            "or shuffle the file yourself and pass shuffle=False"
        )


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while size := file.read(8):
        yield file.read(int.from_bytes(size, "little"))
