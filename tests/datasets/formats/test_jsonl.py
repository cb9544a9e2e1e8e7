from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import read_corpus
from arcrank.datasets.formats.jsonl import parse_row
from arcrank.datasets.formats.lines import RowError
from arcrank.errors import FormatError, InputError

TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
LABELS = st.lists(NAMES, unique=True, max_size=5)


def read(*rows, **options):
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return read_corpus(io.BytesIO(b"\n".join(lines)), "jsonl", **options)


def arcs_of(corpus, i):
    heads, tails = corpus.graphs().arcs(i)
    return {(corpus.labels[h], corpus.labels[t]) for h, t in zip(heads, tails, strict=True)}


@given(st.lists(st.tuples(TEXTS, LABELS), min_size=1), st.booleans())
def test_texts_and_labels_come_back(rows, ascii_only):
    raw = [json.dumps({"text": t, "labels": ls}, ensure_ascii=ascii_only).encode() for t, ls in rows]
    corpus = read(*raw)
    assert corpus.texts == [text for text, _ in rows]
    assert corpus.label_sets == [labels for _, labels in rows]
    assert corpus.labels == sorted({label for _, labels in rows for label in labels})


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


@given(st.lists(st.dictionaries(TEXTS, NUMBERS, max_size=5), min_size=1))
def test_features_come_back(rows):
    corpus = read(*({"features": row, "labels": []} for row in rows))
    dense = corpus.X.toarray()
    assert dense.shape == (len(rows), len({name for row in rows for name in row}))
    for i, row in enumerate(rows):
        expected = {name: float(value) for name, value in row.items()}
        found = {name: dense[i, j] for j, name in enumerate(corpus.feature_names)}
        assert found == {name: expected.get(name, 0.0) for name in found}


def test_kinds_mix_in_one_file():
    corpus = read(
        {"text": "1", "labels": ["a"], "id": "first"},
        {"text": "2", "layers": [["a"], ["b", "c"]]},
        {"text": "3", "ranking": ["b", ["c", "a"], "d"], "id": 3},
        {"text": "4", "arcs": [["a", "b"], ["b", "a"], ["c", "d"]]},
    )
    assert corpus.ids == ["first", None, "3", None]
    assert corpus.labels == ["a", "b", "c", "d"]
    assert arcs_of(corpus, 0) == {("a", "b"), ("a", "c"), ("a", "d")}
    assert arcs_of(corpus, 1) == {("a", "b"), ("a", "c")}
    assert arcs_of(corpus, 2) == {("b", "c"), ("b", "a"), ("b", "d"), ("c", "d"), ("a", "d")}
    assert arcs_of(corpus, 3) == {("a", "b"), ("b", "a"), ("c", "d")}


def test_blank_lines_and_a_byte_order_mark():
    corpus = read(b'\xef\xbb\xbf{"text": "a", "labels": []}\r', b"", b'{"text": "b", "labels": ["x"]}\r', b"")
    assert corpus.texts == ["a", "b"]


def test_whole_numbers_are_names_too():
    assert read({"text": "", "labels": [3, 3, "x"]}).label_sets == [["3", "x"]]


def test_a_label_given_twice_is_one():
    assert read({"text": "", "labels": ["x", "y", "x"]}).label_sets == [["x", "y"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a", "labels": ["x"]', "invalid JSON"),
        (b'["a"]', "invalid JSON"),
        (b'{"text": "a", "text": "b", "labels": []}', "invalid JSON"),
        (b'{"features": {"x": NaN}, "labels": []}', "invalid features"),
        (b"[" * 100_000, "invalid JSON"),
        (b'{"text": "\xff", "labels": []}', "invalid UTF-8"),
        (b'{"text": "\\ud800", "labels": []}', "invalid Unicode"),
        (b'{"text": "a"}', "no labels"),
        (b'{"text": "a", "labels": [], "arcs": []}', "not one kind of preference"),
        (b'{"labels": []}', "no document"),
        (b'{"text": "a", "features": {}, "labels": []}', "text and features"),
        (b'{"text": 1, "labels": []}', "invalid text"),
        (b'{"features": [1], "labels": []}', "invalid features"),
        (b'{"features": {"x": "1"}, "labels": []}', "invalid features"),
        (b'{"features": {"x": true}, "labels": []}', "invalid features"),
        (b'{"features": {"x": 1e999}, "labels": []}', "invalid features"),
        (b'{"features": {"x": 1' + b"0" * 400 + b'}, "labels": []}', "invalid features"),
        (b'{"text": "a", "labels": {"x": 1}}', "invalid labels"),
        (b'{"text": "a", "labels": 1.5}', "invalid labels"),
        (b'{"text": "a", "label": ["x", null]}', "invalid labels"),
        (b'{"text": "a", "label": "x;y"}', "ambiguous labels"),
        (b'{"text": "a", "label": "x", "labels": ["x"]}', "not one kind of preference"),
        (b'{"text": "a", "labels": [true]}', "invalid labels"),
        (b'{"text": "a", "labels": [["x"]]}', "invalid labels"),
        (b'{"text": "a", "layers": ["x"]}', "invalid labels"),
        (b'{"text": "a", "layers": [["x"], ["x"]]}', "invalid labels"),
        (b'{"text": "a", "ranking": ["x", ["y", "x"]]}', "invalid labels"),
        (b'{"text": "a", "arcs": [["x"]]}', "invalid arcs"),
        (b'{"text": "a", "arcs": [["x", "x"]]}', "invalid arcs"),
        (b'{"text": "a", "arcs": [["x", "y"], ["x", "y"]]}', "invalid arcs"),
        (b'{"text": "a", "labels": [], "id": []}', "invalid id"),
    ],
)
def test_a_bad_row_is_an_error_or_a_counted_skip(line, reason):
    with pytest.raises(RowError) as caught:
        parse_row(line)
    assert caught.value.reason == reason
    good = {"features" if b"features" in line else "text": {} if b"features" in line else "", "labels": ["x"]}
    with pytest.raises(FormatError, match=f"^stream:2: {reason}"):
        read(good, line)
    corpus = read(good, line, good, on_error="skip")
    assert len(corpus) == 2
    assert corpus.skipped == {reason: 1}


@pytest.mark.parametrize(("name", "told"), [("", "is empty"), ("\0", "a NUL character"), ("a\0", "a NUL character")])
@pytest.mark.parametrize("kind", ["labels", "layers", "ranking", "arcs"])
def test_names_that_cannot_be_read_are_refused(name, told, kind):
    value = {"labels": [name], "layers": [["a"], [name]], "ranking": ["a", name], "arcs": [["a", name]]}[kind]
    row = {"text": "oil", kind: value}
    with pytest.raises(FormatError, match=f"stream:2: invalid labels: the name .* {told}"):
        read({"text": "oil", "labels": ["a"]}, row)
    assert read({"text": "oil", "labels": ["a"]}, row, on_error="skip").skipped == {"invalid labels": 1}
    with pytest.raises(InputError, match=told):
        read({"text": "oil", "labels": ["a"]}, labels=["a", name])


def test_texts_and_features_do_not_mix():
    rows = ({"text": "a", "labels": []}, {"features": {}, "labels": []})
    with pytest.raises(FormatError, match="stream:2: texts and features"):
        read(*rows)
    assert read(*rows, on_error="skip").skipped == {"texts and features in one file": 1}


@pytest.mark.parametrize("row", [{"labels": ["z"]}, {"layers": [["a"], ["z"]]}, {"arcs": [["a", "z"]]}])
def test_a_label_outside_the_vocabulary(row):
    with pytest.raises(FormatError, match="stream:2: label not in the vocabulary: 'z'"):
        read({"text": "", "labels": ["a"]}, {"text": "", **row}, labels=["b", "a"])
    corpus = read({"text": "", "labels": ["a"]}, {"text": "", **row}, labels=["b", "a"], on_error="skip")
    assert corpus.labels == ["b", "a"]
    assert corpus.skipped == {"label not in the vocabulary": 1}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"text": "a", "labels": ["x"}', r"at column 29$"),
        (b"text,labels", r"a row is an object \{...\}, not 'text,labels'"),
        (b"[", "but this starts a JSON array"),
        (b'{"text": "a", "id": 3}', 'no labels: a row needs one of labels, .*; this one has "text", "id"'),
        (b"{}", "this one has nothing"),
    ],
)
def test_what_is_wrong_is_said_without_a_second_line_number(line, told):
    with pytest.raises(RowError, match=told) as caught:
        parse_row(line)
    assert "line 1" not in str(caught.value)


@pytest.mark.parametrize(
    ("codec", "told"), [("latin-1", "probably Latin-1.\n.* -f latin1 "), ("utf-16", "UTF-16.\n.*utf16 ")]
)
def test_other_encodings_are_named(codec, told):
    with pytest.raises(FormatError, match=f"stream:1: invalid UTF-8: byte 0x.. at position .*{told}-t utf8 IN > OUT"):
        read('{"text": "Öl", "labels": []}'.encode(codec))
    with pytest.raises(FormatError, match="probably not a text file$"):
        read(b"PK\3\4\0\0\xff")


@pytest.mark.parametrize(("line", "told"), [
    (b'1\n[{"text": "a", "labels": []}]', r"a row is an object"),
    (b"[", r"stream:1: invalid JSON: the array is not closed"),
    (b"{", r"a whole object .* on one line.\nWrite one object per line.*jq -c '.' IN"),
    (b'{"text": "a", "tags": ["x"]}', r'"text", "tags".\nIf "tags" holds the labels, pass label_column="tags"'),
    (b'{"body": "a", "labels": []}', r'"body", "labels".\nIf "body" holds the text, pass text_column="body"'),
    (b'{"text": "a", "ranking": "food"}', r'a list, not "food"$'),
    (b'{"text": "a", "ranking": null}', "a list, not null$"),
    (b'{"text": null, "labels": []}', "a string, not null$"),
    (b'{"text": "a", "labels": [null]}', "a whole number, not null$"),
    (b'{"features": {"\xc3\x96l": true}, "labels": []}', '"Öl" has the value true'),
    (b"text,labels", "a row is an object {...}, not 'text,labels'$"),
])  # fmt: skip
def test_what_is_told_of_a_bad_row(line, told):
    with pytest.raises(FormatError, match=told):
        read(line)


@pytest.mark.parametrize(("row", "labels"), [
    ({"label": "crude"}, ["crude"]), ({"label": 3}, ["3"]), ({"label": 3.0}, ["3"]), ({"label": None}, []),
    ({"labels": "crude"}, ["crude"]), ({"labels": 3}, ["3"]), ({"labels": None}, []), ({"labels": ""}, []),
    ({"labels": "crude; ship;"}, ["crude", "ship"]), ({"label": ["a", "b"]}, ["a", "b"]), ({"label": " x "}, ["x"]),
    ({"labels": ["R&D; sales"]}, ["R&D; sales"]),
])  # fmt: skip
def test_single_labels(row, labels):
    assert read({"text": "a", **row}).label_sets == [labels]


def test_a_separator_may_be_named():
    rows = {"text": "a", "label": "x;y"}, {"text": "b", "label": "z"}
    with pytest.raises(FormatError, match='"x;y" could be one label or several') as caught:
        read(*rows)
    assert 'label_separator=";"' in str(caught.value)
    assert read(*rows, label_separator=";").label_sets == [["x", "y"], ["z"]]
    assert read(*rows, label_separator="").label_sets == [["x;y"], ["z"]]
    assert read({"text": "a", "labels": "x, y"}, label_separator=",").label_sets == [["x", "y"]]


def test_strings_with_other_separators_are_doubted_and_lists_are_not():
    with pytest.warns(UserWarning, match="1 of 1 rows have a label with ','"):
        read({"text": "a", "labels": "x, y"})
    assert read({"text": "a", "labels": ["x, y"]}).labels == ["x, y"]


def test_fields_of_other_names():
    rows = {"body": "oil", "topics": ["crude"], "text": 1, "labels": 1.5}, {"body": "corn", "topics": 3}
    corpus = read(*rows, text_column="body", label_column="topics")
    assert (corpus.texts, corpus.label_sets) == (["oil", "corn"], [["crude"], ["3"]])
    with pytest.raises(FormatError, match='stream:1: no document: there is no "title"; this row has "body"'):
        read(*rows, text_column="title", label_column="topics")
    with pytest.raises(FormatError, match='stream:1: no labels: there is no "tags"; this row has "body"'):
        read(*rows, text_column="body", label_column="tags")
