"""A request to read a source in a format with options: checks them, and opens the source for the reader."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats import frame
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.errors import FormatError, InputError, ParameterError
from arcrank.io.compressed import open_binary, readable

__all__ = ["ENDINGS", "FORMATS", "Request", "Source"]

Source = str | os.PathLike[str] | IO[bytes] | frame.Frame

FORMATS = {
    "jsonl": "jsonl:blocks",
    "csv": "tables:csv_blocks",
    "tsv": "tables:tsv_blocks",
    "svmlight": "svmlight:blocks",
    "qid": "qid:blocks",
    "xc": "xc:blocks",
    "parquet": "parquet:blocks",
}
"""Where in `formats` the reader of each format is; it is imported when it is needed, since some import SciPy."""
ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
_FIRST_LINES = {
    "jsonl": '{"text": "cheap oil", "labels": ["crude", "ship"]}',
    "csv": "text,labels",
    "tsv": "text<TAB>labels",
    "svmlight": "crude,ship 1:0.5 7:1",
    "qid": "2 qid:1 1:0.5 7:1",
}
_FIRST_VOTES = {
    "jsonl": '{"winner": "tea", "loser": "milk"}',
    "csv": "winner,loser",
    "tsv": "winner<TAB>loser",
}
_LINES_OF_ANY_KIND = "lines"
"""The format if neither extension nor argument names one and the model takes texts: a line is JSON or a text."""
_DELIMITED = ("csv", "tsv")
_WITH_FIELDS = ("jsonl", "csv", "tsv", "parquet", _LINES_OF_ANY_KIND)
_FIELDS = ("text_column", "label_column", "label_separator")
_PEEKED_BYTES = 1 << 16


@dataclass(frozen=True)
class Request:
    """A source, its format and options, checked as far as possible without reading the data."""

    source: Source
    format: str | None
    on_error: str
    max_line_bytes: int
    options: Options

    def __post_init__(self) -> None:
        """Check what can be checked before anything is opened."""
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(f"There is no format {self.format!r}; choose one of: {', '.join(FORMATS)}")
        if self.on_error not in ("raise", "skip"):
            raise ParameterError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}")
        _check_options(self.options)
        _check_source(self.source)
        if frame.is_frame(self.source) and (self.format is not None or self.options.delimiter is not None):
            raise ParameterError("format= and delimiter= are for files; omit them with a DataFrame.")

    def blocks(self) -> Iterator[Corpus]:
        """Yield the rows in blocks; a `FormatError` if a file that should have labels has no rows."""
        empty, name, found = True, "DataFrame", ""
        if frame.is_frame(self.source):
            for block in frame.blocks(self.source, self.on_error, self.options):
                empty = False
                yield block
        else:
            with self.opened() as (stream, name, found):
                for block in self._reader(found)(Lines(stream, name, self.on_error, self.max_line_bytes), self.options):
                    empty = False
                    yield block
        if empty and self.options.labelled:
            raise _no_rows(name, found, votes=self.options.caseless)

    @contextmanager
    def opened(self) -> Iterator[tuple[IO[bytes], str, str]]:
        """Yield the decompressed stream, its name for errors, and the format."""
        path: Any = self.source
        name = str(os.fspath(path) if isinstance(path, (str, os.PathLike)) else getattr(path, "name", "stream"))
        with readable(name), open_binary(path) as stream:
            found = self.format or self._recognised(name, stream)
            self._check_use(name, found)
            yield stream, name, found

    def _reader(self, found: str) -> Callable[[Lines, Options], Iterator[Corpus]]:
        module, name = ("texts:blocks" if found == _LINES_OF_ANY_KIND else FORMATS[found]).split(":")
        reader: Callable[[Lines, Options], Iterator[Corpus]] = getattr(
            import_module(f"arcrank.datasets.formats.{module}"), name
        )
        return reader

    def _recognised(self, name: str, stream: Any) -> str:
        """By the extension; else tables by their delimiter, and other files by their first line."""
        ending = os.path.splitext(name.removesuffix(".xz").removesuffix(".gz"))[1].lower()
        found = ENDINGS.get(ending)
        if found is None and self.options.delimiter is not None:
            return "csv"
        if found == "svmlight":
            return "qid" if b" qid:" in _first_line(stream) else found
        if found is not None:
            return found
        return self._recognised_inside(name, ending, stream)

    def _recognised_inside(self, name: str, ending: str, stream: Any) -> str:
        if self.options.takes == "text":
            return _LINES_OF_ANY_KIND
        if self.options.takes == "table":
            return "jsonl"
        from arcrank.datasets.formats import xc  # imports SciPy, which texts do without

        if (ending == ".txt" or not self.options.labelled) and xc.is_header(_first_line(stream)):
            return "xc"
        if not self.options.labelled:
            return "jsonl" if _first_line(stream).lstrip()[:1] in (b"{", b"[") else "svmlight"
        raise ParameterError(
            f"{name}: the file extension does not determine the format; pass format=, one of {', '.join(FORMATS)}"
        )

    def _check_use(self, name: str, found: str) -> None:
        """Refuse options that the format does not have."""
        if self.options.delimiter is not None and found not in _DELIMITED:
            raise ParameterError(f"{name}: delimiter= is for CSV and TSV files, but this one is read as {found}.")
        given = [option for option in _FIELDS if getattr(self.options, option) is not None]
        if given and found not in _WITH_FIELDS:
            raise ParameterError(f"{name}: {given[0]}= is for tables and JSON, but this file is read as {found}.")
        if found == "qid" and not self.options.labelled:
            raise FormatError(f"{name}: queries with candidates have no labels to rank.\nGive documents.")


def _check_source(source: object) -> None:
    if isinstance(source, io.TextIOBase):
        raise InputError('The stream yields text, but bytes are needed: open the file with open(path, "rb").')
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "readable") and not frame.is_frame(source):
        raise InputError(
            f"A path, a binary stream or a DataFrame can be read, not {type(source).__name__}.\n"
            'For texts and labels in lists, pass pandas.DataFrame({"text": texts, "labels": labels}).'
        )


def _check_options(options: Options) -> None:
    delimiter = options.delimiter
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(
            f"delimiter= must be one character such as ';', but not a quote or line end, got {delimiter!r}"
        )
    for name in _FIELDS:
        value = getattr(options, name)
        if value is not None and not isinstance(value, str):
            raise ParameterError(f"{name}= must be a string, got {value!r}")
    for name, allowed in (("better", ("higher", "lower")), ("margin", ("binary", "difference"))):
        if getattr(options, name) not in allowed:
            raise ParameterError(f"{name}= must be {' or '.join(allowed)}, got {getattr(options, name)!r}")
    if options.header is False and (options.text_column is not None or options.label_column is not None):
        raise ParameterError("header=False means that columns have no names; omit text_column= and label_column=.")


def _no_rows(name: str, format: str, *, votes: bool) -> FormatError:
    if not format:
        return FormatError(f"{name}: there are no rows.")
    first = (_FIRST_VOTES if votes else _FIRST_LINES).get(format)
    example = f"\nA first line looks like this: {first}" if first else ""
    header = ", or has only a header" if format in _DELIMITED else ""
    return FormatError(f"{name}: the file is empty or blank{header}: it has no rows.{example}")


def _first_line(stream: Any) -> bytes:
    """Return the first line that is neither blank nor a comment, as far as the buffer shows it."""
    lines: Iterable[bytes] = stream.peek(_PEEKED_BYTES)[:_PEEKED_BYTES].splitlines()
    return next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
