"""Gather rows into lists of the size of a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.errors import FormatError

__all__ = ["gathered"]

T = TypeVar("T")


def gathered(rows: Iterator[T | None], lines: Lines, options: Options) -> Iterator[list[T]]:
    """Yield lists of rows, none of them empty; None stands for a line without a row.

    Rows without labels are to be ranked: they are yielded as soon as no more input is available, and before the error
    of a later row.
    """
    found: list[T] = []
    failure: FormatError | None = None
    try:
        for row in rows:
            if row is not None:
                found.append(row)
            if found and (len(found) >= options.batch_rows or (lines.drained and not options.labelled)):
                yield found
                found = []
    except FormatError as error:
        failure = error
    if found and (failure is None or not options.labelled):
        yield found
    if failure is not None:
        raise failure
