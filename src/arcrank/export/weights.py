"""Weights with fewer bits: 32-bit floats, 16-bit and 8-bit integers with one scale per label, then small ones left out.

Bytes are compressed, so weights of 0 cost little.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.inference.model_parts import split_model
from arcrank.rankers.base import LinearRanker

__all__ = ["StoredWeights", "fit_weights", "with_weights"]

_LEFT_OUT = (2, 4, 8, 16, 32)  # of 127 steps


@dataclass(frozen=True)
class StoredWeights:
    """Weights (d, k) as a page stores them."""

    values: NDArray[Any]
    scales: Array | None
    description: str

    def restored(self) -> Array:
        """The weights that the page computes with, in float64."""
        values = self.values.astype(np.float64)
        return values if self.scales is None else values * self.scales


def fit_weights(weights: Array, make_page: Callable[[StoredWeights], bytes], limit: int) -> tuple[StoredWeights, bytes]:
    """Return the most exact weights whose page has at most `limit` bytes, and the page."""
    smallest = 0
    for stored in _ladder(weights, limit):
        page = make_page(stored)
        if len(page) <= limit:
            return stored, page
        smallest = len(page)
    raise ParameterError(
        f"The page would have {smallest / 1e6:.1f} MB even with 8-bit weights, and {limit / 1e6:g} MB are allowed.\n"
        "Give a larger --max-size, or train a model with fewer features, for example with --set min_df=5."
    )


def _ladder(weights: Array, limit: int) -> Iterator[StoredWeights]:
    """From exact to coarse; what cannot fit, since noise in the low bits does not compress, is not tried."""
    if weights.size * 4 < limit:
        yield StoredWeights(weights.astype(np.float32), None, "32-bit weights")
    if weights.size * 2 < limit:
        yield _quantised(weights, np.int16, 0, "16-bit weights")
    yield _quantised(weights, np.int8, 0, "8-bit weights")
    for step in _LEFT_OUT:
        yield _quantised(weights, np.int8, step, f"8-bit weights, those below {step}/127 of the largest left out")


def _quantised(weights: Array, kind: Any, least: int, description: str) -> StoredWeights:
    """Round each label's weights to multiples of its largest one, divided by the largest integer."""
    most = np.iinfo(kind).max
    scales = np.maximum(np.abs(weights).max(axis=0, initial=0.0), np.finfo(float).tiny) / most
    values = np.rint(weights / scales).astype(kind)
    values[np.abs(values.astype(np.int32)) < least] = 0
    return StoredWeights(values, scales, description)


def with_weights(model: Any, stored: StoredWeights) -> Any:
    """A copy of a model that ranks by stored weights."""
    model = getattr(model, "model_", model)  # of an AutoRanker
    ranker = _with_coefficients(split_model(model)[1], stored.restored().T)
    if not hasattr(model, "steps"):
        return ranker
    changed = copy.copy(model)
    changed.steps = [*model.steps[:-1], (model.steps[-1][0], ranker)]
    return changed


def _with_coefficients(ranker: Any, coefficients: Array) -> Any:
    """A copy of a ranker with other weights; of a subclass, since online rankers compute theirs when asked."""
    changed = copy.copy(ranker)
    changed.__dict__.pop("coef_", None)
    methods = {"coef_": coefficients, "score_labels": LinearRanker.score_labels}
    changed.__class__ = type(type(ranker).__name__, (type(ranker),), methods)
    return changed
