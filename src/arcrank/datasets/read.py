"""Read users' own files: one door to all formats, whole or in blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats import jsonl, parquet, qid, svmlight, tables, xc
from arcrank.datasets.formats.lines import Lines, Options
from arcrank.datasets.formats.svmlight import numeric_order
from arcrank.datasets.join import join
from arcrank.datasets.locate import open_binary, readable
from arcrank.errors import FormatError, ParameterError
from arcrank.graphs.base import check_names

__all__ = ["FORMATS", "iter_corpus", "read_corpus"]

Source = str | os.PathLike[str] | IO[bytes]

FORMATS: dict[str, Callable[[Lines, Options], Iterator[Corpus]]] = {
    "jsonl": jsonl.blocks,
    "csv": tables.csv_blocks,
    "tsv": tables.tsv_blocks,
    "svmlight": svmlight.blocks,
    "qid": qid.blocks,
    "xc": xc.blocks,
    "parquet": lambda lines, options: parquet.blocks(lines.stream, lines, options),
}
_ENDINGS = {
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
_NUMBERED = ("svmlight", "qid", "xc")
_PEEKED_BYTES = 1 << 16


def read_corpus(
    path: Source,
    format: str | None = None,
    *,
    labels: Sequence[str] | None = None,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
    n_features: int | None = None,
    header: bool | None = None,
) -> Corpus:
    """Read a whole file.

    Parameters
    ----------
    path : path or binary stream
        Plain, .gz or .xz.
    format : {"jsonl", "csv", "tsv", "svmlight", "qid", "xc", "parquet"}, optional
        By default told from the ending; svmlight files with `qid` and .txt files of the extreme-classification
        repository are recognised by their first line.
    labels : list of str, optional
        The labels in column order; a row with another label is an error. By default those of the file, sorted.
    on_error : {"raise", "skip"}
        "skip" leaves out rows that cannot be read; `corpus.skipped` says how many and why.
    max_line_bytes : int
        Longer lines are errors too, and never held in memory.
    n_features : int, optional
        The number of columns of svmlight and qid files; by default one more than the largest index, so that
        column j holds index j.
    header : bool, optional
        Whether a CSV or TSV file has one; by default it is recognised.

    Returns
    -------
    Corpus
        Of a qid file: `X` holds the candidates, `ptr` says which belong to which query.

    Raises
    ------
    FormatError
        With `file:line` and what is wrong there; also for a file without rows or one cut short.

    Examples
    --------
    >>> import io
    >>> oil = b'{"text": "oil", "labels": ["crude"]}'
    >>> tanker = b'{"text": "tanker", "arcs": [["ship", "crude"]]}'
    >>> corpus = read_corpus(io.BytesIO(oil + bytes([10]) + tanker), "jsonl")
    >>> corpus
    Corpus(2 texts, 2 labels; from stream)
    >>> corpus.graphs()
    ArcGraphs(2 instances, 2 labels, 2 arcs)
    """
    options = _options(4096, labels, n_features, header)
    lines_of = _checked(format, on_error, max_line_bytes)
    with _opened(path, format) as (stream, name, found):
        blocks = list(FORMATS[found](lines_of(stream, name), options))
    if not blocks:
        raise _no_rows(name, found)
    return join(blocks, numeric_order if found in _NUMBERED else sorted)


def iter_corpus(
    path: Source,
    format: str | None = None,
    *,
    batch_rows: int = 1000,
    labels: Sequence[str] | None = None,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
    n_features: int | None = None,
    header: bool | None = None,
) -> Iterator[Corpus]:
    """Read a file in blocks of `batch_rows` rows (queries in a qid file), holding one block at a time.

    The parameters are those of `read_corpus`. Without `labels` a block's labels are those it names itself. A
    block is as wide as the rows up to its end need: named features keep their column from their first
    sight on, so later blocks only add columns. Each block's `skipped` counts what was skipped since the
    block before; the last one may have no rows.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO(b"a 1:1" + bytes([10]) + b"b 1:2" + bytes([10]) + b"a,b 2:1")
    >>> [len(block) for block in iter_corpus(stream, "svmlight", batch_rows=2)]
    [2, 1]
    """
    if batch_rows < 1:
        raise ParameterError(f"batch_rows must be at least 1, got {batch_rows}")
    options = _options(batch_rows, labels, n_features, header)
    return _iterate(path, format, options, _checked(format, on_error, max_line_bytes))


def _iterate(
    path: Source,
    format: str | None,
    options: Options,
    lines_of: Callable[[IO[bytes], str], Lines],
) -> Iterator[Corpus]:
    empty = True
    with _opened(path, format) as (stream, name, found):
        for block in FORMATS[found](lines_of(stream, name), options):
            empty = False
            yield block
    if empty:
        raise _no_rows(name, found)


def _no_rows(name: str, format: str) -> FormatError:
    example = f"\nA first line looks like this: {_FIRST_LINES[format]}" if format in _FIRST_LINES else ""
    return FormatError(f"{name}: the file is empty or blank: it holds no rows.{example}")


def _options(batch_rows: int, labels: Sequence[str] | None, n_features: int | None, header: bool | None) -> Options:
    names = None if labels is None else list(labels)
    if names is not None and (not names or len({*names}) != len(names) or not all(isinstance(n, str) for n in names)):
        raise ParameterError("labels= must be a list of different names")
    check_names(names or ())
    return Options(batch_rows, names, n_features, header)


def _checked(format: str | None, on_error: str, max_line_bytes: int) -> Callable[[IO[bytes], str], Lines]:
    if format is not None and format not in FORMATS:
        raise ParameterError(f"no format is called {format!r}; there are: {', '.join(FORMATS)}")
    if on_error not in ("raise", "skip"):
        raise ParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    return lambda stream, name: Lines(stream, name, on_error, max_line_bytes)


@contextmanager
def _opened(path: Source, format: str | None) -> Iterator[tuple[IO[bytes], str, str]]:
    """Give the unpacked stream, its name for errors, and the format."""
    name = str(os.fspath(path) if isinstance(path, (str, os.PathLike)) else getattr(path, "name", "stream"))
    with readable(name), open_binary(path) as stream:
        yield stream, name, format or _recognised(name, stream)


def _recognised(name: str, stream: Any) -> str:
    ending = os.path.splitext(name.removesuffix(".xz").removesuffix(".gz"))[1].lower()
    if ending == ".txt" and xc.is_header(_first_line(stream)):
        return "xc"
    if ending not in _ENDINGS:
        raise ParameterError(f"{name}: the ending does not tell the format; pass format= one of {', '.join(FORMATS)}")
    found = _ENDINGS[ending]
    return "qid" if found == "svmlight" and b" qid:" in _first_line(stream) else found


def _first_line(stream: Any) -> bytes:
    """Return the first line that is neither blank nor a comment, as far as the buffer shows it."""
    lines: Iterable[bytes] = stream.peek(_PEEKED_BYTES)[:_PEEKED_BYTES].splitlines()
    return next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
