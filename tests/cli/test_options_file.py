"""The file of `--config`, as users write it."""

from __future__ import annotations

import pytest

from tests.cli.running import assert_told, shell


def test_dashes_in_a_group_within_the_command(tmp_path):
    options = tmp_path / "options.toml"
    options.write_text('[data.convert]\non-error = "skip"\n')
    (tmp_path / "rows.jsonl").write_text('{"text": "tea", "labels": ["a"]}\n{"text": "mil\n')
    done = shell("--config", options, "data", "convert", "rows.jsonl", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Wrote 1 row" in done.stderr


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[rank]\ntpo = 3\n", ["tpo is no option of [rank]", "Did you mean top?"]),
        ("[trian]\nC = 3\n", ["trian is no table of a command", "Did you mean train?"]),
        ("top = 3\n", ["top is no table of a command", "There are: train"]),
        ("[data.list]\nsplit = 3\n", ["split is no option of [data.list]"]),
        ("[data]\nconvert = 3\n", ["data.convert is no table of a command"]),
        ("[rank\n", ["cannot be read", "drop --config"]),
    ],
)
def test_a_file_with_mistakes(tmp_path, text, parts):
    options = tmp_path / "options.toml"
    options.write_text(text)
    assert_told(shell("--config", options, "data", "list"), str(options), *parts)


def test_debugging_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCRANK_DEBUG", "1")
    assert "Traceback" in shell("info", tmp_path / "nothing").stderr
    monkeypatch.setenv("ARCRANK_DEBUG", "0")
    assert "Traceback" not in shell("info", tmp_path / "nothing").stderr
