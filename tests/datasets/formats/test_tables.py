from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import read_corpus
from arcrank.errors import FormatError

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=";\0"), min_size=1).filter(
    lambda name: name == name.strip()
)
ROWS = st.lists(st.tuples(TEXTS, st.lists(NAMES, unique=True, max_size=4)), min_size=1)


def read(raw, format="csv", **options):
    raw = raw.encode() if isinstance(raw, str) else raw
    return read_corpus(io.BytesIO(raw), format, **options)


def write(rows, delimiter, line_end, header, quoting):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([["text", "labels"]] * header + [[text, ";".join(labels)] for text, labels in rows])
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:.*labels are separated by")
@given(ROWS, st.sampled_from([",", "\t", ";", "|", ":", "§"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_whatever_the_csv_module_writes_comes_back(rows, delimiter, line_end, header):
    raw = write(rows, delimiter, line_end, header, csv.QUOTE_ALL)
    options = {} if delimiter in ",\t" else {"delimiter": delimiter, "label_separator": ";"}
    corpus = read(raw, "tsv" if delimiter == "\t" else "csv", header=header, **options)
    assert corpus.texts == [text for text, _ in rows]
    assert corpus.label_sets == [labels for _, labels in rows]


@pytest.mark.filterwarnings("ignore:.*labels are separated by")
@given(ROWS)
def test_minimal_quoting_comes_back(rows):
    # the csv module leaves a text of spaces bare, and a line of spaces is blank here
    rows = [("x" + text, labels) for text, labels in rows]
    corpus = read(write(rows, "\t", "\n", False, csv.QUOTE_MINIMAL), "tsv", header=False)
    assert corpus.texts == [text for text, _ in rows]
    assert corpus.label_sets == [labels for _, labels in rows]


@pytest.mark.parametrize("header", ["text,labels", "Text, Label ", "id,text,notes,labels"])
def test_a_header_is_recognised(header):
    cells = {"text": "oil", "labels": "crude;ship", "label": "crude;ship", "id": "7", "notes": "-"}
    row = ",".join(cells[name.strip().lower()] for name in header.split(","))
    corpus = read(f"{header}\n{row}\n")
    assert corpus.texts == ["oil"]
    assert corpus.label_sets == [["crude", "ship"]]
    assert corpus.ids == (["7"] if "id" in header else None)


def test_a_header_is_not_imagined():
    assert read("the text\tsome labels\noil\tcrude\n", "tsv").texts == ["the text", "oil"]
    assert read("text,labels\n", header=False).texts == ["text"]


def test_a_header_that_was_promised_must_be_there():
    with pytest.raises(FormatError, match="stream:1: no header"):
        read("oil,crude\n", header=True)


@pytest.mark.parametrize("header", ["title,tags", "text,topics", "id,question_text,Genre(s)", "Movie Title,tags"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_header_of_other_columns_is_no_document(header, on_error):
    with pytest.raises(FormatError, match="stream:1: this looks like a header") as caught:
        read(f"{header}\noil,crude\n", on_error=on_error)
    assert header.split(",")[0] in str(caught.value)
    assert "text_column= and label_column=, or rename them to text and labels" in str(caught.value)
    if header.count(",") == 1:
        assert len(read(f"{header}\noil,crude\n", header=False)) == 2


def test_a_first_line_whose_label_never_comes_again_is_doubted():
    rows = "oil,crude\ncorn,grain\nwheat,grain\n"
    with pytest.warns(UserWarning, match="the first line was read as a document, 'foo' with the label 'bar'"):
        assert len(read("foo,bar\n" + rows)) == 4
    assert len(read("foo,bar\n" + rows, header=False)) == 4
    assert len(read("foo,grain\n" + rows)) == 4


@pytest.mark.parametrize("separator", ["|", ","])
def test_other_separators_of_labels_are_doubted(separator):
    rows = f'text,labels\none,"a{separator}b"\ntwo,a\n'
    with pytest.warns(UserWarning, match="1 of 2 rows have a label with .*; labels are separated by ';'"):
        assert read(rows).label_sets == [[f"a{separator}b"], ["a"]]
    assert len(read(rows + "three,a;c\n")) == 3


def test_spaces_around_labels_and_empty_cells():
    corpus = read("oil, crude ; ship\nnothing,\n")
    assert corpus.label_sets == [["crude", "ship"], []]


def test_quotes_inside_an_unquoted_cell_are_characters():
    assert read('a 5" disk\thardware\n', "tsv").texts == ['a 5" disk']


def test_long_cells_are_no_problem():
    text = "word " * 100_000
    assert read(f'"{text}",x\n').texts == [text]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"only a text", "wrong number of columns"),
        (b"a,b,c", "wrong number of columns"),
        (b'"a" b,x', "text after a closing quote"),
        (b"\xff,x", "invalid UTF-8"),
    ],
)
def test_a_bad_row_is_an_error_or_a_counted_skip(row, reason):
    raw = b"good,x\n" + row + b"\nalso good,y\n"
    with pytest.raises(FormatError, match=f"^stream:2: {reason}"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert corpus.texts == ["good", "also good"]
    assert corpus.skipped == {reason: 1}


def test_a_quote_that_is_never_closed_swallows_nothing():
    raw = 'good,x\n"open,x\nthird,y\nfourth,y\n'
    with pytest.raises(FormatError, match="stream:2: quote never closed"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert corpus.texts == ["good", "third", "fourth"]
    assert corpus.skipped == {"quote never closed": 1}


def test_a_quoted_cell_has_a_limit_too():
    raw = '"open,x\n' + "row,y\n" * 100
    corpus = read(raw, on_error="skip", max_line_bytes=50)
    assert len(corpus) == 100
    assert corpus.skipped == {"line too long": 1}


def test_errors_after_quoted_line_ends_have_the_right_line():
    with pytest.raises(FormatError, match="stream:4: wrong number"):
        read('"one\ntwo",x\nb,y\nbad\n')


@pytest.mark.parametrize(("header", "format", "found"), [
    ("text;labels", "csv", "commas, but this header has semicolons"), ("Id;Text;Label", "csv", "has semicolons"),
    ("text\tlabels", "csv", "has tabs"), ("text,labels", "tsv", "tabs, but this header has commas"),
])  # fmt: skip
def test_other_separators_are_named(header, format, found):
    with pytest.raises(FormatError, match=f"stream:1: cells are separated by .*{found}.*\n.*CSV"):
        read(f"{header}\noil\n", format)


def test_other_separators_without_a_known_header():
    with pytest.raises(FormatError, match="1 instead of 2, .*; cells are separated by commas"):
        read("cheap oil is back again;crude\n")
    with pytest.raises(FormatError, match="separated by commas, not by semicolons"):
        read('"text";"labels"\n"oil";"crude"\n')


def test_empty_names_of_labels_are_dropped():
    assert read("oil,crude;\nship,;a;;b\nnone,;\n").label_sets == [["crude"], ["a", "b"], []]


SEMICOLONS = "text;labels\noil;crude\ncorn;{}\n"


def test_a_file_with_another_delimiter():
    assert read(SEMICOLONS.format("grain"), delimiter=";").label_sets == [["crude"], ["grain"]]
    assert read("oil|crude;ship\n", delimiter="|").label_sets == [["crude", "ship"]]
    assert read("text,labels\noil,crude\n", "tsv", delimiter=",").texts == ["oil"]


@pytest.mark.parametrize("cell", ["grain,corn", '"grain;corn"', "grain | corn"])
def test_where_the_delimiter_is_a_semicolon_nothing_is_guessed_about_labels(cell):
    raw, sign = SEMICOLONS.format(cell), next(sign for sign in ";,|" if sign in cell)
    with pytest.raises(FormatError, match="stream:3: ambiguous labels: ") as caught:
        read(raw, delimiter=";")
    assert f'label_separator="{sign}"' in str(caught.value)
    assert read(raw, delimiter=";", label_separator=sign).label_sets[1] == ["grain", "corn"]
    assert read(raw, delimiter=";", label_separator="").label_sets[1] == [cell.strip('"')]


def test_the_hint_names_the_delimiter():
    for raw in ("text;labels\noil;crude\n", '"text";"labels"\n"oil";"crude"\n'):
        with pytest.raises(FormatError, match='read it with delimiter=";"|Read it with delimiter=";"'):
            read(raw)
        assert read(raw, delimiter=";").label_sets == [["crude"]]
    with pytest.raises(FormatError, match=r'Read it with delimiter="\\t"'):
        read("text\tlabels\noil\tcrude\n")
    with pytest.raises(FormatError, match="1 instead of 2, .* or by what delimiter= says"):
        read("cheap oil is back again;crude\n")


def test_columns_are_named():
    raw = "title,Tags,text\noil,crude;ship,x\n"
    corpus = read(raw, text_column="title", label_column="tags")
    assert (corpus.texts, corpus.label_sets) == (["oil"], [["crude", "ship"]])
    assert read(raw, label_column="Tags").texts == ["x"]
    with pytest.raises(FormatError, match="stream:1: there is no column 'topics', only title, Tags, text"):
        read(raw, label_column="topics")
    with pytest.raises(FormatError, match="stream:1: the column could be 'label' or 'labels'"):
        read("text,label,labels\na,b,c\n")
    with pytest.raises(FormatError, match="stream:1: columns text and labels are needed, got title, Tags, text"):
        read(raw, text_column="title")


def test_columns_of_any_name_are_found():
    corpus = read("q,a\noil,crude\n", text_column="q", label_column="a")
    assert (corpus.texts, corpus.label_sets) == (["oil"], [["crude"]])
