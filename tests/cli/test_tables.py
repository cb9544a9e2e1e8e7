"""Tables of people from the shell: train, rank, explain, evaluate, check and info on files without a text."""

from __future__ import annotations

import json

import pytest

import arcrank
from tests.cli.conftest import call, failed

JOBS = ("nurse", "teacher", "")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A CSV file: the interest follows from the age and the job, which is sometimes unknown."""
    path = tmp_path_factory.mktemp("tables") / "people.csv"
    rows = [(20 + i % 60, JOBS[i % 3], f"20{10 + i % 9}-01-0{1 + i % 9}") for i in range(60)]
    interests = ["travel" if age > 55 else "books" if job == "teacher" else "garden" for age, job, _ in rows]
    lines = [",".join(map(str, (*row, interest))) for row, interest in zip(rows, interests, strict=True)]
    path.write_text("\n".join(["age,job,joined,interest", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def model(people):
    path = people.with_suffix(".arcrank")
    result = call("train", people, "--label-column", "interest", "--learner", "log-linear", "--model", path)
    assert result.code == 0, result.err
    assert "all columns are features: age (number), job (category), joined (date)." in result.err
    return path


def test_a_model_of_a_table_ranks_rows_and_objects(people, model, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("job,age,joined\nnurse,79,2012-01-01\nteacher,21,2012-01-01\n")  # other order, no labels
    result = call("rank", model, new, "--json")
    first = [json.loads(line)["ranking"][0] for line in result.out.splitlines()]
    assert first == ["travel", "books"]
    line = '{"features": {"age": 79, "job": null, "joined": "2012-01-01"}}'
    assert json.loads(call("rank", model, "-", stdin=line).out)["ranking"][0] == "travel"
    ranked = arcrank.load(model).rank([{"age": 79, "job": "nurse", "joined": "2012-01-01"}], top=1)
    assert ranked.tolist() == [["travel"]]


def test_explanations_name_columns(model, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("age,job,joined\n79,nurse,2012-01-01\n")
    result = call("explain", model, "--file", new, "--above", "travel", "--below", "garden", "--json")
    parts = {part["feature"] if "feature" in part else part["term"]: part["weight"] for part in result.json["parts"]}
    assert max(parts, key=parts.get) == "age"


def test_a_table_is_checked_and_evaluated(people, model):
    assert call("check", people, "--label-column", "interest").code == 0
    result = call("evaluate", model, people, "--label-column", "interest", "--json")
    assert result.code == 0, result.err
    assert result.json["measures"]["average precision"] > 0.9


def test_a_missing_column_is_named(model, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("age,joined\n79,2012-01-01\n")
    failed(call("rank", model, new), "has no column 'job'")


def test_texts_and_tables_are_not_mixed(people, model, tmp_path, data):
    failed(call("rank", model, data), "takes the columns of a table")
    online = ("--learner", "mmp", "--model", tmp_path / "m.arcrank")
    failed(call("train", people, "--label-column", "interest", *online), "table of features ('age', 'job', 'joined')")
    assert not (tmp_path / "m.arcrank").exists()


def test_auto_learns_from_a_table(people):
    from arcrank import AutoRanker
    from arcrank.datasets import read_corpus

    corpus = read_corpus(people, label_column="interest")
    auto = AutoRanker(learners=["log-linear"], max_members=1).fit(corpus.table, corpus.label_sets)
    assert auto.score_labels(corpus.table).shape == (60, 3)
