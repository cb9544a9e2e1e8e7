from __future__ import annotations

import subprocess
import sys

import arcrank
from arcrank.cli.app import COMMANDS
from arcrank.datasets import load_debtags_sample
from tests.cli.running import assert_told, shell


def test_the_demo_shows_measures_rankings_and_an_explanation_and_leaves_a_report_and_a_model(tmp_path):
    done = shell("demo", "--folder", "new/demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for part in (
        "average precision",
        "one-vs-rest LinearSVC",
        "gnome-calendar",
        "contributions to the margin",
        "Next steps",
    ):
        assert part in done.stdout
    assert "<svg" in (tmp_path / "new" / "demo" / "arcrank-demo.html").read_text(encoding="utf-8")
    model = arcrank.load(tmp_path / "new" / "demo" / "arcrank-demo.arcrank")
    assert len(model[-1].labels_) == len(load_debtags_sample().labels)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "demo"):
        assert_told(
            shell("demo", "--folder", folder), f"{folder}: this folder cannot be created", "another path to --folder"
        )


def test_the_module_runs_the_command():
    command = [sys.executable, "-m", "arcrank", "demo", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "in under a minute" in done.stdout


def test_help_imports_neither_numba_nor_scikit_learn():
    code = "import sys; sys.argv = ['arcrank', '--help']\nfrom arcrank.cli.app import app\n"
    code += "try: app()\nexcept SystemExit: pass\n"
    code += "heavy = {'numba', 'sklearn', 'numpy', 'scipy', 'matplotlib'} & {*sys.modules}\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert {"evaluate", "check", "reproduce", "demo"} <= {*COMMANDS}
