"""What the README shows is run, in order, as a reader would."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    shown = capsys.readouterr().out
    assert "role::program" in shown
    assert "['travel' 'food']" in shown


def test_the_five_commands_of_the_readme_run(tmp_path):
    rows = [{"text": f"{word} number {i}", "labels": [word]} for i in range(8) for word in ("tea", "milk", "bread")]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = README.read_text(encoding="utf-8")
    block = re.search(r"```sh\n(pip install .*?)```", text, flags=re.DOTALL).group(1)
    commands = [line.split("#")[0].strip() for line in block.splitlines()]
    assert len(commands) == 5
    arcrank = f"{shlex.quote(sys.executable)} -m arcrank"
    for command in commands[1:]:  # the first one installed what this test runs in
        line = re.sub(r"\barcrank(?= (check|train|rank|evaluate))", lambda _: arcrank, command)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine.arcrank").exists()
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
