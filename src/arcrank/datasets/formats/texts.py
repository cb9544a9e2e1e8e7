"""Lines to be ranked: a line is a JSON object, or else a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.json_row import load_object, row_of
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, row_blocks

__all__ = ["blocks"]


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the documents in blocks; blank lines are documents only if `options` says so."""
    return row_blocks(_Reader(lines, options).rows(), lines, options)


class _Reader:
    """Reports once what was probably not meant the way it is read."""

    def __init__(self, lines: Lines, options: Options) -> None:
        self._lines = lines
        self._options = options
        self._broken = 0

    def rows(self) -> Iterator[tuple[int, Row | None]]:
        """Yield each line with its number; None for a line that is blank or could not be read."""
        for number, line in self._lines:
            row = None
            if self._options.blank_lines or line.strip():
                try:
                    row = self._row(number, decode(line))
                except RowError as error:
                    self._lines.fail(number, error)
            yield number, row
        if self._broken > 1:
            self._options.note(
                f"{self._broken:,} lines in total start with {{ but are not JSON; they are read as texts."
            )

    def _row(self, number: int, text: str) -> Row:
        if text.lstrip().startswith("{"):
            try:
                fields = load_object(text)
            except RowError as error:
                if error.reason != "invalid JSON" or error.__cause__ is None:  # valid JSON, but not a valid row
                    raise
                self._note_broken(number, str(error).removeprefix("invalid JSON: "))
            else:
                return row_of(fields, self._options)
        elif number == 1:
            self._doubt(text)
        return Row(text, "labels", [])

    def _note_broken(self, number: int, why: str) -> None:
        self._broken += 1
        if self._broken == 1:
            place = self._lines.place(number)
            self._options.note(f"{place}: this is not JSON ({why}), so the line is read as a text.")

    def _doubt(self, text: str) -> None:
        cells = [cell.strip() for cell in re.split(r"[,;\t]", text.lower())]
        if len(cells) > 1 and "text" in cells:
            self._note_first('if it is the header of a table, give format="csv" or format="tsv"')
        elif re.match(r"\s*\[\s*(\{|$)", text):
            self._note_first('if it begins a JSON array, give format="jsonl"')

    def _note_first(self, what: str) -> None:
        self._options.note(f"{self._lines.place(1)}: read as a text; {what}.")
