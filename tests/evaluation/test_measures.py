"""The measures that are named are those that are made, in words and with their best values."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank import LogLinearRanker
from arcrank.evaluation import evaluate
from arcrank.evaluation.measures import BEST, DESCRIPTIONS, describe


def test_every_measure_is_described():
    y = np.arange(36) % 6
    found = evaluate(LogLinearRanker(C=10, cut_label=True).fit(np.eye(6)[y], y), np.eye(6)[y], y)
    assert list(found.measures) == list(DESCRIPTIONS) == list(BEST)
    for name, value in found.measures.items():
        if BEST[name] in "01":
            best = float(BEST[name])  # every document is ranked correctly, but probabilities are never 0 or 1
            assert value == pytest.approx(best, abs=0.05 if "calibration" in name else 0), name
        assert describe(name).endswith(f"{BEST[name]} is best")
