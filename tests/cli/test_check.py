from __future__ import annotations

import json

import pytest

from arcrank.cli.check import look
from arcrank.cli.findings import within
from arcrank.cli.forecast import forecast
from arcrank.cli.similar_names import one_letter_apart, written_alike
from arcrank.cli.survey import Survey
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell, write_rows

GOOD = [{"text": f"{word} number {i}", "labels": [word]} for i in range(4) for word in ("oil", "ship", "grain")]


def kinds(rows, tmp_path, name="d.jsonl"):
    """Findings by kind, of rows in a file."""
    return {one.kind: one for one in look([str(write_rows(tmp_path / name, rows))])[1]}


def test_good_data_passes(tmp_path):
    done = shell("check", write_rows(tmp_path / "good.jsonl", GOOD))
    assert done.returncode == 0, done.stderr
    assert "Nothing is wrong" in done.stdout
    assert "rough forecast" in done.stdout


def test_overlap_is_serious_and_the_json_fits(tmp_path):
    first = write_rows(tmp_path / "train.jsonl", GOOD)
    second = write_rows(tmp_path / "test.jsonl", [{"text": "OIL  number 0", "labels": ["new"]}, *GOOD[:1]])
    done = shell("check", first, second, "--json")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    check_output(found, "check")
    assert found["serious"]
    by_kind = {one["kind"]: one for one in found["findings"]}
    assert by_kind["overlap"]["number"] == 1
    assert "new" in by_kind["labels of one file only"]["message"]
    assert found["files"][0]["labels"] == {"oil": 4, "ship": 4, "grain": 4}


@pytest.mark.parametrize(("content", "part"), [(None, "no such file"), (b"", "holds no rows")])
def test_files_that_are_none(tmp_path, content, part):
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert_told(shell("check", path), "bad.jsonl", part)


def test_an_unknown_format_names_the_flag(tmp_path):
    (tmp_path / "data.xyz").write_text("a")
    assert "pass --format" in str(call("check", tmp_path / "data.xyz").exception)


def test_unreadable_rows_are_findings_with_their_place(tmp_path):
    path = write_rows(tmp_path / "d.jsonl", GOOD)
    path.write_text(path.read_text() + "no json\n")
    done = call("check", path, "--json")
    assert done.exit_code == 3
    (found,) = json.loads(done.stdout)["findings"]
    assert (found["severity"], found["number"]) == ("serious", 1)
    assert f"d.jsonl:{len(GOOD) + 1}" in found["message"]


@pytest.mark.parametrize("rows", [[{"text": "a", "labels": []}], [{"text": "a", "labels": ["x"]}] * 3])
def test_nothing_to_rank_is_serious(tmp_path, rows):
    assert call("check", write_rows(tmp_path / "d.jsonl", rows)).exit_code == 3


def test_empty_rows_are_counted(tmp_path):
    rows = [*GOOD, {"text": "  ", "labels": ["oil"]}, {"text": "a", "labels": []}, {"text": "b", "layers": [["oil"]]}]
    found = kinds(rows, tmp_path)
    assert found["rows without text"].message == "1 row (13) has no text"
    assert found["rows without labels"].number == 2
    empty = [{"features": {"a": 0.0}, "labels": ["x"]}, {"features": {"a": 1.0}, "labels": ["y"]}]
    assert kinds(empty, tmp_path)["rows without features"].number == 1


def test_labels_are_looked_at_closely(tmp_path):
    rows = [*GOOD, *({"text": f"t{i}", "labels": ["Oil", "finance", " ", "s" * 10_000]} for i in range(3))]
    rows.append({"text": "last", "labels": ["finanse"]})
    found = kinds(rows, tmp_path)
    assert "'Oil' = 'oil'" in found["labels written in two ways"].message
    assert found["labels one letter apart"].severity == "note"
    assert found["rare labels"].message == "1 label is in 2 rows or fewer: finanse"
    assert found["empty label"].number == 3


def test_a_label_in_every_row(tmp_path):
    found = kinds([{"text": f"t{i}", "labels": ["all", f"l{i % 3}"]} for i in range(9)], tmp_path)
    assert found["label in every row"].message.startswith("all")


def test_duplicates_and_their_disagreement(tmp_path):
    rows = [*GOOD, {"text": "Oil number 0", "labels": ["ship"]}, GOOD[0]]
    found = kinds(rows, tmp_path)
    assert found["duplicate documents"].number == 2
    assert found["duplicates that disagree"].message.endswith("rows 1 and 13")
    features = [
        {"features": {"a": 1.0, "b": 2.0}, "labels": ["x"]},
        {"features": {"b": 2.0, "a": 1.0}, "labels": ["x"]},
    ]
    assert kinds(features, tmp_path)["duplicate documents"].number == 1


def test_contradicting_arcs(tmp_path):
    rows = [
        {"text": "a", "arcs": [["x", "y"], ["y", "x"]]},
        {"text": "b", "arcs": [["x", "z"]]},
        {"text": "c", "arcs": [["z", "x"], ["y", "z"]]},
    ]
    found = kinds(rows, tmp_path)
    assert found["contradicting arcs"].number == 1
    assert found["preferred both ways"].message.startswith("2 of 3 couples")


def test_queries_with_grades_are_looked_at_too(tmp_path):
    path = tmp_path / "q.svm"
    path.write_text("2 qid:1 1:1\n1 qid:1 1:2\n")
    assert call("check", path, "--format", "qid").exit_code == 3


def test_names_that_are_near():
    assert written_alike(["a b", "A  B", "ab", "c"]) == [["A  B", "a b", "ab"]]
    assert one_letter_apart(["abcdef", "abcdeg", "abcdefg", "bcdefa", "x" * 10_000, "x" * 9_999]) == [
        ("abcdef", "abcdefg"),
        ("abcdef", "abcdeg"),
        ("abcdefg", "abcdeg"),
    ]


def test_the_forecast_grows_with_the_data():
    texts = [f"word{chr(97 + i % 20)} common text" for i in range(100)]
    small = Survey("s", n_rows=100, n_characters=2000, sample=texts)
    large = Survey("l", n_rows=10_000, n_characters=200_000, sample=texts)
    small.labels.update(map(str, range(10)))
    large.labels.update(map(str, range(1000)))
    a, b = forecast(small), forecast(large)
    assert b.seconds > 100 * a.seconds
    assert b.megabytes > a.megabytes > 200
    assert forecast(Survey("one", n_rows=1, n_characters=3, sample=["abc"])).features == 0


def test_counts_in_words():
    found = Survey("d", n_rows=4, without_labels=[1], kinds=Survey("").kinds)
    found.labels.update(["a", "b"])
    (first, *_) = within(found)
    assert first.message == "1 row (1) has no preference"
