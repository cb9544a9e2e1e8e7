from __future__ import annotations

import gzip
import json
import lzma
import tracemalloc

import numpy as np
import pytest

from arcrank.datasets import Corpus, iter_corpus, load_debtags_sample, read_corpus
from arcrank.datasets.registry import CORPORA
from arcrank.datasets.writers import WRITERS, compress_lines, rows_of
from arcrank.errors import MissingDataError, ParameterError
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell, write_rows

ROWS = [
    {"id": "1", "text": 'a "quoted"\ttext,\nwith lines', "labels": ["🦊 fox", "new\nline", "x" * 10_000]},
    {"id": "2", "text": "", "labels": []},
    {"id": "3", "text": "crlf\r\nhere", "labels": ["tab\tbed", 'quo"te']},
]


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCRANK_DATA", str(tmp_path / "corpora"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "corpora").mkdir()
    return tmp_path / "corpora"


def test_the_list_tells_what_is_here(nothing_here):
    (nothing_here / "debtags.jsonl.xz").touch()
    found = json.loads(call("data", "list", "--json").stdout)
    check_output(found, "data-list")
    assert [one["name"] for one in found if one["found"]] == ["debtags-sample", "debtags"]
    assert "not here" in call("data", "list").stdout


@pytest.mark.parametrize("name", [name for name in CORPORA if name != "debtags-sample"])
def test_a_corpus_that_is_missing_is_asked_for_by_the_name_that_its_loader_looks_for(nothing_here, name):
    with pytest.raises(MissingDataError, match=repr(CORPORA[name].files[0])):
        CORPORA[name].load()
    assert json.loads(call("data", "path", name, "--json").stdout) == {
        "name": name,
        "what": CORPORA[name].what,
        "found": False,
        "path": str(nothing_here / CORPORA[name].files[0]),
    }


def test_the_path_is_data_and_the_advice_is_not(nothing_here):
    done = shell("data", "path", "reuters21578")
    assert done.stdout.strip() == str(nothing_here / "reuters21578")
    assert "reut2-000.sgm" in done.stderr
    assert call("data", "path", "debtags-sample").stdout.strip().endswith("debtags-sample.jsonl.xz")
    assert_told(shell("data", "path", "nope"), "nope", "debtags-sample", "arcrank data list")


def test_the_embedded_sample_becomes_a_file(tmp_path):
    out = tmp_path / "test.jsonl"
    done = shell("data", "convert", "debtags-sample", out, "--split", "test")
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    again, sample = read_corpus(out), load_debtags_sample().split("test")
    assert (again.texts, again.label_sets, again.ids) == (sample.texts, sample.label_sets, sample.ids)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "jsonl.gz", "tsv.xz"])
def test_texts_and_names_survive_byte_for_byte(tmp_path, ending):
    source, out = write_rows(tmp_path / "in.jsonl", ROWS), tmp_path / f"out.{ending}"
    assert call("data", "convert", source, out).exit_code == 0
    again = read_corpus(out)
    assert again.texts == [row["text"] for row in ROWS]
    assert again.label_sets == [row["labels"] for row in ROWS]
    assert again.ids == ["1", "2", "3"]


def test_features_survive(tmp_path):
    rows = [{"features": {"b": 0.1, "a": 1e-7}, "labels": ["x"]}, {"features": {"a": 3}, "labels": ["y", "z"]}]
    source = write_rows(tmp_path / "in.jsonl", rows)
    done = call("data", "convert", source, tmp_path / "a.svm")
    assert "names were left out" in done.stderr
    assert (tmp_path / "a.svm").read_text() == "x 0:0.1 1:1e-07\ny,z 1:3.0\n"
    assert call("data", "convert", tmp_path / "a.svm", tmp_path / "b.jsonl").exit_code == 0
    assert call("data", "convert", tmp_path / "b.jsonl", tmp_path / "c.svm").exit_code == 0
    a, c = read_corpus(tmp_path / "a.svm"), read_corpus(tmp_path / "c.svm")
    assert (a.X != c.X).nnz == 0
    assert a.label_sets == c.label_sets


def test_preferences_survive_in_json_lines(tmp_path):
    rows = [{"text": "a", "layers": [["x"], ["y", "z"]]}, {"text": "b", "arcs": [["x", "y"], ["y", "x"]]}]
    source = write_rows(tmp_path / "in.jsonl", rows)
    assert call("data", "convert", source, tmp_path / "out.jsonl").exit_code == 0
    assert read_corpus(tmp_path / "out.jsonl").preferences == read_corpus(source).preferences


def test_ranks_become_layers():
    ranks = np.array([[2.0, 1.0, np.nan], [1.0, 1.0, 2.0]])
    corpus = Corpus(labels=["a", "b", "c"], X=np.array([[0.0, 1.5], [2.0, 0.0]]), ranks=ranks)
    assert [row["layers"] for row in rows_of(corpus)] == [[["b"], ["a"]], [["a", "b"], ["c"]]]
    assert [row["features"] for row in rows_of(corpus)] == [{"1": 1.5}, {"0": 2.0}]


@pytest.mark.parametrize(
    ("row", "ending", "part"),
    [
        ({"text": "a", "labels": ["a;b"]}, "csv", "separates labels with ;"),
        ({"text": "a", "labels": [" a"]}, "tsv", "drops spaces"),
        ({"features": {"a": 1}, "labels": ["a"]}, "csv", "a table holds texts"),
        ({"text": "a", "labels": ["a"]}, "svm", "svmlight holds numbers"),
        ({"features": {"a": 1}, "labels": ["a b"]}, "svm", "svmlight cannot hold"),
        ({"features": {"a": 1}, "arcs": [["a", "b"]]}, "svm", "holds only label sets"),
        ({"text": "a", "labels": ["a"]}, "parquet", "names no format that can be written"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path, row, ending, part):
    source = write_rows(tmp_path / "in.jsonl", [row])
    done = call("data", "convert", source, tmp_path / f"out.{ending}")
    assert isinstance(done.exception, ParameterError)
    assert part in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize(
    ("content", "part"),
    [(None, "no such file"), (b"", "A first line looks like this: {"), (b'{"text"', ":1: invalid JSON")],
)
def test_bad_input_leaves_what_was_there(tmp_path, content, part):
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    if content is not None:
        (tmp_path / "in.jsonl").write_bytes(content)
    assert_told(shell("data", "convert", tmp_path / "in.jsonl", out), "in.jsonl", part)
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} <= {"in.jsonl", "out.jsonl"}


def test_a_name_that_is_neither_file_nor_corpus(tmp_path):
    assert_told(shell("data", "convert", "nope", tmp_path / "out.jsonl"), "nope: ", "no such file", "arcrank data list")


def test_a_bad_row_is_told_with_its_column_and_a_way_on(tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": x}\n')
    done = shell("data", "convert", source, out)
    assert_told(done, f"{source}:2: ", "at column 25", "--on-error skip")
    assert "line 1" not in done.stderr
    done = shell("data", "convert", source, out, "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    assert "Left out: 1 row that could not be read: invalid JSON (1)" in done.stderr
    source.write_text('{"text": "a"}\n')
    assert_told(
        shell("data", "convert", source, out), f"{source}:1: no labels", "needs one of labels", "--on-error skip"
    )
    done = shell("data", "convert", source, out, "--on-error", "skip")
    assert_told(done, f"{source}: no row could be read: no labels (1)")


def test_a_table_on_standard_input_is_asked_for_its_format(tmp_path):
    done = shell("data", "convert", "-", tmp_path / "out.jsonl", stdin="text,labels\noil,crude\n")
    assert_told(done, "standard input:1: ", "--format csv")


def test_a_header_of_other_columns_is_told(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    source.write_text("title,tags\noil,crude\n")
    done = shell("data", "convert", source, out)
    assert_told(done, f"{source}:1: ", "'title', 'tags'", "text and labels")
    assert "--on-error" not in done.stderr
    source.write_text("text,labels\noil,crude|ship\n")
    done = shell("data", "convert", source, out)
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {source}: 1 of 1 rows have a label with '|' in it")
    assert len(done.stderr.splitlines()) == 2


def test_help_is_short_and_no_error():
    for words in ((), ("data",)):
        done = shell(*words)
        assert done.returncode == 0
        assert "Usage:" in done.stdout
        assert not done.stderr
        assert "bool" not in done.stdout
    assert "ARCRANK_RANK_TOP" in shell("--help").stdout
    assert "env var" not in shell("data", "convert", "--help").stdout
    assert_told(shell("data", "convert", "a", "b", "--to", "x"), "Invalid value for '--to': 'x' is not one of")


def test_splits_are_for_corpora(tmp_path):
    source = write_rows(tmp_path / "in.jsonl", ROWS)
    done = call("data", "convert", source, tmp_path / "out.jsonl", "--split", "train")
    assert "--split is for corpora" in str(done.exception)


def test_queries_are_refused(tmp_path):
    (tmp_path / "q.svm").write_text("2 qid:1 1:1\n1 qid:1 1:2\n")
    done = call("data", "convert", tmp_path / "q.svm", tmp_path / "out.jsonl")
    assert "queries with candidates" in str(done.exception)


def test_standard_input_is_converted(tmp_path):
    done = call("data", "convert", "-", tmp_path / "out.tsv", stdin=json.dumps(ROWS[0]) + "\n")
    assert done.exit_code == 0, done.exception
    assert read_corpus(tmp_path / "out.tsv").label_sets == [ROWS[0]["labels"]]


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(n):
        source = tmp_path / f"{n}.jsonl"
        source.write_text(json.dumps({"text": "some words " * 20, "labels": ["a", "b"]}) * 1 + "\n")
        source.write_text(source.read_text() * n)
        tracemalloc.start()
        for _ in compress_lines("x.gz", WRITERS["tsv"](iter_corpus(source, batch_rows=100))):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100)
    assert peak(4000) < 2 * peak(1000) + 100_000


def test_packed_files_are_what_they_say():
    assert gzip.decompress(b"".join(compress_lines("a.gz", [b"one\n", b"two\n"]))) == b"one\ntwo\n"
    assert lzma.decompress(b"".join(compress_lines("a.xz", [b"x" * 100_000, b"y"]))) == b"x" * 100_000 + b"y"
