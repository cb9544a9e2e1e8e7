"""Files for GitHub, which nothing here runs: they are held to the published schemas."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import arcrank

ROOT = Path(__file__).parents[1]
SCHEMAS = {
    ".github/workflows/tests.yml": "vendor.github-workflows",
    ".github/workflows/docs.yml": "vendor.github-workflows",
    ".github/workflows/release.yml": "vendor.github-workflows",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/bug.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/idea.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "CITATION.cff": "vendor.citation-file-format",
}


def check(schema, path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", SCHEMAS)
def test_files_follow_their_schemas(path):
    pytest.importorskip("check_jsonschema")
    done = check(SCHEMAS[path], ROOT / path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_workflow_is_noticed(tmp_path):
    pytest.importorskip("check_jsonschema")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text((ROOT / ".github/workflows/tests.yml").read_text().replace("runs-on", "runs_on"))
    assert check("vendor.github-workflows", wrong).returncode != 0


def test_every_workflow_is_checked():
    assert {f".github/workflows/{path.name}" for path in (ROOT / ".github/workflows").iterdir()} <= {*SCHEMAS}


def test_targets_that_workflows_run_exist():
    makefile = (ROOT / "Makefile").read_text()
    for path in (ROOT / ".github/workflows").iterdir():
        for line in path.read_text().splitlines():
            if "run: make " in line:
                target = line.split("run: make ")[1].split()[0]
                assert f"\n{target}:" in makefile


def test_there_is_one_version():
    assert version("arcrank") == arcrank.__version__
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text()
