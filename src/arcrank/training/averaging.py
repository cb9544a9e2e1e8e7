"""Greedy selection of rankers whose average is better than the best of them (Caruana et al. 2004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arcrank._typing import Array
from arcrank.training.candidates import Sample, Trial
from arcrank.training.measures import loss_of
from arcrank.training.plan import Plan

__all__ = ["Average", "Member", "select_average"]

MOST_MEMBERS = 4
WORTH = 0.005
"""A further member must reduce the loss by more than this share, since it takes another fit to all documents."""
WORTH_OF_FEW = 0.001
"""The same where all documents are in the sample, so that a fit takes no longer than one that was compared."""


class Member(NamedTuple):
    """A ranker of an average, and what its scores are multiplied by."""

    plan: Plan
    weight: float


class Average(NamedTuple):
    """The rankers that were selected and the out-of-fold value of their average."""

    members: list[Member]
    value: float
    scores: Array


def select_average(trials: Sequence[Trial], sample: Sample, most: int = MOST_MEMBERS, worth: float = WORTH) -> Average:
    """Add the trial that improves the average most, the same one again if need be, while that is worth it.

    Scores are divided by their spread within a document first: losses differ in the scale of their scores.
    """
    spreads = [_spread(trial.scores) for trial in trials]
    chosen: list[int] = []
    total, value = np.zeros(sample.graphs.shape), float("nan")
    for _ in range(most):
        values = [sample.value_of(total + trial.scores / spread) for trial, spread in zip(trials, spreads, strict=True)]
        losses = [loss_of(one, sample.measure) for one in values]
        best = int(np.argmin(losses))
        if chosen and not losses[best] < (1.0 - worth) * loss_of(value, sample.measure):
            break
        chosen.append(best)
        total, value = total + trials[best].scores / spreads[best], values[best]
    counts = Counter(chosen)
    members = [Member(trials[i].plan, float(n / len(chosen) / spreads[i])) for i, n in counts.items()]
    return Average(members, value, total / len(chosen))


def _spread(scores: Array) -> float:
    """The root mean square deviation of scores from the mean of their document; 1 where there is none."""
    return float(np.sqrt(scores.var(axis=1).mean())) or 1.0
