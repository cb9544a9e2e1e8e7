"""What an online ranker keeps: the curve of losses over streams of any length."""

from __future__ import annotations

import numpy as np

from arcrank.compiled import online
from arcrank.solvers.online import Progress


def test_the_curve_is_thinned_and_ends_with_the_last_round():
    random = np.random.default_rng(0)
    n = 2 * online.MOST_POINTS + 4321
    wrong = random.integers(0, 3, size=n)
    progress = Progress()
    for start, stop in ((0, 1), (1, 70_000), (70_000, n)):
        progress.reserve(stop - start)
        for one in wrong[start:stop].tolist():
            online.record(one, 4, progress.counters, progress.sums, progress.curve)
    rounds, losses = progress.losses()
    assert len(progress.curve) == online.MOST_POINTS
    assert rounds[-1] == n
    assert set(np.diff(rounds[:-1])) == {4}
    means = np.cumsum(np.column_stack([wrong > 0, wrong, wrong / 4]), axis=0) / np.arange(1, n + 1)[:, None]
    np.testing.assert_allclose(losses, means[rounds - 1])
    np.testing.assert_allclose(progress.mean_losses(), means[-1])


def test_nothing_seen_yet():
    rounds, losses = Progress().losses()
    assert rounds.shape == (0,)
    assert losses.shape == (0, 3)
    assert Progress().mean_losses() == [0.0, 0.0, 0.0]


def test_both_files_agree_on_the_length_of_the_curve():
    from arcrank.solvers import online as solver

    assert solver._MOST_POINTS == online.MOST_POINTS
