"""The package as a whole: public names, and imports that stay light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import arcrank
import arcrank.datacheck
import arcrank.datasets
import arcrank.evaluation
import arcrank.graphs
import arcrank.metrics
import arcrank.text

MODULES = [
    arcrank,
    arcrank.graphs,
    arcrank.metrics,
    arcrank.text,
    arcrank.datasets,
    arcrank.evaluation,
    arcrank.datacheck,
]


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_there(module):
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))


def test_unknown_names():
    with pytest.raises(AttributeError, match="Perceptrn"):
        _ = arcrank.Perceptrn


def test_import_is_light():
    loaded = loaded_by("import arcrank")
    assert not loaded & {"numpy", "scipy", "sklearn", "numba"}


def test_lazy_packages_are_light():
    loaded = loaded_by("import arcrank.evaluation.comparison, arcrank.evaluation, arcrank.datacheck")
    assert not loaded & {"numpy", "scipy", "sklearn", "numba"}


def test_ranking_with_a_trained_model_needs_no_numba():
    code = (
        "from arcrank import LogLinearRanker\n"
        "import numpy as np\n"
        "ranker = LogLinearRanker()\n"
        "ranker.coef_, ranker.intercept_ = np.eye(2), np.zeros(2)\n"
        "ranker.labels_, ranker._kind, ranker.n_features_in_ = np.array(['a', 'b']), 'single', 2\n"
        "assert ranker.rank([[0.0, 1.0]]).tolist() == [['b', 'a']]\n"
        "assert ranker.predict([[0.0, 1.0]]).tolist() == ['b']\n"
        "import arcrank.text, arcrank.datasets"
    )
    assert "numba" not in loaded_by(code)
