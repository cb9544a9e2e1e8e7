"""Documents to be ranked: no labels needed, given as they come, in bounded memory."""

from __future__ import annotations

import io
import itertools
import json
import tracemalloc

import pytest

from arcrank.datasets.read import iter_documents
from arcrank.errors import FormatError, ParameterError


class Typed(io.RawIOBase):
    """A stream that gives one line at a time, and knows how many were asked for."""

    def __init__(self, lines):
        self.lines = iter(lines)
        self.given = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        line = next(self.lines, b"")
        self.given += bool(line)
        buffer[: len(line)] = line
        return len(line)


def texts_of(raw, **options):
    blocks = iter_documents(io.BytesIO(raw), **{"takes": "text", **options})
    return [text for block in blocks for text in block.texts]


@pytest.mark.parametrize(("format", "lines"), [
    (None, [b"oil\n", b'{"text": "corn"}\n', b"wheat\n"]),
    ("jsonl", [b'{"text": "oil"}\n', b'{"text": "corn"}\n', b'{"text": "wheat"}\n']),
    ("csv", [b"id,text\n", b"1,oil\n", b'2,"corn"\n']),
    ("svmlight", [b"1:1\n", b"a 2:1\n", b"3:1\n"]),
    ("xc", [b"3 4 2\n", b"0 1:1\n", b"2:1\n", b"1 3:1\n"]),
])  # fmt: skip
def test_a_document_does_not_wait_for_the_next(format, lines):
    stream = Typed(lines)
    headers = len(lines) - (2 if format == "csv" else 3)
    takes = "features" if format in ("svmlight", "xc") else "text"
    for number, block in enumerate(iter_documents(stream, format, takes=takes), start=1):
        assert len(block) == 1
        assert stream.given == headers + number


def test_a_line_without_a_document_does_not_keep_others_back():
    stream = Typed([b'{"text": "oil"}\n\n', b"{broken\n", b'{"text": "corn"}\n'])
    blocks = iter_documents(stream, "jsonl", takes="text", on_error="skip")
    assert next(blocks).texts == ["oil"]
    assert stream.given == 1


def test_what_stands_before_a_row_that_fails_comes_first():
    blocks = iter_documents(io.BytesIO(b'{"text": "oil"}\n{"text": 1}\n'), "jsonl", takes="text")
    assert next(blocks).texts == ["oil"]
    with pytest.raises(FormatError, match="^stream:2: invalid text"):
        next(blocks)


def test_blank_lines_are_documents_where_lines_are_texts():
    raw = b"oil\n\n  \ncorn\n"
    assert texts_of(raw, blank_lines=True) == ["oil", "", "  ", "corn"]
    assert texts_of(raw) == ["oil", "corn"]
    assert texts_of(b'{"text": "oil"}\n\n', format="jsonl", blank_lines=True) == ["oil"]


@pytest.mark.parametrize(("first", "note"), [
    (b"id,text,notes", 'format="csv"'), (b"text;labels", 'format="csv"'),
    (b"[", 'format="jsonl"'), (b'[{"text": "oil"},', 'format="jsonl"'),
    (b"{oil}", "this is not JSON"), (b"the text", None), (b"[1, 2]", None),
])  # fmt: skip
def test_a_first_line_that_is_probably_no_text_is_noted(first, note):
    notes = []
    assert texts_of(first + b"\noil\n", note=notes.append) == [first.decode(), "oil"]
    assert [note in told for told in notes] == ([] if note is None else [True])


def test_notes_are_warnings_unless_said_otherwise():
    with pytest.warns(UserWarning, match="stream:1: read as a text"):
        texts_of(b"id,text\n")


def test_json_that_says_two_things_is_no_text():
    with pytest.raises(FormatError, match="stream:1: invalid JSON: a key given twice"):
        texts_of(b'{"text": "a", "text": "b"}\n')
    with pytest.raises(FormatError, match="stream:1: invalid Unicode"):
        texts_of(b'{"text": "\\ud800"}\n')
    assert texts_of(b'{"text": "a", "score": NaN}\n') == ["a"]


def test_arrays_tables_and_columns_without_labels():
    assert texts_of(b'[{"text": "oil"}, {"text": "corn", "labels": 1.5}]', format="jsonl") == ["oil", "corn"]
    assert texts_of(b'[{"body": "oil"}]', format="jsonl", text_column="body") == ["oil"]
    assert texts_of(b"body;labels\noil;a,b\n", delimiter=";", text_column="body") == ["oil"]
    assert texts_of(b'{"body": "oil"}\ncorn\n', text_column="body") == ["oil", "corn"]
    with pytest.raises(ParameterError, match="text_column= is for tables"):
        list(iter_documents(io.BytesIO(b"1:1\n"), takes="features", text_column="body"))


def test_frames_without_labels():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"text": ["oil", "corn"], "id": [1, 2]})
    blocks = list(iter_documents(table, takes="text"))
    assert [(block.texts, block.ids) for block in blocks] == [(["oil", "corn"], ["1", "2"])]
    with pytest.raises(FormatError, match="a column text is needed, got id.\n.*text_column="):
        list(iter_documents(table[["id"]]))


def test_rows_that_the_model_cannot_take_are_not_skipped():
    for raw, takes in ((b'{"text": "oil"}\n', "features"), (b'{"features": {"x": 1}}\n', "text")):
        with pytest.raises(FormatError, match=f"^stream:1: the model takes {takes}"):
            list(iter_documents(io.BytesIO(raw), "jsonl", takes=takes, on_error="skip"))


def test_nothing_to_read_is_no_error_here():
    assert texts_of(b"") == []
    with pytest.raises(FormatError, match="queries with candidates have no labels"):
        list(iter_documents(io.BytesIO(b"2 qid:1 1:1\n"), "qid", takes="features"))


class Rows(io.RawIOBase):
    """A stream of rows that are made when they are read."""

    def __init__(self, rows):
        self.rows = rows
        self.rest = b""

    def readable(self):
        return True

    def readinto(self, buffer):
        while len(self.rest) < len(buffer) and (row := next(self.rows, b"")):
            self.rest += row
        part, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


NEW_NAMES = (json.dumps({"features": {f"name{i}": 1, f"other{i}": 2}}).encode() + b"\n" for i in itertools.count())


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "n", "takes"), [
    (itertools.repeat(b"word " * 10_000 + b"\n"), 1000, "text"),
    (itertools.repeat(b'{"text": "' + b"word " * 10_000 + b'"}\n'), 1000, "text"),
    (itertools.repeat(b"1:1 2:2 3:3\n"), 100_000, "features"),
    (NEW_NAMES, 50_000, "features"),
], ids=["texts", "JSON", "numbers", "ever new names"])  # fmt: skip
def test_memory_is_bounded(rows, n, takes):
    stream = Rows(itertools.islice(rows, n))
    tracemalloc.start()
    total = sum(len(block) for block in iter_documents(stream, takes=takes))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == n
    assert peak < 5 * 2**20  # the texts are 50 MB
