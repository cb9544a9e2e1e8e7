"""`--delimiter`, `--text-column`, `--label-column` and `--label-separator`: on every command that reads data."""

from __future__ import annotations

import json

import pytest

import arcrank
from arcrank.cli.app import app
from tests.cli.conftest import call, failed, text_rows
from tools.site.cli_page import commands

OPTIONS = {"--format", "--delimiter", "--text-column", "--label-column", "--label-separator"}
NAMED = ("--delimiter", ";", "--text-column", "body", "--label-column", "topics", "--label-separator", ",")
OF_TEXT = NAMED[:4]


@pytest.fixture
def table(tmp_path):
    """Sixty texts with label sets, as a spreadsheet of a country with decimal commas writes them."""
    rows = [f'{row["id"]};"{row["text"]}";{",".join(row["labels"])}\n' for row in text_rows()]
    path = tmp_path / "news.csv"
    path.write_text("id;body;topics\n" + "".join(rows))
    return path


def test_all_commands_that_read_data_have_them():
    found = {one.name: OPTIONS & {*one.options} for one in commands(app)}
    readers = ("train", "tune", "check", "evaluate", "update", "data convert")
    assert all(found[f"arcrank {name}"] == OPTIONS for name in readers)
    assert found["arcrank rank"] == found["arcrank explain"] == {"--format", "--delimiter", "--text-column"}


def test_a_table_of_ones_own_goes_through_all_commands(table, data, tmp_path):
    model, other = tmp_path / "m", tmp_path / "other"
    same = ("--learner", "log-linear", "--set", "C=10", "--validate", "0")
    assert call("train", table, "-m", model, *NAMED, *same).code == 0
    assert call("train", data, "-m", other, *same).code == 0
    assert call("rank", model, table, *OF_TEXT).out == call("rank", other, data).out
    assert arcrank.load(model)[-1].labels_.tolist() == ["crude", "grain", "ship"]
    measured = call("evaluate", model, table, "--json", *NAMED).json
    assert measured["measures"] == call("evaluate", model, data, "--json").json["measures"]
    explained = [call("explain", model, "--file", *some).out for some in ((table, *OF_TEXT), (data,))]
    assert explained[0] == explained[1]
    assert call("check", table, "--json", *NAMED).json["files"][0]["rows"] == 60
    assert call("tune", table, *NAMED, "--learner", "log-linear", "-C", "1", "--json").json["documents"] == 60
    assert call("data", "convert", table, tmp_path / "out.jsonl", *NAMED).code == 0
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == text_rows()


def test_a_stream_of_ones_own_table(table, tmp_path):
    model = tmp_path / "m"
    assert call("train", table, "-m", model, "--learner", "mmp", *NAMED).code == 0
    assert call("update", model, table, "--json", *NAMED).json["documents"] == 60
    raw = table.read_bytes()
    assert call("update", model, "-", "--json", *NAMED, stdin=raw).json["documents"] == 60
    assert len(call("rank", model, *OF_TEXT, stdin=raw).rows) == 60


def test_options_from_a_file_and_from_the_environment(table, tmp_path, monkeypatch):
    (tmp_path / "options.toml").write_text('[check]\ndelimiter = ";"\ntext-column = "body"\nlabel-separator = ","\n')
    monkeypatch.setenv("ARCRANK_CHECK_LABEL_COLUMN", "topics")
    done = call("--config", tmp_path / "options.toml", "check", table, "--json")
    assert done.json["files"][0]["rows"] == 60


def test_a_tab_can_be_typed(tmp_path):
    (tmp_path / "a.txt").write_text("text\tlabels\noil\tcrude\ncorn\tgrain\n")
    assert call("check", tmp_path / "a.txt", "--json", "--delimiter", "\\t").json["files"][0]["rows"] == 2


def test_errors_name_flags(table, tmp_path):
    model = ("-m", tmp_path / "m")
    failed(call("train", table, *model), ":1: cells are separated by commas", "Read it with --delimiter ';', or save")
    failed(call("train", table, *model, "--delimiter", ";"), "'body', 'topics'", "--text-column and --label-column")
    ambiguous = call("train", table, *model, *NAMED[:6])
    failed(ambiguous, "ambiguous labels", "--label-separator , if it separates", "--label-separator '' if it is part")
    failed(
        call("train", table, *model, *NAMED[:2], "--text-column", "x"), "there is no column 'x', only id, body, topics"
    )
    failed(call("train", table, *model, "--delimiter", ";;"), "--delimiter must be one character")
    found = call("check", table, "--json", *NAMED[:6]).json["findings"]
    assert "--label-separator ," in "".join(one["message"] + one["remedy"] for one in found)


def test_what_pandas_writes_is_read(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(text_rows())
    for indent in (None, 2):
        frame.to_json(tmp_path / "a.json", orient="records", indent=indent)
        assert call("check", tmp_path / "a.json", "--json").json["files"][0]["rows"] == 60
    frame.to_json(tmp_path / "b.json")
    failed(call("train", tmp_path / "b.json", "-m", tmp_path / "m"), "a whole table", 'orient="records", lines=True')


def test_an_array_is_ranked(model, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "oil", "id": 1}, {"text": "corn"}], indent=1))
    assert [row["ranking"][0] for row in call("rank", model, path).rows] == ["crude", "grain"]
    piped = call("rank", model, "--format", "jsonl", stdin=path.read_bytes())
    assert [row.get("id") for row in piped.rows] == ["1", None]
    assert "give --format jsonl" in call("rank", model, stdin=path.read_bytes()).err
