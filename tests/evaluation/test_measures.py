"""The measures that are named are those that are made, in words and with their best values."""

from __future__ import annotations

import numpy as np

from arcrank import RocchioRanker
from arcrank.evaluation import evaluate
from arcrank.evaluation.measures import BEST, DESCRIPTIONS, describe


def test_every_measure_is_described():
    y = np.arange(12) % 6
    found = evaluate(RocchioRanker().fit(np.eye(6)[y], y), np.eye(6)[y], y)
    assert list(found.measures) == list(DESCRIPTIONS) == list(BEST)
    for name, value in found.measures.items():
        if BEST[name] in "01":
            assert value == float(BEST[name]), name  # every document is ranked correctly
        assert describe(name).endswith(f"{BEST[name]} is best")
