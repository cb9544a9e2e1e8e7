"""Tables of numbers with a header, as the label-ranking sets and ASlib's scenarios are stored here."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from arcrank._typing import Array
from arcrank.errors import FormatError
from arcrank.io.compressed import members

__all__ = ["read_numeric_table"]


def read_numeric_table(path: Path, file: str, *, allow_empty: bool = False) -> tuple[list[str], Array]:
    """Return the header and the numbers of a CSV file in a folder or archive.

    With `allow_empty`, an empty cell becomes NaN; without, it is an error.
    """
    found = [stream.read() for _, stream in members(path, file)]
    if not found:
        raise FormatError(f"{path}: {file} is missing")
    try:
        header, *rows = list(csv.reader(io.StringIO(found[0].decode()))) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}/{file}: not a CSV file in UTF-8 ({error})") from error
    if not rows:
        raise FormatError(f"{path}/{file}: the file is empty")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise FormatError(f"{path}/{file}:{number}: {len(row)} cells where the header has {len(header)}")
    if allow_empty:
        rows = [[cell or "nan" for cell in row] for row in rows]
    try:
        return header, np.array(rows, dtype=np.float64).reshape(len(rows), len(header))
    except ValueError as error:
        raise FormatError(f"{path}/{file}: a cell is not a number ({error})") from error
