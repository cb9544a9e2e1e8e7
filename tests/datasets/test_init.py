from __future__ import annotations

import subprocess
import sys

import arcrank.datasets


def test_the_public_names():
    assert arcrank.datasets.__all__ == [
        "Corpus",
        "LabelledTable",
        "StreamReport",
        "hashed_features",
        "iter_corpus",
        "learn_stream",
        "load_aslib",
        "load_debtags",
        "load_debtags_sample",
        "load_label_ranking",
        "load_mulan",
        "load_ohsumed",
        "load_rcv1",
        "load_reuters21578",
        "load_routing",
        "load_subjects",
        "read_corpus",
        "read_table",
        "read_votes",
        "write_corpus",
    ]
    assert all(getattr(arcrank.datasets, name).__doc__ for name in arcrank.datasets.__all__)


def test_importing_it_compiles_nothing():
    code = "import sys, arcrank.datasets; print([m for m in ('numba', 'pyarrow', 'sklearn') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
