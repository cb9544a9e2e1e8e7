"""One JSON array of objects, as pandas writes it with orient="records"."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import iter_corpus, read_corpus
from arcrank.datasets.formats import json_array
from arcrank.errors import FormatError

TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
LABELS = st.lists(NAMES, unique=True, max_size=5)


def read(rows, **options):
    raw = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
    return read_corpus(io.BytesIO(raw), "jsonl", **options)


@given(
    st.lists(st.tuples(TEXTS, LABELS), min_size=1),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
    st.sampled_from([b"", b"\n", b" \r\n\t", b"\xef\xbb\xbf"]),
)
def test_arrays_come_back(rows, indent, ascii_only, before):
    written = json.dumps([{"text": t, "labels": ls} for t, ls in rows], indent=indent, ensure_ascii=ascii_only)
    corpus = read(before + written.encode() + b"\n")
    assert corpus.texts == [text for text, _ in rows]
    assert corpus.label_sets == [labels for _, labels in rows]


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 10) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=4)), st.integers(1, 20), st.sampled_from([None, 1]))
def test_objects_are_read_whole_wherever_the_file_is_cut(rows, chunk, indent):
    """With windows of a few bytes every token is cut at every place."""
    from arcrank.datasets.formats.lines import Lines

    raw = json.dumps(rows, indent=indent, ensure_ascii=False).encode()
    before = json_array._CHUNK
    json_array._CHUNK = chunk
    try:
        found = [fields for _, fields in json_array.objects(Lines(io.BytesIO(raw), "x"))]
    finally:
        json_array._CHUNK = before
    assert found == rows


@given(st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=4), st.data())
def test_an_array_that_is_cut_short_is_never_taken_as_whole(rows, data):
    raw = json.dumps([{"text": t, "labels": ls} for t, ls in rows]).encode()
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]
    with pytest.raises(FormatError, match="^stream:1: invalid JSON"):
        read(cut, on_error="skip")


def test_errors_name_the_record_and_its_line():
    rows = [{"text": "a", "labels": ["x"]}, {"text": "b"}, {"text": "c", "label": 3}]
    raw = json.dumps(rows, indent=2).encode()
    with pytest.raises(FormatError, match=r"^stream: record 2 \(line 8\): no labels"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert corpus.label_sets == [["x"], ["3"]]
    assert corpus.skipped == {"no labels": 1}


def test_half_characters_are_an_error_of_their_row():
    raw = b'[{"text": "\\ud800", "labels": []}, {"text": "a", "labels": ["x"]}]'
    with pytest.raises(FormatError, match=r"record 1 \(line 1\): invalid Unicode"):
        read(raw)
    assert read(raw, on_error="skip").texts == ["a"]


@pytest.mark.parametrize(("raw", "told"), [
    (b'[{"text": "a",\n "labels": ["x"}]', "stream:2: invalid JSON: Expecting ',' delimiter, at '}]'"),
    (b'[{"text": "a", "labels": []} {"text"', "stream:1: invalid JSON: expected ',', not '{\"text\"'"),
    (b'[{"text": "a", "labels": []},]', "a record is an object {...}, not ']'"),
    (b'[{"text": "a", "text": "b", "labels": []}]', "a key given twice"),
    (b'[["oil", "crude"]]', "a record is an object {...}, not "),
    (b"[1, 2]", "a record is an object {...}, not '1, 2]'"),
    (b'[{"text": "a", "labels": []}] []', "nothing should follow the array"),
    (b'[{"text": "a', "invalid JSON: Unterminated string"),
    (b"[" + b'{"a": ' * 100_000, "recursion"),
    (b'[{"text": "\xff"}]', "stream: invalid UTF-8: byte 0xff at position 11; the file is probably Latin-1"),
])  # fmt: skip
def test_broken_arrays_are_not_skipped_over(raw, told):
    for on_error in ("raise", "skip"):
        with pytest.raises(FormatError) as caught:
            read(raw, on_error=on_error)
        assert told in str(caught.value)


def test_an_empty_array_holds_no_rows():
    with pytest.raises(FormatError, match="it has no rows"):
        read(b"[]")


def test_a_record_has_a_limit_too():
    with pytest.raises(FormatError, match="a record of more than 1,000 characters"):
        read(b'[{"text": "' + b"x" * 300_000 + b'", "labels": []}]', max_line_bytes=1000)


def test_a_large_array_needs_the_memory_of_one_block(tmp_path):
    path = tmp_path / "large.json"
    with path.open("w") as stream:
        for i in range(5000):
            stream.write(f"{',' if i else '['}" + json.dumps({"text": "word " * 800, "labels": str(i % 7)}))
        stream.write("]")
    tracemalloc.start()
    total = sum(len(block) for block in iter_corpus(path, batch_rows=100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 5000
    assert peak < 3 * 2**20  # the file holds 20 MB


@pytest.mark.parametrize("raw", [
    b'{"text": {"0": "oil", "1": "corn"}, "labels": {"0": "crude", "1": "grain"}}',
    b'{"0": {"text": "oil", "labels": "crude"}, "1": {"text": "corn", "labels": "grain"}}',
    b'{"columns": ["text", "labels"], "index": [0], "data": [["oil", "crude"]]}',
    b'{"schema": {"fields": []}, "data": [{"index": 0, "text": "oil", "labels": "crude"}]}',
])  # fmt: skip
def test_other_layouts_of_a_whole_table_are_named(raw):
    with pytest.raises(FormatError, match=r"stream:1: not one row: .*a whole table") as caught:
        read(raw)
    assert 'orient="records", lines=True' in str(caught.value)
