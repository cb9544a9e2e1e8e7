"""The extreme-classification repository's text format: a header `n d k`, then `l1,l2 f:v f:v` for each row."""

from __future__ import annotations

from collections.abc import Iterator

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.gather import gathered
from arcrank.datasets.formats.lines import Lines, RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.svmlight import Row, cut, parse_rows
from arcrank.errors import FormatError, ParameterError

__all__ = ["blocks", "is_header"]


def is_header(line: bytes) -> bool:
    """Whether a line is three whole numbers."""
    fields = line.split()
    return len(fields) == 3 and all(field.isdigit() for field in fields)


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks of d columns over k labels; their number must agree with the header."""
    _, header = next(iter(lines), (0, b""))
    if not is_header(header):
        raise FormatError(f"{lines.name}:1: the header `rows features labels` is missing, got {header[:60]!r}")
    n, d, k = map(int, header.split())
    names = _names(options, k)
    rows = _cut_lines(lines, names if options.labelled else None, n)
    found = 0
    for batch in gathered(rows, lines, options):
        good, X = parse_rows(batch, lines, d)
        found += len(good) + sum(lines.skipped.values())
        yield _block([row.labels for row in good], X, names, lines)
    found += sum(lines.skipped.values())
    if found < n:
        error = RowError("row missing", f"the header says {n:,} rows, but the file ends after {found:,}")
        lines.fail(found + 2, error, n_rows=n - found)
    if lines.skipped:
        yield _block([], parse_rows([], lines, d)[1], names, lines)


def _names(options: Options, k: int) -> list[str]:
    names = options.labels or [str(j) for j in range(k)]
    if len(names) != k:
        raise ParameterError(f"the file has {k} labels, but labels= names {len(names)}")
    return list(names)


def _cut_lines(lines: Lines, names: list[str] | None, n: int) -> Iterator[Row | None]:
    """Split each line into labels and features; an empty line is a row with neither, but not after the last one."""
    number_of = None if names is None else {str(j): name for j, name in enumerate(names)}
    rows = 0
    for number, line in lines:
        rows += 1
        if rows > n:
            if line.strip():
                lines.fail(number, RowError("row too many", f"the header says {n:,} rows"))
            continue
        try:
            yield _cut(number, line, number_of)
        except RowError as error:
            lines.fail(number, error)
            yield None


def _cut(number: int, line: bytes, number_of: dict[str, str] | None) -> Row:
    codes, features = cut(line)
    if number_of is None:
        return Row(number, [], features)
    unknown = [code for code in codes if code not in number_of]
    if unknown:
        raise RowError("label not in the vocabulary", f"{unknown[0]!r} where there are {len(number_of)} labels")
    return Row(number, [number_of[code] for code in codes], features)


def _block(label_sets: list[list[str]], X: object, names: list[str], lines: Lines) -> Corpus:
    skipped = lines.take_skipped()
    return Corpus(labels=names, X=X, label_sets=label_sets, source=lines.name, skipped=skipped)
