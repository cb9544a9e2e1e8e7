from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from arcrank.experiments import aiolli2004, amini2008
from arcrank.experiments.outcomes import Outcome
from arcrank.experiments.registry import EXPERIMENTS, run
from tests.experiments.small_papers import shrink


@pytest.fixture
def small(monkeypatch, tmp_path):
    shrink(monkeypatch, tmp_path)


def test_the_registry_imports_no_numerical_library():
    code = "import sys, arcrank.experiments.registry, arcrank.experiments.report\n"
    code += "heavy = {'numba', 'sklearn', 'numpy', 'scipy', 'matplotlib'} & {*sys.modules}\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_experiment_gives_values_and_as_many_cells_as_it_says(small, name):
    ticks = []
    outcome = run(name, lambda: ticks.append(1))
    assert outcome.values
    assert all(np.isfinite(value.measured) for value in outcome.values)
    if name.startswith("amini") or name in ("dekel-figure-4", "aiolli-table-1"):
        assert len(ticks) == EXPERIMENTS[name].n_cells()
    assert bool(outcome.plots) == ("crammer-figure" in name or "amini-figure" in name)
    json.dumps(outcome.to_json())


def test_a_second_run_reads_the_finished_cells(small, monkeypatch):
    first = run("aiolli-table-1", lambda: None)
    monkeypatch.setattr(aiolli2004, "rows", None)
    assert run("aiolli-table-1", lambda: None).values == first.values
    assert first.verdicts() == {"at or better": 20, "within 15 %": 0, "worse": 0, "no verdict": 5}


def test_stored_rows_of_table_1_of_aiolli_depend_on_the_settings_of_mmp(small, monkeypatch):
    run("aiolli-table-1", lambda: None)
    name, (ranker, published) = next(iter(aiolli2004.BASELINES.items()))
    monkeypatch.setitem(aiolli2004.BASELINES, name, (clone(ranker).set_params(epochs=2), published))
    ticks = []
    run("aiolli-table-1", lambda: ticks.append(1))
    assert len(ticks) == 5


def test_only_the_column_of_the_paper_has_published_values_in_table_3_of_amini(small):
    values = run("amini-table-3", lambda: None).values
    published = {value.column for value in values if value.published is not None}
    assert published == {"RB", "TSVM", "ssLR", "ssRB k=2"}
    assert {value.verdict for value in values if value.column in ("ssRB k=3", "ssRB k=5")} == {"no verdict"}


def test_ohsumed_is_measured_where_it_is(small, monkeypatch):
    monkeypatch.setattr(amini2008, "_available", lambda: ["Reuters-21578", "OHSUMED"])
    outcome = Outcome("amini-table-2", "t")
    amini2008.table2(outcome, lambda: None)
    assert any(value.row.startswith("OHSUMED, ") and value.published for value in outcome.values)
