"""`arcrank rank`: a stream of any kind of documents, tables for people, and what it must not import."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import arcrank
from arcrank.cli.blocks import documents_of
from arcrank.cli.reading import Reading
from arcrank.datasets import read_corpus
from arcrank.inference.predictor import top_places
from arcrank.rankers.linear import top_columns
from arcrank.text import TextFeatures
from tests.cli.conftest import call, command, failed, run, write_rows
from tests.cli.json_schema import check_output


def loaded_by(*arguments: object, stdin: str = "") -> set[str]:
    """The modules that a run of the command has loaded at its end."""
    code = (
        "import sys\nfrom arcrank.cli.app import main\n"
        f"sys.argv = ['arcrank', *{[str(argument) for argument in arguments]!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=stdin, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_what_is_not_imported(model):
    assert not loaded_by("--help") & {"numba", "sklearn", "numpy"}
    assert not loaded_by("rank", "--help") & {"numba", "sklearn", "numpy"}
    loaded = loaded_by("rank", model, stdin="oil\n")
    assert "numpy" in loaded
    assert not loaded & {"numba", "sklearn", "scipy"}


def test_very_many_labels_need_neither_estimators_nor_kernels(tmp_path):
    texts, path = ["crude oil", "wheat", "oil tanker"], tmp_path / "shortlist.arcrank"
    ranker = arcrank.ShortlistRanker(random_state=0)
    pipeline = arcrank.make_ranking_pipeline(TextFeatures(min_df=1), ranker)
    arcrank.save(pipeline.fit(texts, [["crude"], ["grain"], ["crude", "ship"]]), path)
    for arguments in (("rank", path), ("explain", path, "--text", "oil"), ("info", path)):
        assert not loaded_by(*arguments, stdin="oil\n") & {"numba", "sklearn", "scipy"}
    (ranked,) = call("rank", path, "-", stdin="crude oil\n").rows
    assert ranked["ranking"] == pipeline.rank(["crude oil"]).tolist()[0]


def test_the_same_as_the_library(model, data):
    result = call("rank", model, data, "--top", "0")
    pipeline, corpus = arcrank.load(model), read_corpus(data)
    X = pipeline[0].transform(corpus.texts)
    scores = pipeline[-1].score_labels(X)
    assert [row["id"] for row in result.rows] == corpus.ids
    assert [row["ranking"] for row in result.rows] == pipeline[-1].rank(X).tolist()
    np.testing.assert_allclose([row["scores"] for row in result.rows], -np.sort(-scores, axis=1), rtol=1e-12)
    for row in result.rows:
        check_output(row, "rank")
    assert result.err == ""


def test_lines_from_a_shell(model):
    lines = '{"text": "oil barrel", "id": 7}\nwheat and corn\n\n[1, 2]\n{"text": broken\n'
    result = run("rank", model, "--top", "1", stdin=lines)
    assert result.code == 0, result.err
    assert [(row.get("id"), row["ranking"]) for row in result.rows][:2] == [("7", ["crude"]), (None, ["grain"])]
    assert len(result.rows) == 5  # what is not a JSON object is a text, a blank line too
    assert [row["known_features"] > 0 for row in result.rows] == [True, True, False, False, False]
    told = result.err.splitlines()
    assert told[0].startswith("standard input:5: this is not JSON (Expecting value at column 10)")
    assert told[1].startswith("3 documents without any word that the model knows")
    assert len(told) == 2


def test_broken_json_is_told_once_and_counted(model):
    result = run("rank", model, stdin='{"text": oil\noil\n{oil}\n')
    assert len(result.rows) == 3
    assert result.err.count("this is not JSON") == 1
    assert "2 lines in total start with {" in result.err


def test_each_line_gets_one_ranking(model):
    for lines, rows in (("oil\n\ncorn", 3), ("oil\n\ncorn\n", 3), ("\n", 1), ("oil\n\n", 2), ("\r\noil\r\n", 2)):
        assert len(call("rank", model, stdin=lines).rows) == rows
    row = call("rank", model, stdin="\n")
    check_output(row.json, "rank")
    assert row.json["known_features"] == 0
    assert "1 document without any word that the model knows" in row.err


@pytest.mark.parametrize("arguments", [("a.jsonl",), ("a.json",), ("a.txt", "--format", "jsonl")])
def test_a_file_of_json_lines_holds_nothing_else(model, tmp_path, arguments):
    path = tmp_path / arguments[0]
    path.write_text('{"text": "oil"}\n\n{"text": corn}\nwheat\n["ship"]\n{"id": 3}\n')
    (tmp_path / "whole.jsonl").write_text('{"text": "oil"}\n')
    told = f"{path}:3: invalid JSON", "at column 10", "--on-error skip"
    failed(run("rank", model, path, *arguments[1:]), *told, n_before=1)
    result = run("rank", model, path, *arguments[1:], "--on-error", "skip")
    assert result.out == call("rank", model, tmp_path / "whole.jsonl").out
    assert result.err == "left out 4 rows that could not be read: invalid JSON (3), no document (1).\n"


def test_a_text_in_place_of_a_file(model):
    failed(
        run("rank", model, "cheap oil"),
        "cheap oil: there is no such file",
        f"echo 'cheap oil' | arcrank rank {model} -",
    )
    failed(call("rank", model, "oil " * 100), 'echo "your text" |')


def test_a_table_that_is_not_said_to_be_one(model):
    assert "--format csv" in call("rank", model, stdin="text,labels\noil,crude\n").err
    assert len(call("rank", model, "--format", "csv", stdin="text,labels\noil,crude\n").rows) == 1


def test_tables_are_not_guessed_at(model, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("title,tags\noil,crude\n")
    failed(run("rank", model, path), f"{path}:1: ", "'title', 'tags'", "--text-column, or rename it to text")
    path.write_text("oil,crude\nwheat, corn, and more,grain\ncorn,grain\n")
    failed(run("rank", model, path), f"{path}:2: wrong number of columns: 4", "quotes", "--on-error skip", n_before=1)
    assert len(call("rank", model, path, "--on-error", "skip").rows) == 2


def test_options_from_the_environment(model, monkeypatch):
    monkeypatch.setenv("ARCRANK_RANK_TOP", "1")
    assert len(run("rank", model, stdin="oil").json["ranking"]) == 1


def test_answers_come_before_the_next_question(model):
    with subprocess.Popen(command("rank", model), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for text, label in (("oil barrel", "crude"), ("wheat corn", "grain")):
            child.stdin.write(text.encode() + b"\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["ranking"][0] == label
        child.communicate(timeout=60)
        assert child.returncode == 0


def test_a_reader_that_has_had_enough(model, data, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(data.read_text() * 200)
    with subprocess.Popen(command("rank", model, many), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read()
        assert child.wait(timeout=60) == 0
    assert err == b""


def test_a_table_for_one_document_on_a_terminal(model, data):
    one = call("rank", model, stdin="oil barrel", terminal=True)
    assert "┃ rank ┃ label" in re.sub(r"\x1b\[[0-9;]*m", "", one.out)
    assert one.out.index("crude") < one.out.index("grain")
    assert len(call("rank", model, data, terminal=True).rows) == 60
    assert call("rank", model, "--json", stdin="oil barrel", terminal=True).json["ranking"][0] == "crude"


def test_explanations(model, online_model):
    for path in (model, online_model):
        row = call("rank", path, "--explain", stdin="oil barrel of oil").json
        check_output(row, "rank")
        why = row["why"]
        assert [why["above"], why["below"]] == row["ranking"][:2]
        assert why["margin"] == pytest.approx(row["scores"][0] - row["scores"][1])
        assert {"oil", "barrel"} <= {part["feature"] for part in why["parts"]}
    assert "part of the margin" in call("rank", model, "--explain", stdin="oil", terminal=True).out


@pytest.mark.parametrize(("name", "text"), [
    ("a.csv", "oil,crude\ncorn,grain\n"), ("a.csv", "id,text\n1,oil\n2,corn\n"), ("a.tsv", "oil\ncorn\n"),
    ("a.txt", "oil\ncorn\n"), ("a.ndjson", '{"text": "oil"}\n{"text": "corn", "labels": ["x"]}\n'),
])  # fmt: skip
def test_texts_of_every_format(model, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert [row["ranking"][0] for row in call("rank", model, path).rows] == ["crude", "grain"]


@pytest.fixture
def numbered(tmp_path):
    """A model of features 1 to 3."""
    path = tmp_path / "rows.svm"
    path.write_text("a 1:1 3:0.5\nb 2:1\nc 3:2\n")
    done = call("train", path, "--model", tmp_path / "numbered", "--learner", "log-linear", "--validate", "0")
    assert done.code == 0, done.err
    return tmp_path / "numbered"


def test_numbered_features(numbered, tmp_path):
    rows = b"a 1:1\n 2:1e0 # no label\n\n3:2\n"
    for result in (call("rank", numbered, stdin=rows), call("rank", numbered, "--format", "svmlight", stdin=rows)):
        assert [row["ranking"][0] for row in result.rows] == ["a", "b", "c"]
    wide = call("rank", numbered, stdin=b"1:1 9:1\n")
    assert wide.json["ranking"][0] == "a"
    assert "Ignored 1 value of" in wide.err
    (tmp_path / "rows").write_bytes(rows)
    assert len(call("rank", numbered, tmp_path / "rows").rows) == 3
    failed(call("rank", numbered, stdin=b"1:1\n1:1 2:x\n"), "standard input:2: ", "invalid features")
    failed(call("rank", numbered, stdin=b'{"text": "oil"}\n'), "standard input:1: ", "takes features")
    failed(call("rank", numbered, stdin=b'{"features": {"x": 1}}\n'), "numbered", "named")
    (tmp_path / "x.csv").write_text("oil\n")
    failed(call("rank", numbered, tmp_path / "x.csv"), "takes features")


def test_named_features_find_their_columns(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"features": {"x": 1.5}, "labels": ["a"]}\n{"features": {"y": 2, "z": 1}, "labels": ["b"]}\n')
    for learner in ("log-linear", "mmp"):
        assert call("train", path, "--model", tmp_path / "m", "--learner", learner, "--validate", "0").code == 0
        asked = '{"features": {"z": 1, "new": 5, "y": 2}}\n{"features": {"x": 3}}\n{"features": {}}\n'
        result = call("rank", tmp_path / "m", stdin=asked)
        assert [row["ranking"][0] for row in result.rows][:2] == ["b", "a"]
        assert ("Ignored 1 value of" in result.err) == (learner == "log-linear")
    failed(call("rank", tmp_path / "m", stdin='{"features": {"x": "big"}}\n'), ":1: ", '"x"')


def test_wrong_models_from_a_shell(model, tmp_path):
    broken = tmp_path / "broken.arcrank"
    broken.write_bytes(model.read_bytes()[:-1])
    failed(run("rank", broken, stdin="oil"), str(broken), "damaged")
    failed(run("rank", tmp_path, stdin="oil"), "is a folder")
    broken.write_bytes(b"no model")
    failed(run("rank", broken, stdin="oil"), "a file that arcrank train wrote")


def test_wrong_use(model, data, tmp_path):
    failed(call("rank", tmp_path / "none", data), "no such model file", "arcrank train")
    failed(call("rank", data, data), "not an arcrank model file")
    failed(call("rank", model, tmp_path / "none.jsonl"), "no such file")
    failed(call("rank", model, stdin=b""), "standard input contains no document")
    failed(call("rank", model, stdin=b"oil\n\xff\n"), "standard input:2: ", "invalid UTF-8", n_before=1)
    failed(call("rank", model, stdin=b'{"labels": []}\n'), "standard input:1: ", '"text"')
    failed(call("rank", model, stdin=b'{"features": {"x": 1}}\n'), "takes texts")
    failed(call("rank", model, "--format", "qid", stdin=b"1 qid:1 1:1\n"), "candidates")
    failed(call("rank", model, "--top", "-1", data), "--top")


def test_a_model_is_no_data(model, data):
    told = f"{model} is a model file of arcrank, not data"
    for arguments in (
        ("train", model, "-m", "new"),
        ("check", model),
        ("rank", model, model),
        ("evaluate", model, model),
    ):
        failed(call(*arguments), told)
    failed(call("explain", model, "--file", model), told)
    failed(call("rank", data, model), "MODEL comes first: arcrank rank MODEL DATA")
    failed(call("evaluate", data, model), "MODEL comes first: arcrank evaluate MODEL DATA")


def test_other_encodings_and_separators(model, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,labels\nÖl,crude\n".encode("latin-1"))
    for result in (call("rank", model, path), call("train", path, "-m", tmp_path / "m")):
        failed(result, f"{path}:2: ", "probably Latin-1", "iconv -f latin1", "--on-error skip would skip")
    found = call("check", path, "--json").json["findings"][0]
    assert "iconv" in found["remedy"]
    assert "Latin-1" in found["message"]
    path.write_bytes(b"text;labels\noil;crude\n")
    failed(call("rank", model, path), "separated by commas, but this header has semicolons")


def test_files_that_are_wrong_as_a_whole(model, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": {"0": "oil", "1": "corn"}, "labels": {"0": "crude", "1": "grain"}}\n')
    for result in (call("rank", model, path), call("train", path, "-m", tmp_path / "m")):
        failed(result, f"{path}:1: not one row: ", "a whole table", 'orient="records", lines=True')
    path.write_text("text,labels\noil,crude\n")
    for result in (call("rank", model, path), call("train", path, "-m", tmp_path / "m")):
        failed(result, "not 'text,labels'", "read as JSON lines", "--format csv")
    path.write_text('{"body": "oil"}\n')
    failed(call("rank", model, path), 'needs "text"', 'this one has "body"')


def test_debug_shows_where(model, tmp_path):
    result = run("--debug", "rank", tmp_path / "none", stdin="oil")
    assert result.code == 2
    assert "Traceback" in result.err


def test_packed_files_and_other_formats(model, numbered, data, tmp_path):
    import gzip

    packed = tmp_path / "news.jsonl.gz"
    packed.write_bytes(gzip.compress(data.read_bytes()))
    assert call("rank", model, packed).out == call("rank", model, data).out
    whole = packed.read_bytes()
    packed.write_bytes(whole[: len(whole) // 2])
    result = call("rank", model, packed)
    assert result.code == 2
    assert "truncated" in result.err
    (tmp_path / "rows.txt").write_text("2 4 2\n0 1:1\n1 2:1\n")
    rows = call("rank", numbered, tmp_path / "rows.txt", "--format", "xc").rows
    assert [row["ranking"][0] for row in rows] == ["a", "b"]


def test_labels_are_not_needed(model, numbered, tmp_path):
    (tmp_path / "rows.txt").write_text("4 4 1\n 1:1\n2:1\n7,9 3:1\n\n")
    for arguments in ((), ("--format", "xc")):
        rows = call("rank", numbered, tmp_path / "rows.txt", *arguments).rows
        assert [row["ranking"][0] for row in rows][:3] == ["a", "b", "c"]
        assert [row["known_features"] for row in rows] == [1, 1, 1, 0]
    (tmp_path / "rows.txt").write_text("2 4 1\n 1:x\n2:1\n")
    failed(call("rank", numbered, tmp_path / "rows.txt"), "rows.txt:2: invalid features", "--on-error skip")
    result = call("rank", numbered, tmp_path / "rows.txt", "--on-error", "skip")
    assert len(result.rows) == 1
    assert "left out 1 row that could not be read: invalid features (1)" in result.err
    result = call("rank", numbered, "--on-error", "skip", stdin=b"a,,b 1:1\n1:1 2:x\n1:1\n")
    assert len(result.rows) == 1
    assert "left out 2 rows" in result.err


def test_parquet_without_labels(model, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["oil", "corn"], "id": [1, 2]}), path)
    for rows in (
        call("rank", model, path).rows,
        run("rank", model, "--format", "parquet", stdin=path.read_bytes()).rows,
    ):
        assert [(row["id"], row["ranking"][0]) for row in rows] == [("1", "crude"), ("2", "grain")]
    pq.write_table(pa.table({"words": ["oil"]}), path)
    failed(call("rank", model, path), "a column text is needed, got words")


@pytest.mark.slow
def test_batches_are_bounded(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("a line of text\n" * 200_000)
    sizes = [len(block) for block in documents_of(str(path), Reading(), takes="text", quiet=True)]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 1000


@pytest.mark.parametrize("k", [3, 600])
def test_equal_scores_keep_their_order(k):
    scores = np.random.default_rng(0).integers(0, 4, (20, k)).astype(float)
    for top in (1, 2, None):
        np.testing.assert_array_equal(top_places(scores, top), top_columns(scores, top))


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made by openpty")
@pytest.mark.parametrize("arguments", [(), ("--json",), ("--explain",)])
def test_lines_go_to_the_pipe_while_a_bar_is_on_the_terminal(model, data, arguments):
    """As in `arcrank rank MODEL DATA | program` from a shell: only standard error is a terminal."""
    screen, terminal = os.openpty()
    reader = threading.Thread(target=read_all, args=(screen,))  # a full terminal would stop the command
    reader.start()
    ranking = command("rank", model, data, *arguments)
    try:
        done = subprocess.run(ranking, stdout=subprocess.PIPE, stderr=terminal, check=False, timeout=120)
    finally:
        os.close(terminal)
        reader.join()
        os.close(screen)
    assert done.returncode == 0
    assert done.stdout.decode() == call("rank", model, data, *arguments).out
    assert done.stdout.count(b"\n") == len(data.read_text().splitlines())


def read_all(screen: int) -> None:
    """Until the other end is closed, which Linux tells by an error."""
    with contextlib.suppress(OSError):
        while os.read(screen, 4096):
            pass


def test_names_that_the_terminal_cannot_write(tmp_path):
    """In the C locale Python's standard output is ASCII, and strict only in name."""
    rows = [{"text": "oil barrel", "labels": ["Öl"]}, {"text": "corn wheat", "labels": ["Mais"]}] * 3
    call("train", write_rows(tmp_path / "d.jsonl", rows), "--model", tmp_path / "m.arcrank", "--set", "C=1")
    surroundings = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = run("explain", tmp_path / "m.arcrank", "--text", "oil", env=surroundings)
    assert result.code == 0, result.err
    assert "\\xd6l" in result.out


def test_the_command_goes_through_six_modules(model, data):
    """Itself included; what these call in turn is theirs: modelfile, datasets, text and rankers."""
    from arcrank.cli.commands.rank import rank

    home, called = rank.__module__, set()

    def note(frame, event, _):
        if event == "call" and frame.f_back is not None and frame.f_back.f_globals.get("__name__") == home:
            called.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call("rank", model, data)
    finally:
        sys.setprofile(before)
    assert {name for name in called if name.startswith("arcrank")} == {
        "arcrank.cli.commands.rank",
        "arcrank.cli.files",
        "arcrank.cli.blocks",
        "arcrank.cli.console",
        "arcrank.inference.predictor",
        "arcrank.inference.ranked_document",
    }
