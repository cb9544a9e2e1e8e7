from __future__ import annotations

import gzip
import io
import json
import lzma
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import iter_corpus, read_corpus
from arcrank.errors import FormatError, ParameterError

JSONL = b'{"text": "oil", "labels": ["crude"]}\n{"text": "tanker", "labels": ["ship", "crude"]}\n'
SAMPLES = {
    "a.jsonl": JSONL,
    "a.ndjson": JSONL,
    "a.json": JSONL,
    "a.csv": b"oil,crude\ntanker,ship;crude\n",
    "a.tsv": b"text\tlabels\noil\tcrude\ntanker\tship;crude\n",
    "a.svm": b"crude 1:1\nship,crude 2:1\n",
    "a.libsvm": b"# comment\n\ncrude 1:1\nship,crude 2:1\n",
    "qid.svm": b"# comment\n1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n",
    "xc.txt": b"2 3 2\n0 1:1\n1,0 2:1\n",
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_ending_tells_the_format_packed_or_not(tmp_path, name, pack):
    path = tmp_path / (name + {bytes: "", gzip.compress: ".gz", lzma.compress: ".xz"}[pack])
    path.write_bytes(pack(SAMPLES[name]))
    corpus = read_corpus(path)
    assert len(corpus) == 2
    assert corpus.graphs().shape == (2, 2)
    assert (corpus.ptr is not None) == (name == "qid.svm")
    assert corpus.source == str(path)
    assert corpus.skipped == {}
    assert len(read_corpus(str(path))) == 2


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "svmlight", "qid", "xc"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_rows_is_an_error(format, on_error, content):
    with pytest.raises(FormatError, match="stream"):
        read_corpus(io.BytesIO(content), format, on_error=on_error)
    with pytest.raises(FormatError, match="stream"):
        list(iter_corpus(io.BytesIO(content), format, on_error=on_error))


@pytest.mark.parametrize(("format", "line"), [("jsonl", '{"text": '), ("csv", "text,labels"), ("svmlight", "1:0.5")])
def test_an_empty_file_is_shown_a_first_line(format, line):
    with pytest.raises(FormatError, match="stream: the file is empty or blank") as caught:
        read_corpus(io.BytesIO(b""), format)
    assert line in str(caught.value)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_file_is_an_error_even_when_rows_are_skipped(tmp_path, name, pack):
    path = tmp_path / f"{name}.{'gz' if pack is gzip.compress else 'xz'}"
    path.write_bytes(pack(SAMPLES[name])[:-9])
    with pytest.raises(FormatError, match="truncated or damaged"):
        read_corpus(path, on_error="skip")


class LongLine(io.RawIOBase):
    """A stream of one good row, a line of 100 MB that never exists in memory, and another good row."""

    def __init__(self, row: bytes) -> None:
        self.parts = [(row + b"\n", 1), (b"x" * 2**20, 100), (b"\n" + row + b"\n", 1)]
        self.rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if not self.rest and self.parts:
            content, times = self.parts.pop(0)
            self.rest = content
            if times > 1:
                self.parts.insert(0, (content, times - 1))
        part, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


ROWS = {
    "jsonl": b'{"text": "a", "labels": ["b"]}',
    "csv": b"a,b",
    "tsv": b"a\tb",
    "svmlight": b"b 1:1",
    "qid": b"1 qid:1 1:1",
}


@pytest.mark.parametrize("format", ROWS)
def test_a_line_of_100_mb(format):
    with pytest.raises(FormatError, match="stream:2: line too long: more than 16,777,216 bytes"):
        read_corpus(LongLine(ROWS[format]), format)
    tracemalloc.start()
    corpus = read_corpus(LongLine(ROWS[format]), format, on_error="skip", max_line_bytes=2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert corpus.skipped == {"line too long": 1}
    assert len(corpus) == (1 if format == "qid" else 2)
    assert peak < 10 * 2**20


@pytest.mark.parametrize("length", [9, 10, 11, 12, 13])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_limit_is_exact_and_takes_no_other_line_along(length, end):
    line = b"a," + b"b" * (length - 2)
    corpus = read_corpus(io.BytesIO(line + end + b"c,d" + end), "csv", on_error="skip", max_line_bytes=11)
    kept = length <= (11 if end == b"\n" else 10)  # a table keeps the \r until it knows whether it is quoted
    assert corpus.texts == (["a", "c"] if kept else ["c"])
    assert corpus.n_skipped == (not kept)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 7))
def test_blocks_add_up_to_the_whole(good, batch_rows):
    lines = [json.dumps({"features": {str(i % 5): i}, "labels": [str(i)]}) if ok else "?" for i, ok in enumerate(good)]
    raw = "\n".join(lines).encode()
    blocks = list(iter_corpus(io.BytesIO(raw), "jsonl", batch_rows=batch_rows, on_error="skip"))
    whole = read_corpus(io.BytesIO(raw), "jsonl", on_error="skip")
    assert sum(len(block) for block in blocks) == len(whole) == sum(good)
    assert sum(block.n_skipped for block in blocks) == whole.n_skipped == good.count(False)
    assert [labels for block in blocks for labels in block.label_sets] == whole.label_sets
    row = 0
    for block in blocks:
        if len(block):
            assert block.feature_names == whole.feature_names[: len(block.feature_names)]
            difference = whole.X[row : row + len(block), : block.X.shape[1]] != block.X
            assert difference.nnz == 0
        row += len(block)


@pytest.mark.slow
def test_blocks_of_a_large_file_need_the_memory_of_one(tmp_path):
    path = tmp_path / "large.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as stream:
        for i in range(20_000):
            stream.write(json.dumps({"text": "word " * 400, "labels": [str(i % 7)]}) + "\n")
    tracemalloc.start()
    total = sum(len(block) for block in iter_corpus(path, batch_rows=100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 20_000
    assert peak < 3 * 2**20  # the file holds 40 MB


def test_several_blocks_of_every_kind_join():
    rows = [{"text": str(i), **({"arcs": [["a", "b"]]} if i > 4500 else {"labels": ["a"]})} for i in range(9000)]
    rows[8000]["id"] = "eight"
    corpus = read_corpus(io.BytesIO("\n".join(map(json.dumps, rows)).encode()), "jsonl")
    assert len(corpus) == len(corpus.preferences) == len(corpus.ids) == 9000
    assert corpus.ids[8000] == "eight"
    assert corpus.graphs().shape == (9000, 2)
    candidates = "\n".join(f"{i % 3} qid:{i // 2} {i % 50}:1" for i in range(10_000))
    corpus = read_corpus(io.BytesIO(candidates.encode()), "qid")
    assert corpus.X.shape == (10_000, 50)
    assert len(corpus) == 5000
    assert corpus.graphs().shape == (5000, 2)


def test_a_stream_is_left_open_and_needs_its_format():
    stream = io.BytesIO(gzip.compress(JSONL))
    assert len(read_corpus(stream, "jsonl")) == 2
    assert not stream.closed
    with pytest.raises(ParameterError, match="format="):
        read_corpus(io.BytesIO(JSONL))


@pytest.mark.parametrize(
    "options",
    [
        {"format": "xml"},
        {"on_error": "ignore"},
        {"labels": []},
        {"labels": ["a", "a"]},
        {"labels": [1]},
        {"delimiter": ""},
        {"delimiter": "||"},
        {"delimiter": '"'},
        {"delimiter": "\n"},
        {"delimiter": 1},
        {"text_column": 1},
        {"label_column": ["a"]},
        {"label_separator": 1},
        {"header": False, "text_column": "a"},
    ],
)
def test_parameters_are_checked(options):
    with pytest.raises(ParameterError):
        read_corpus(io.BytesIO(JSONL), **{"format": "jsonl", **options})
    with pytest.raises(ParameterError):
        iter_corpus(io.BytesIO(JSONL), **{"format": "jsonl", **options})


def test_a_block_has_rows():
    with pytest.raises(ParameterError, match="batch_rows"):
        iter_corpus(io.BytesIO(JSONL), "jsonl", batch_rows=0)


def test_a_file_that_is_not_there_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_corpus(tmp_path / "none.jsonl")


def test_an_unknown_ending(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"no header\n")
    with pytest.raises(ParameterError, match="does not determine the format"):
        read_corpus(path)


def test_options_that_a_format_has_no_use_for(tmp_path):
    path = tmp_path / "a.svm"
    path.write_bytes(b"a 1:1\n")
    for option in ("text_column", "label_column", "label_separator"):
        with pytest.raises(ParameterError, match=f"{option}= is for tables and JSON, .* read as svmlight"):
            read_corpus(path, **{option: "x"})
    with pytest.raises(ParameterError, match="delimiter= is for CSV and TSV files, but this one is read as jsonl"):
        read_corpus(io.BytesIO(JSONL), "jsonl", delimiter=";")


def test_a_delimiter_tells_that_a_file_is_a_table(tmp_path):
    path = tmp_path / "table.txt"
    path.write_bytes(b"text;labels\noil;crude\n")
    assert read_corpus(path, delimiter=";").label_sets == [["crude"]]
