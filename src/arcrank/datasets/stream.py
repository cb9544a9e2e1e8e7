"""Learn from a file of any size in constant memory: pass blocks of `iter_corpus` to `partial_fit`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.order import LabelOrder
from arcrank.datasets.read import Source, TableOptions, iter_corpus
from arcrank.datasets.shuffle import shuffled
from arcrank.errors import FormatError, ParameterError
from arcrank.text.encoder import hashed_columns

if TYPE_CHECKING:
    from arcrank.text import HashedTextFeatures

__all__ = ["StreamReport", "hashed_features", "learn_stream"]


class StreamReport(NamedTuple):
    """The number of documents, the rows that could not be read, the time taken, and why rows were skipped.

    `order` says whether the file is sorted or grouped by label: `order.in_runs`.

    Examples
    --------
    >>> import io
    >>> from arcrank import MMPRanker
    >>> from arcrank.datasets import learn_stream
    >>> rows = b"tea 1:1" + bytes([10]) + b"milk 2:x" + bytes([10]) + b"milk 2:1"
    >>> report = learn_stream(MMPRanker(), io.BytesIO(rows), "svmlight", on_error="skip")
    >>> report.documents, report.skipped, report.seconds > 0, sum(report.reasons.values()), report.order.in_runs
    (2, 1, True, 1, False)
    """

    documents: int
    skipped: int
    seconds: float
    reasons: dict[str, int]
    order: LabelOrder


def learn_stream(
    ranker: Any,
    source: Source,
    format: str | None = None,
    *,
    features: HashedTextFeatures | None = None,
    labels: Sequence[str] | None = None,
    batch_rows: int = 1000,
    on_error: str = "raise",
    shuffle: bool = False,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | Callable[[int], None] | None = None,
    **table: Unpack[TableOptions],
) -> StreamReport:
    """Train an online ranker on every document of a file, holding one block of them at a time.

    Memory is that of the weights, `features.n_features` x labels x 8 bytes, and of one block; shuffling takes about 100
    MB more, and temporary files as large as the decompressed file.

    Parameters
    ----------
    ranker : estimator with partial_fit
        Training continues from its current state; new labels of the file are appended to its labels.
    source, format, on_error, batch_rows
        As in `iter_corpus`: JSONL with texts or named features, svmlight, CSV, ...
    features : HashedTextFeatures
        How texts become columns, by default 2^18 of them; it must be the same for learning and for scoring. Named
        features are hashed to as many columns; numbered ones are taken modulo that number.
    labels : list of str
        All labels, in order; a row with another one is an error. Without it, labels are added as they occur, and the
        weights of a new label start at zero.
    shuffle : bool
        Learn the documents in random order, whatever the order of the file; all labels are then known from the start.
        An online ranker that sees one label after the other, as in a file sorted by class, forgets the first ones.
    random_state : int, Generator or None
        Seed of the order; None gives another order each time.
    progress : bool or callable
        Whether to show documents and documents/s on stderr; None does so on a terminal. A callable is given the number
        of documents learnt so far.
    **table
        `delimiter`, `text_column`, `label_column` and `label_separator`, as in `iter_corpus`.

    Examples
    --------
    >>> import io
    >>> from arcrank.rankers.online.mmp import MMPRanker
    >>> from arcrank.text import HashedTextFeatures
    >>> rows = b'{"text": "crude oil", "labels": ["crude"]}' + bytes([10]) + b'{"text": "a tanker", "labels": ["ship"]}'
    >>> ranker = MMPRanker()
    >>> learn_stream(ranker, io.BytesIO(rows), "jsonl", features=(words := HashedTextFeatures(n_features=64))).documents
    2
    >>> ranker.rank(words.transform(["oil"]), top=1).tolist()
    [['crude']]
    """
    if not hasattr(ranker, "partial_fit"):
        raise ParameterError(f"{type(ranker).__name__} has no partial_fit; give an online ranker, e.g. MMPRanker.")
    from arcrank.text import HashedTextFeatures

    features = HashedTextFeatures(n_features=2**18) if features is None else features
    order = LabelOrder()
    read = iter_corpus(source, format, batch_rows=batch_rows, labels=labels, on_error=on_error, **table)
    blocks = _watched(read, order)
    if shuffle:
        blocks = shuffled(blocks, np.random.default_rng(random_state), batch_rows=batch_rows, labels=labels)
    line, documents, reasons = _ProgressLine(progress), 0, Counter[str]()
    for block in blocks:
        reasons.update(block.skipped)
        if len(block):
            _learn_block(ranker, block, features, block.labels if shuffle else labels)
            documents += len(block)
            line.show(documents)
    return StreamReport(documents, reasons.total(), line.finish(documents), dict(reasons), order)


class CandidatesFoundError(FormatError):
    """The file holds queries with candidates, which are learnt from memory."""


def _watched(blocks: Iterator[Corpus], order: LabelOrder) -> Iterator[Corpus]:
    """Pass the blocks on, and record the order of their labels."""
    for block in blocks:
        if block.ptr is not None:
            raise CandidatesFoundError(
                f"{block.source}: queries with candidates have no labels to rank; this learns label rankers."
            )
        order.add_block(block)
        yield block


def _learn_block(ranker: Any, block: Corpus, features: HashedTextFeatures, labels: Sequence[str] | None) -> None:
    y = _supervision(ranker, block)
    known = hasattr(ranker, "labels_")
    # Graphs contain their labels; a matrix and the first label sets need them as an argument.
    names = None if known or hasattr(y, "n_arcs") else block.labels if block.ranks is not None else labels
    more = {} if names is None else {"labels": names}
    ranker.partial_fit(hashed_features(block, features), y, **more)


def _supervision(ranker: Any, block: Corpus) -> Any:
    """Label sets or ranks unchanged; mixed preferences as graphs over the known labels and then the new ones."""
    if block.ranks is not None:
        return block.ranks
    if block.label_sets is not None and getattr(ranker, "_kind", "sets") != "graphs":
        return [frozenset(names) for names in block.label_sets]  # lists of two names would be taken for arcs
    known = ranker.labels_.tolist() if hasattr(ranker, "labels_") else []
    seen = set(known)
    return replace(block, labels=known + [name for name in block.labels if name not in seen]).graphs()


def hashed_features(block: Corpus, features: HashedTextFeatures) -> csr_matrix:
    """The block's features in the columns that `learn_stream` uses: (n, features.n_features) CSR.

    Examples
    --------
    >>> import io
    >>> from arcrank.datasets import read_corpus
    >>> from arcrank.text import HashedTextFeatures
    >>> block = read_corpus(io.BytesIO(b"tea 1:2 9:3"), "svmlight")
    >>> hashed_features(block, HashedTextFeatures(n_features=8)).toarray().tolist()
    [[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    block.refuse_table("an online learner")
    if block.texts is not None:
        return features.transform(block.texts)
    X, width = csr_matrix(block.X), int(features.n_features)
    if block.feature_names is None:
        columns = X.indices % width
    else:
        columns = hashed_columns(block.feature_names, width)[X.indices]
    folded = csr_matrix((X.data, columns, X.indptr), shape=(X.shape[0], width), copy=True)
    folded.sum_duplicates()
    return folded


class _ProgressLine:
    """`12,000 documents, 34,567 documents/s`, overwritten in place, at most five times a second."""

    def __init__(self, wanted: bool | Callable[[int], None] | None) -> None:
        self._tell = wanted if callable(wanted) else None
        # sys.stderr is None if standard error is closed
        self._wanted = sys.stderr is not None and (sys.stderr.isatty() if wanted is None else wanted is True)
        self._start = self._shown = time.perf_counter()

    def show(self, documents: int) -> None:
        """Report how many documents were read so far."""
        if self._tell is not None:
            self._tell(documents)
        now = time.perf_counter()
        if self._wanted and now - self._shown >= 0.2:
            self._shown = now
            self._write(documents, now - self._start, "")

    def finish(self, documents: int) -> float:
        """End the line, and return the seconds since the start."""
        seconds = time.perf_counter() - self._start
        if self._wanted:
            self._write(documents, seconds, "\n")
        return seconds

    def _write(self, documents: int, seconds: float, end: str) -> None:
        noun = "document" if documents == 1 else "documents"
        sys.stderr.write(f"\r{documents:,} {noun}, {documents / max(seconds, 1e-9):,.0f} documents/s{end}")
        sys.stderr.flush()
