"""Read users' own data: all formats and DataFrames, whole or in blocks, with labels or without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict

from arcrank._validation import check_int
from arcrank._wording import count, format_counts
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.options import Options
from arcrank.datasets.request import FORMATS, Request, Source
from arcrank.errors import ParameterError
from arcrank.graphs.base import check_names
from arcrank.graphs.votes import Votes

__all__ = ["FORMATS", "Source", "TableOptions", "iter_corpus", "iter_documents", "read_corpus", "read_votes"]

_DOCUMENTS_PER_BLOCK = 1000


class TableOptions(TypedDict, total=False):
    """The options of `read_corpus` for tables and JSON objects, for functions that pass them on."""

    delimiter: str | None
    text_column: str | None
    label_column: str | None
    label_separator: str | None
    better: str
    margin: str


def read_corpus(
    path: Source,
    format: str | None = None,
    *,
    labels: Sequence[str] | None = None,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
    n_features: int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    label_separator: str | None = None,
    better: str = "higher",
    margin: str = "binary",
) -> Corpus:
    """Read a whole file, or a DataFrame.

    Tables and JSON objects may hold votes instead of labels: `winner` and `loser`, or `a`, `b` and `outcome` ("a", "b",
    "tie" or "neither"), with a text in `text` or `prompt` and optionally `judge`, `weight` and `id`; also the exports
    of Chatbot Arena. Votes of the same `id`, or else of the same text, become one instance. Or they hold scores:
    columns `L:<label>`, or an object `scores`; equal scores mean no preference.

    Parameters
    ----------
    path : path, binary stream or DataFrame
        A file may be plain, .gz or .xz. A DataFrame of pandas or polars, or a table of pyarrow, has a column of texts
        and one of labels.
    format : {"jsonl", "csv", "tsv", "svmlight", "qid", "xc", "parquet"}, optional
        By default from the file extension; svmlight files with `qid` and .txt files of the extreme-classification
        repository are recognised by their first line. A file with one JSON array of objects, as
        `DataFrame.to_json(orient="records")` writes it, is read as "jsonl" too.
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
    delimiter : str, optional
        What separates the cells of a CSV or TSV file, such as ";".
    text_column : str, optional
        The column, or the field of a JSON object, that holds the text; by default "text".
    label_column : str, optional
        The one that holds the labels; by default "labels" or "label". A cell is a list of labels, a single label, or a
        string with several; missing values mean no label. Whole numbers become strings: 3 is the label "3".
    label_separator : str, optional
        What separates labels in a string, by default ";"; "" if a string is always one label. If ";" is also the
        delimiter, strings that contain a separator are an error unless this is given.
    better : {"higher", "lower"}
        Which of two scores of labels is better.
    margin : {"binary", "difference"}
        What scores mean: only which of two labels is better, or arcs that are weighted by the difference.

    Returns
    -------
    Corpus
        Of a qid file: `X` holds the candidates, `ptr` says which belong to which query.

    Raises
    ------
    FormatError
        With `file:line` and what is wrong there; also for a file that has no rows or is truncated.

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
    >>> table = b"body;topics" + bytes([10]) + b"cheap oil;crude,ship"
    >>> read_corpus(
    ...     io.BytesIO(table), "csv", delimiter=";", text_column="body", label_column="topics", label_separator=","
    ... ).label_sets
    [['crude', 'ship']]
    """
    from arcrank.datasets.formats.svmlight import numeric_order  # imports SciPy, which documents do without
    from arcrank.datasets.gather_votes import gather_votes
    from arcrank.datasets.join import join

    blocks = list(
        iter_corpus(
            path,
            format,
            batch_rows=4096,
            labels=labels,
            on_error=on_error,
            max_line_bytes=max_line_bytes,
            n_features=n_features,
            header=header,
            delimiter=delimiter,
            text_column=text_column,
            label_column=label_column,
            label_separator=label_separator,
            better=better,
            margin=margin,
        )
    )
    numbered = blocks[0].X is not None and blocks[0].feature_names is None
    return gather_votes(join(blocks, numeric_order if numbered else sorted))


# The keywords of read_corpus again, instead of **options, so that editors and help() show them and mypy checks them.
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
    delimiter: str | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    label_separator: str | None = None,
    better: str = "higher",
    margin: str = "binary",
) -> Iterator[Corpus]:
    """Read a file in blocks of `batch_rows` rows (queries in a qid file), holding one block at a time.

    The parameters are those of `read_corpus`. Without `labels` a block's labels are those it names itself. A block is
    as wide as the rows up to its end need: named features keep the column that they first got, so later blocks only add
    columns. Every vote is an instance. Each block's `skipped` counts the rows skipped since the previous block; the
    last one may have no rows.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO(b"a 1:1" + bytes([10]) + b"b 1:2" + bytes([10]) + b"a,b 2:1")
    >>> [len(block) for block in iter_corpus(stream, "svmlight", batch_rows=2)]
    [2, 1]
    """
    check_int("batch_rows", batch_rows, at_least=1)
    options = Options(
        batch_rows,
        _checked_labels(labels),
        n_features,
        header,
        delimiter=delimiter,
        text_column=text_column,
        label_column=label_column,
        label_separator=label_separator,
        better=better,
        margin=margin,
    )
    return Request(path, format, on_error, max_line_bytes, options).blocks()


def read_votes(
    path: Source,
    format: str | None = None,
    *,
    labels: Sequence[str] | None = None,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
    delimiter: str | None = None,
    text_column: str | None = None,
) -> Votes:
    """Read votes as a table, for `BradleyTerry` and `LeaderboardReport`; they need neither texts nor features.

    Parameters
    ----------
    path, format, labels, on_error, max_line_bytes, delimiter, text_column
        As in `read_corpus`.

    Examples
    --------
    >>> import io
    >>> read_votes(io.BytesIO(b"winner,loser" + bytes([10]) + b"tea,milk" + bytes([10]) + b"tea,water"), "csv")
    Votes(2 votes, 3 labels, 2 cases)
    """
    from arcrank.datasets.gather_votes import gather_votes
    from arcrank.datasets.join import join

    options = Options(4096, _checked_labels(labels), delimiter=delimiter, text_column=text_column, caseless=True)
    blocks = list(Request(path, format, on_error, max_line_bytes, options).blocks())
    corpus = join(blocks)
    if corpus.skipped:
        warnings.warn(f"Left out {count(corpus.n_skipped, 'row')}: {format_counts(corpus.skipped)}.", stacklevel=2)
    return corpus.votes() if not any(corpus.texts or ()) else gather_votes(corpus).votes()


def iter_documents(
    path: Source,
    format: str | None = None,
    *,
    takes: str | None = None,
    blank_lines: bool = False,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
    delimiter: str | None = None,
    text_column: str | None = None,
    note: Callable[[str], object] = warnings.warn,
) -> Iterator[Corpus]:
    """Read documents that need no labels, in blocks as they arrive; their label sets are empty.

    Parameters
    ----------
    path, format, on_error, max_line_bytes, delimiter, text_column
        As in `read_corpus`. If neither the extension nor `format` determines the format, a line is a JSON object or
        else a text, unless the model takes features: then lines are JSON, svmlight or the extreme-classification
        format.
    takes : {"text", "features"}, optional
        What the model takes; a row with the other one is an error.
    blank_lines : bool
        Whether blank lines are documents too if lines are texts, so that document n is line n.
    note : callable
        Called with a sentence if a line was probably not meant the way it is read.

    Examples
    --------
    >>> import io
    >>> lines = b"cheap oil" + bytes([10]) + b'{"text": "wheat", "id": 7}'
    >>> [(block.texts, block.ids) for block in iter_documents(io.BytesIO(lines), takes="text")]
    [(['cheap oil'], None), (['wheat'], ['7'])]
    """
    options = Options(
        _DOCUMENTS_PER_BLOCK,
        delimiter=delimiter,
        text_column=text_column,
        labelled=False,
        takes=takes,
        blank_lines=blank_lines,
        note=note,
    )
    return Request(path, format, on_error, max_line_bytes, options).blocks()


def _checked_labels(labels: Sequence[str] | None) -> list[str] | None:
    names = None if labels is None else list(labels)
    if names is not None and (not names or len({*names}) != len(names) or not all(isinstance(n, str) for n in names)):
        raise ParameterError("labels= must be a list of different names")
    check_names(names or ())
    return names
