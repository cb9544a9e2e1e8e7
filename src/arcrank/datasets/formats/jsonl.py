"""JSON lines, one object per line, or one JSON array of such objects; `json_row` says what an object holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats import json_array
from arcrank.datasets.formats.candidate_rows import candidate_blocks, starts_with_candidates
from arcrank.datasets.formats.headers import Suspicions
from arcrank.datasets.formats.json_row import has_label_string, load_object, row_of
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, row_blocks

__all__ = ["blocks", "parse_row"]


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; blank lines are not rows."""
    start = cast(Any, lines.stream).peek()
    objects = json_array.objects if json_array.is_array(start) else _objects
    of_candidates, found = starts_with_candidates(objects(lines))
    if of_candidates:
        yield from candidate_blocks(found, lines, options)
    else:
        yield from row_blocks(_rows(found, lines, options), lines, options)


def _objects(lines: Lines) -> Iterator[tuple[int, dict[str, Any] | None]]:
    for number, line in lines:
        yield number, lines.attempt(number, _load, line) if line.strip() else None


def _load(line: bytes) -> dict[str, Any]:
    return load_object(decode(line))


def _rows(
    objects: Iterator[tuple[int, dict[str, Any] | None]], lines: Lines, options: Options
) -> Iterator[tuple[int, Row | None]]:
    suspicions = Suspicions(lines.name, header=True, separator=options.label_separator)
    for number, fields in objects:
        row = None
        if fields is not None:
            try:
                row = row_of(fields, options)
            except RowError as error:
                lines.fail(number, error)
        if fields is not None and row is not None and options.labelled and has_label_string(fields, options):
            suspicions.watch("", row.value)
        yield number, row
    suspicions.warn()


def parse_row(line: bytes, options: Options | None = None) -> Row:
    """Return the row of one line, or raise a `RowError`.

    Examples
    --------
    >>> parse_row(b'{"text": "oil", "label": "crude"}')
    Row(content='oil', kind='labels', value=['crude'], name=None)
    """
    return row_of(_load(line), options or Options(1))
