from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from arcrank.cli.commands.check import look
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell, write_rows

GOOD = [{"text": f"{word} number {i}", "labels": [word]} for i in range(4) for word in ("oil", "ship", "grain")]


def kinds(rows, tmp_path, name="d.jsonl"):
    """Findings by kind, of rows in a file."""
    return {one.kind: one for one in look([str(write_rows(tmp_path / name, rows))])[1]}


def test_good_data_passes(tmp_path):
    done = shell("check", write_rows(tmp_path / "good.jsonl", GOOD))
    assert done.returncode == 0, done.stderr
    assert "No problems were found" in done.stdout
    assert "One fit needs about" in done.stdout


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


@pytest.mark.parametrize(("content", "part"), [(None, "no such file"), (b"", "has no rows")])
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


def test_a_file_sorted_by_label(tmp_path):
    rows = [{"text": f"{word} number {i}", "labels": [word]} for word in ("oil", "ship", "grain") for i in range(20)]
    found = kinds(rows, tmp_path)["grouped by label"]
    assert (found.severity, found.number) == ("warning", 60)
    assert "share 97% of their labels, compared with 32% expected" in found.message
    mixed = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    assert "grouped by label" not in kinds(mixed, tmp_path)


def test_what_the_reader_warns_of_is_a_finding(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("text,labels\n" + "".join(f'oil {i},"crude,gas"\nship {i},trade\n' for i in range(40)))
    done = shell("check", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "40 of 80 rows have a label with ',' in it" in done.stdout
    assert "Labels are separated by ';'" in done.stdout
    assert "No problems were found" not in done.stdout
    done = shell("check", path, "--json")
    assert done.stderr == ""
    found = findings_of(done)["probably misread"]
    assert (found["severity"], found["number"]) == ("warning", 40)
    assert found["remedy"] == "labels are separated by ';' unless --label-separator names another character"


def test_warnings_come_once_where_a_file_is_read_twice(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("oil,Heading\n" + "".join(f"ship {i},trade\n" for i in range(9)) + "wrong\n")
    done = shell("check", path, "--json")
    assert (done.returncode, done.stderr) == (3, "")
    found = findings_of(done)
    assert found["unreadable rows"]["number"] == 1
    assert "the first line was read as a document" in found["probably misread"]["message"]


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
    assert found["preferred both ways"].message.startswith("2 of 3 pairs")


def test_queries_with_grades_are_looked_at_too(tmp_path):
    path = tmp_path / "q.svm"
    path.write_text("2 qid:1 1:1\n1 qid:1 1:2\n")
    assert call("check", path, "--format", "qid").exit_code == 3


def findings_of(done):
    """Findings by kind, of a command that printed JSON."""
    found = json.loads(done.stdout)
    check_output(found, "check")
    return {one["kind"]: one for one in found["findings"]}


def test_a_hierarchy_is_held_against_the_labels(tmp_path):
    data, tree = write_rows(tmp_path / "d.jsonl", GOOD), tmp_path / "tree.json"
    tree.write_text(json.dumps({"goods": None, "oil": "goods", "ship": None, "tea": "hot", "hot": None}))
    done = shell("check", data, "--hierarchy", tree, "--json")
    assert done.returncode == 3
    found = findings_of(done)
    missing, unused = found["labels missing in the hierarchy"], found["labels that never occur"]
    assert (missing["severity"], missing["message"]) == ("serious", "1 label is not in the hierarchy: grain")
    assert (unused["severity"], unused["message"]) == ("note", "2 labels of the hierarchy never occur: tea, hot")
    assert json.loads(done.stdout)["files"][0]["forecast"]["labels"] == 5
    tree.write_text("oil\tgoods\nship\tgoods\ngrain\t\n")
    assert "No problems were found" in shell("check", data, "--hierarchy", tree).stdout


def test_a_hierarchy_that_is_none(tmp_path):
    data, tree = write_rows(tmp_path / "d.jsonl", GOOD), tmp_path / "tree.tsv"
    tree.write_text("oil\tship\nship\toil\ngrain\t\n")
    assert_told(shell("check", data, "--hierarchy", tree), "cycle: oil -> ship -> oil")
    assert_told(shell("check", data, "--hierarchy", tmp_path / "none"), "none: ")
    tree.write_text("no tab")
    assert_told(shell("check", data, "--hierarchy", tree), "tree.tsv: this is not a hierarchy")
    arcs = write_rows(tmp_path / "a.jsonl", [{"text": "t", "arcs": [["oil", "ship"]]}])
    tree.write_text("oil\t\nship\t\n")
    assert findings_of(shell("check", arcs, "--hierarchy", tree, "--json"))["no label sets"]["number"] == 1


def test_the_forecast_counts_the_features_of_training(tmp_path):
    rows = [{"text": f"only{chr(97 + i)} common", "labels": ["a" if i % 2 else "b"]} for i in range(12)]
    data = write_rows(tmp_path / "d.jsonl", rows)
    found = json.loads(shell("check", data, "--json").stdout)["files"][0]["forecast"]["features"]
    done = shell("train", data, "-m", tmp_path / "m", "--learner", "log-linear", "--validate", "0", "--json")
    assert found == json.loads(done.stdout)["features"]


def test_standard_input_has_a_name():
    done = shell("check", "-", stdin="".join(json.dumps(row) + "\n" for row in [*GOOD, {"text": "", "labels": []}]))
    assert done.returncode == 0, done.stderr
    assert "standard input" in done.stdout
    assert "13" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made by openpty")
def test_a_narrow_terminal_breaks_no_word(tmp_path):
    label = "works-with::a-long-name"
    rows = [*GOOD, *({"text": f"t {i}", "labels": [label]} for i in range(2)), GOOD[0]]
    paths = [write_rows(tmp_path / name, rows) for name in ("train-[1].jsonl", "test.jsonl")]
    screen, terminal = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "arcrank", "check", *map(str, paths)],
        stdout=terminal, stderr=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}, check=False,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while part := _read(screen):
        shown += part
    lines = re.sub(r"\x1b\[\d+m", "", shown.decode()).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(f"{label} (2)" in line for line in lines) == 1
    assert any("train-[1].jsonl, test.jsonl: " in line for line in lines)


def _read(screen):
    try:
        return os.read(screen, 4096)
    except OSError:  # how Linux says that the terminal was closed
        return b""


@pytest.mark.parametrize(("n", "remedies"), [
    (1, [["it cannot be used for training", "remove it: nothing can be learnt"],
         ["it cannot be used for measuring", "remove it: a model can"]]),
    (2, [["they cannot be used for training", "remove them: nothing can be learnt"],
         ["they cannot be used for measuring", "remove them: a model can"]]),
])  # fmt: skip
def test_rows_of_test_files_are_for_measuring(tmp_path, n, remedies):
    bad = [{"text": f"bad {i}", "labels": []} for i in range(n)] + [{"text": "", "labels": ["oil"]}] * n
    paths = [str(write_rows(tmp_path / name, GOOD + bad)) for name in ("train.jsonl", "test.jsonl")]
    found = look(paths)[1]
    for path, told in zip(paths, remedies, strict=True):
        given = [one.remedy for one in found if one.file == path and one.kind.startswith("rows without")]
        assert all(remedy.startswith(start) for remedy, start in zip(given, told, strict=True)), given
