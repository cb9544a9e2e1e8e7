"""The choice of labels beside sorting all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.compiled.shortlist_select import take_best


@given(st.integers(1, 700), st.integers(1, 40), st.sampled_from([1.0, -1.0]), st.booleans(), st.integers(0, 10**6))
def test_the_best_labels_that_are_not_taken(k, room, sign, limited, seed):
    random = np.random.default_rng(seed)
    scores = random.integers(-50, 50, k).astype(np.float32)  # many are equal
    taken = random.random(k) < 0.3
    floor = np.float32(random.integers(-30, 30) if limited else -np.inf)
    best, values = np.empty(room, np.int64), np.empty(room, np.float32)
    found = take_best(scores, taken, np.float32(sign), floor, best, values, room)
    free = np.flatnonzero(~taken & (sign * scores > floor))
    expected = free[np.argsort(-sign * scores[free], kind="stable")][:room]
    assert best[:found].tolist() == expected.tolist()
    assert values[:found].tolist() == (sign * scores[expected]).tolist()


@pytest.mark.parametrize("at", [0, 127, 128, 255, 256])
def test_one_label_at_the_edge_of_a_block(at):
    scores = np.zeros(257, np.float32)
    scores[at] = 1.0
    best, values = np.empty(3, np.int64), np.empty(3, np.float32)
    found = take_best(scores, np.zeros(257, bool), np.float32(1.0), np.float32(0.5), best, values, 3)
    assert (found, best[0], values[0]) == (1, at, 1.0)
