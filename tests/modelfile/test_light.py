"""What loading costs: imports, and memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from tests.modelfile.models import MODELS


def loaded_by(code):
    script = f"import sys\n{code}\nprint(*sys.modules, sep='\\n')"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_ranking_with_a_loaded_model_needs_no_numba(tmp_path):
    paths = [str(tmp_path / str(number)) for number in range(3)]
    for path, name in zip(paths, ["log-linear dual text", "rocchio", "mmp average text"], strict=True):
        arcrank.save(MODELS[name](), path)
    code = (
        f"import arcrank\nfor model in map(arcrank.load, {paths!r}):\n"
        "    x = model[0].transform(['oil and wheat'])\n"
        "    model[-1].rank(x), model[-1].predict(x), model[-1].explain(x, *model[-1].labels_[:2])"
    )
    assert "numba" not in loaded_by(code)


def test_a_card_is_read_in_a_blink(tmp_path):
    path = tmp_path / "model"
    arcrank.save(MODELS["rocchio"](), path)
    code = f"from arcrank.modelfile import read_card\nassert read_card({str(path)!r})['labels'] == 3"
    assert not {"numpy", "scipy", "sklearn"} & loaded_by(code)


def peak(task):
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("learner", [arcrank.RocchioRanker, arcrank.MMPRanker])
def test_memory_is_at_most_twice_the_file(learner, tmp_path):
    path, rows = tmp_path / "model", np.ones((4, 200_000))
    ranker = learner().fit(rows, ["a", "b", "c", "d"])
    arcrank.save(ranker, path)
    assert peak(lambda: arcrank.load(path)) < 2 * path.stat().st_size + 100_000


def test_features_that_were_never_met_take_no_space(tmp_path):
    path, rows = tmp_path / "model", sp.csr_matrix(([1.0, 2.0], ([0, 1], [7, 99_999])), shape=(2, 2**18))
    ranker = arcrank.MMPRanker().fit(rows, ["a", "b"])
    arcrank.save(ranker, path)
    assert path.stat().st_size < 10_000
    assert arcrank.load(path).coef_.tobytes() == ranker.coef_.tobytes()
