"""DataFrames: the same columns and the same rules as in files."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import iter_corpus, learn_stream, read_corpus
from arcrank.errors import FormatError, InputError, ParameterError

pd = pytest.importorskip("pandas")

TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=";,|\0"), min_size=1).filter(lambda n: n == n.strip())


def frame(**columns):
    return pd.DataFrame(columns)


@given(st.lists(st.tuples(TEXTS, st.lists(NAMES, unique=True, max_size=4)), min_size=1))
def test_lists_and_strings_of_labels_come_back(rows):
    texts, sets = [text for text, _ in rows], [labels for _, labels in rows]
    lists = read_corpus(frame(text=texts, labels=sets))
    strings = read_corpus(frame(text=texts, labels=[";".join(labels) for labels in sets]))
    assert lists.texts == strings.texts == texts
    assert lists.label_sets == strings.label_sets == sets
    assert lists.labels == sorted({label for labels in sets for label in labels})


@given(st.lists(st.tuples(TEXTS, st.lists(NAMES, unique=True, min_size=1, max_size=1)), min_size=1))
def test_what_pandas_writes_is_read_like_the_frame_itself(rows):
    table = frame(text=[text for text, _ in rows], label=[labels[0] for _, labels in rows])
    expected = read_corpus(table)
    for lines in (True, False):
        raw = table.to_json(orient="records", lines=lines, force_ascii=False).encode()
        found = read_corpus(io.BytesIO(raw), "jsonl")
        assert (found.texts, found.label_sets) == (expected.texts, expected.label_sets)


def test_an_index_and_other_columns_do_not_matter():
    table = frame(text=["oil", "corn"], labels=["crude", "grain"], id=[7, 8], notes=[1.5, 2.5])
    for found in (read_corpus(table), read_corpus(table.set_index("notes"))):
        assert found.texts == ["oil", "corn"]
        assert found.ids == ["7", "8"]
        assert found.source == "DataFrame"


def test_single_labels_of_every_type_are_strings():
    numbers = pd.Series([3, None], dtype="Int64")
    for labels in (pd.Series([3, 4]), pd.Series([[3], [4]]), pd.Series(["3", "4"], dtype="category")):
        assert read_corpus(frame(text=["a", "b"], label=labels)).label_sets == [["3"], ["4"]]
    for labels in (numbers, numbers.astype("float64"), numbers.astype(object), pd.Series([[3], []])):
        assert read_corpus(frame(text=["a", "b"], label=labels)).label_sets == [["3"], []]
    arrays = pd.Series([numbers.dropna().to_numpy(dtype="int64"), {"y", "x"}])
    assert read_corpus(frame(text=["a", "b"], labels=arrays)).label_sets == [["3"], ["x", "y"]]


def test_columns_of_other_names():
    table = frame(body=["oil"], topics=["crude,ship"])
    with pytest.raises(FormatError, match="DataFrame: columns text and labels are needed, got body, topics") as caught:
        read_corpus(table)
    assert "text_column= and label_column=" in str(caught.value)
    found = read_corpus(table, text_column="body", label_column="topics", label_separator=",")
    assert (found.texts, found.label_sets) == (["oil"], [["crude", "ship"]])
    with pytest.raises(FormatError, match="DataFrame: there is no column 'bodies', only body, topics"):
        read_corpus(table, text_column="bodies", label_column="topics")
    with pytest.raises(FormatError, match="columns text and labels are needed, got body, topics"):
        read_corpus(table, text_column="body")
    with pytest.raises(ParameterError, match="are the same column"):
        read_corpus(table, text_column="body", label_column="body")


def test_columns_that_could_both_be_meant():
    table = frame(text=["oil"], label=["crude"], labels=[["ship"]])
    with pytest.raises(FormatError, match="DataFrame: the column could be 'label' or 'labels'") as caught:
        read_corpus(table)
    assert "label_column=" in str(caught.value)
    assert read_corpus(table, label_column="labels").label_sets == [["ship"]]
    twice = pd.DataFrame([["oil", "crude", "x"]], columns=["text", "label", "label"])
    with pytest.raises(FormatError, match="column names must be unique"):
        read_corpus(twice, label_column="label")


def test_names_of_columns_that_are_no_strings():
    table = pd.DataFrame({0: ["oil"], 1: ["crude"]})
    assert read_corpus(table, text_column="0", label_column="1").label_sets == [["crude"]]


def test_bad_rows_have_their_position():
    table = frame(text=["oil", None, "corn"], labels=["crude", "x", True])
    with pytest.raises(FormatError, match=r"^DataFrame\.iloc\[1\]: invalid text: a string, not "):
        read_corpus(table)
    found = read_corpus(table, on_error="skip")
    assert found.texts == ["oil"]
    assert found.skipped == {"invalid text": 1, "invalid labels": 1}


def test_labels_that_another_character_separates_are_doubted():
    table = frame(text=["a", "b"], labels=["x,y", "z"])
    with pytest.warns(UserWarning, match="1 of 2 rows have a label with ','"):
        read_corpus(table)
    assert read_corpus(table, label_separator="").label_sets == [["x,y"], ["z"]]


def test_blocks_and_streams():
    table = frame(text=[f"tea {i}" for i in range(25)], label=["a", "b", "c", "d", "e"] * 5)
    assert [len(block) for block in iter_corpus(table, batch_rows=10)] == [10, 10, 5]

    from arcrank import MMPRanker
    from arcrank.text import HashedTextFeatures

    assert learn_stream(MMPRanker(), table, features=HashedTextFeatures(n_features=64)).documents == 25


def test_an_empty_frame():
    with pytest.raises(FormatError, match="DataFrame: there are no rows"):
        read_corpus(frame(text=[], labels=[]))


def test_tables_of_pyarrow_and_of_polars():
    columns = {"text": ["oil", "corn"], "labels": [["crude", "ship"], []], "id": [1, None]}
    tables = [pa.table(columns)]
    try:
        import polars

        tables.append(polars.DataFrame(columns))
    except ImportError:
        pass
    for table in tables:
        found = read_corpus(table)
        assert (found.label_sets, found.ids) == ([["crude", "ship"], []], ["1", None])


@pytest.mark.parametrize("options", [{"format": "csv"}, {"delimiter": ";"}])
def test_a_frame_has_no_format(options):
    with pytest.raises(ParameterError, match="DataFrame"):
        read_corpus(frame(text=["a"], labels=["b"]), **options)


@pytest.mark.parametrize("source", [[{"text": "oil"}], {"text": ["oil"]}, None, 3, pd.Series(["oil"])])
def test_what_else_is_given_is_told_what_to_give(source):
    for read in (read_corpus, iter_corpus):
        with pytest.raises(InputError, match="A path, a binary stream or a DataFrame") as caught:
            read(source)
        assert "pandas.DataFrame" in str(caught.value)


def test_a_stream_of_text_is_told_to_be_opened_for_bytes():
    with pytest.raises(InputError, match=r'open\(path, "rb"\)'):
        read_corpus(io.StringIO("text,labels"), "csv")
