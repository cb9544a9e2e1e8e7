"""Tables whose first line or labels were probably not meant the way they are read."""

from __future__ import annotations

import re
import warnings

from arcrank.errors import FormatError

__all__ = [
    "SEPARATORS",
    "ReadingWarning",
    "Suspicions",
    "in_words",
    "refuse_other_header",
    "refuse_other_separator",
    "with_delimiter",
]

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
"""Common delimiters in words; the first two are the defaults of CSV and TSV."""

_COLUMN_WORDS = re.compile(
    r"\b(text|title|body|content|document|doc|description|abstract|sentence|message|review|headline|summary|question"
    r"|comment|id|label|tag|topic|categor(y|ie)|class|classe|target|genre|keyword|subject)s?\b"
)
_MOST_WORDS_OF_A_NAME = 3
_LABEL_SEPARATORS = ("|", ",")
_MANY = 0.2
_ENOUGH_ROWS = 4


def in_words(delimiter: str) -> str:
    """A delimiter in words, for messages.

    >>> in_words(";"), in_words("~")
    ('semicolons', "'~'")
    """
    return SEPARATORS.get(delimiter, repr(delimiter))


def with_delimiter(delimiter: str) -> str:
    """What to pass to read a table with this delimiter."""
    return f'delimiter="{delimiter}"'.replace("\t", "\\t")


def refuse_other_header(place: str, cells: list[str], *, labelled: bool) -> None:
    """Raise a `FormatError` if a row without the usual column names still looks like a header."""
    if _looks_like_header(cells):
        if labelled:
            advice = "Name the columns with text_column= and label_column=, or rename them to text and labels."
        else:
            advice = "Name the column of texts with text_column=, or rename it to text."
        raise FormatError(
            f"{place}: this looks like a header, with the columns {', '.join(map(_short, cells[:6]))}.\n"
            f"{advice}\nIf this line is a document, put a header with the usual names above it."
        )


def refuse_other_separator(place: str, cells: list[str], delimiter: str) -> None:
    """Raise a `FormatError` if a first row of one cell is a header with another delimiter."""
    for other in SEPARATORS:
        names = cells[0].split(other)
        if len(cells) == 1 and len(names) > 1 and _looks_like_header(names):
            raise FormatError(
                f"{place}: cells are separated by {in_words(delimiter)}, but this header has "
                f"{in_words(other)}: {_short(cells[0])}.\n"
                f"Read it with {with_delimiter(other)}, or save it as comma- (CSV) or tab-separated values (TSV)."
            )


def _looks_like_header(cells: list[str]) -> bool:
    """Short names only, and one of them a single word, such as `tags` or `question_text`, typical of columns."""
    names = [cell.lower().split() for cell in cells]
    single = [name[0] for name in names if len(name) == 1]
    short = all(len(name) <= _MOST_WORDS_OF_A_NAME for name in names)
    return short and any(_COLUMN_WORDS.search(word.replace("_", " ")) for word in single)


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 30 else cell[:27] + "...")


class ReadingWarning(UserWarning):
    """A file was probably not meant the way it was read: what was found, what to do, and in how many rows."""

    def __init__(self, name: str, found: str, remedy: str, n_rows: int) -> None:
        super().__init__(f"{name}: {found}; {remedy}.")
        self.found = found
        self.remedy = remedy
        self.n_rows = n_rows


class Suspicions:
    """Watches the label sets of a table, and warns at the end of what was probably meant differently.

    If the user named the separator (`separator` is not None), there is no warning about it.
    """

    def __init__(self, name: str, *, header: bool, separator: str | None = None) -> None:
        self._name = name
        self._header = header
        self._first: tuple[str, list[str]] | None = None
        self._seen_again = False
        self._rows = self._with_several = 0
        self._with_other = dict.fromkeys(_LABEL_SEPARATORS if separator is None else (), 0)

    def watch(self, text: str, labels: list[str]) -> None:
        """Note one row."""
        self._rows += 1
        if self._first is None:
            self._first = text, labels
        elif not self._seen_again:
            self._seen_again = not {*self._first[1]}.isdisjoint(labels)
        self._with_several += len(labels) > 1
        for separator in self._with_other:
            self._with_other[separator] += any(separator in label for label in labels)

    def warn(self) -> None:
        """Say what has been found."""
        if not self._header and self._first is not None and self._is_header(*self._first):
            text, labels = self._first
            self._warn(
                f"the first line was read as a document, {_short(text)} with the label {_short(labels[0])}",
                "if it is a header, call its columns text and labels",
                1,
            )
        for separator, rows in self._with_other.items():
            if not self._with_several and rows and rows >= _MANY * self._rows:
                self._warn(
                    f"{rows:,} of {self._rows:,} rows have a label with {separator!r} in it, but none has two labels",
                    "labels are separated by ';' unless label_separator= names another character",
                    rows,
                )

    def _warn(self, found: str, remedy: str, n_rows: int) -> None:
        warnings.warn(ReadingWarning(self._name, found, remedy, n_rows), stacklevel=3)

    def _is_header(self, text: str, labels: list[str]) -> bool:
        """A short text with one label that occurs nowhere else in a sufficiently long file."""
        short = len(text.split()) <= _MOST_WORDS_OF_A_NAME
        return short and len(labels) == 1 and not self._seen_again and self._rows >= _ENOUGH_ROWS
