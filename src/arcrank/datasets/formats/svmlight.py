"""svmlight with label sets: `name1,name2 index:value ...`, and a `#` before a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scipy.sparse import csr_matrix

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.decimals import plain_features
from arcrank.datasets.formats.gather import gathered
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.sparse import check_features, parse_features

__all__ = ["Row", "blocks", "cut", "numeric_order", "parse_rows", "widened"]

_FEATURE = re.compile(rb"\d+:[^,]*")


class Row(NamedTuple):
    """One line, split but not converted: its number, its labels, and the bytes of its features."""

    number: int
    labels: list[str]
    features: bytes


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; a block is as wide as all rows before it need, or `options.n_features`."""
    width = options.n_features or 0
    for batch in gathered(cut_lines(lines, options), lines, options):
        good, X = parse_rows(batch, lines, options.n_features)
        width = max(width, X.shape[1])
        yield block([row.labels for row in good], widened(X, width), lines, options)
    if lines.skipped:
        yield block([], csr_matrix((0, width)), lines, options)


def block(label_sets: list[list[str]], X: csr_matrix, lines: Lines, options: Options) -> Corpus:
    """Return the corpus of one block, with the rows skipped since the last one."""
    labels = options.labels or numeric_order({label for names in label_sets for label in names})
    return Corpus(labels=list(labels), X=X, label_sets=label_sets, source=lines.name, skipped=lines.take_skipped())


def cut_lines(lines: Lines, options: Options) -> Iterator[Row | None]:
    """Split each line into labels and features; None for blank lines, comments and rows that fail."""
    for number, line in lines:
        data = line.partition(b"#")[0] if b"#" in line else line
        row = None
        if data.strip():
            try:
                names, features = cut(data)
                names = names if options.labelled else []
                options.check_labels(names)
                row = Row(number, names, features)
            except RowError as error:
                lines.fail(number, error)
        yield row


def cut(data: bytes) -> tuple[list[str], bytes]:
    """Return the labels and the features of a row; one without labels starts with a space or a feature."""
    fields = data.split(None, 1)
    if not fields or data[:1].isspace() or _FEATURE.fullmatch(fields[0]):
        return [], data
    return split_labels(fields[0]), fields[1] if len(fields) > 1 else b""


def split_labels(head: bytes) -> list[str]:
    """Return the names of `b"a,b"`, each once."""
    names = decode(head).split(",")
    if "" in names:
        raise RowError("invalid labels", f"an empty name in {decode(head)!r}")
    return list(dict.fromkeys(names))


def parse_rows(rows: list[Row], lines: Lines, n_features: int | None) -> tuple[list[Row], csr_matrix]:
    """Convert the features of the rows together; only when that fails, look for the invalid rows."""
    parts = [row.features for row in rows]
    X = plain_features(parts) if n_features is None else None
    if X is not None:
        return rows, X
    try:
        return rows, parse_features(parts, n_features)
    except ValueError:
        good = [row for row in rows if _is_good(row, lines, n_features)]
        return good, parse_features([row.features for row in good], n_features)


def _is_good(row: Row, lines: Lines, n_features: int | None) -> bool:
    try:
        check_features(row.features, n_features)
    except RowError as error:
        lines.fail(row.number, error)
        return False
    return True


def widened(X: csr_matrix, width: int) -> csr_matrix:
    """Return X with empty columns added up to `width`."""
    if X.shape[1] >= width:
        return X
    return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def numeric_order(names: Iterable[str]) -> list[str]:
    """Return the names in the order of their numbers when all are numbers, else sorted.

    Examples
    --------
    >>> numeric_order({"10", "9"}), numeric_order({"10", "9", "a"})
    (['9', '10'], ['10', '9', 'a'])
    """
    found = sorted(names)
    return sorted(found, key=int) if all(n.isascii() and n.isdecimal() for n in found) else found
