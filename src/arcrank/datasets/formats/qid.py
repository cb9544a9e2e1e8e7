"""svmlight with `qid`: candidates of queries with graded relevance, `2 qid:7 1:0.5 3:1 # comment`.

The candidates of a query are consecutive. They are its labels: label j of a query is its j-th candidate, and
the graphs prefer the higher grade.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.svmlight import Row, parse_rows, widened
from arcrank.errors import ParameterError

__all__ = ["blocks"]


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield `options.batch_rows` queries at a time."""
    if options.labels is not None:
        raise ParameterError("labels= cannot be given with qid files: there the labels are the candidates")
    rows: list[Row] = []
    queries: list[str] = []
    seen: set[str] = set()
    width = options.n_features or 0
    for row in _candidates(lines):
        query = row.labels[0]
        if not queries or query != queries[-1]:
            if query in seen:
                lines.fail(row.number, RowError("query comes back", f"qid {query} also occurs further above"))
                continue
            if len(queries) == options.batch_rows:
                yield (block := _block(rows, lines, options, width))
                rows, queries, width = [], [], block.X.shape[1]
            queries.append(query)
            seen.add(query)
        rows.append(row)
    if rows or lines.skipped:
        yield _block(rows, lines, options, width)


def _candidates(lines: Lines) -> Iterator[Row]:
    """Yield rows whose `labels` are the query and the grade."""
    for number, line in lines:
        data = line.partition(b"#")[0]
        if data.strip():
            cut = lines.attempt(number, _cut, data)
            if cut is not None:
                yield Row(number, *cut)


def _cut(data: bytes) -> tuple[list[str], bytes]:
    grade, query, features = ([*data.split(None, 2), b"", b""])[:3]
    try:
        finite = math.isfinite(float(grade))
    except ValueError:
        finite = False
    if not finite or not query.startswith(b"qid:") or query == b"qid:":
        raise RowError("invalid candidate", f"`<grade> qid:<query> <features>`, not {data[:60]!r}")
    return [decode(query[4:]), decode(grade)], features


def _block(rows: list[Row], lines: Lines, options: Options, width: int) -> Corpus:
    good, X = parse_rows(rows, lines, options.n_features) if rows else ([], csr_matrix((0, width)))
    names = [row.labels[0] for row in good]
    starts = [i for i, name in enumerate(names) if not i or name != names[i - 1]]
    ptr = np.array([*starts, len(good)], dtype=np.int64)
    largest = int(np.diff(ptr).max(initial=0))
    return Corpus(
        labels=[str(j) for j in range(largest)],
        X=widened(X, width),
        ptr=ptr,
        grades=np.array([float(row.labels[1]) for row in good], dtype=np.float64),
        ids=[names[i] for i in starts],
        source=lines.name,
        skipped=lines.take_skipped(),
    )
