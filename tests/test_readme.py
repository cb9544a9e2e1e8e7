"""What the README shows is run, in order, as a reader would."""

from __future__ import annotations

import re
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
