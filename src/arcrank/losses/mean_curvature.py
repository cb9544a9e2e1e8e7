"""A loss whose Newton steps are gradient steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._typing import Array

__all__ = ["MeanCurvature"]


class MeanCurvature:
    """A loss with the same curvature for all labels that an instance compares, times the weight of the instance.

    A Newton step of several instances, `-sum g / sum h`, is then a multiple of their mean gradient. It ranks labels by
    how much they lose on average, where the Newton step of the loss itself gives an instance of small arc weights as
    much influence as one of large weights that is alone in its leaf.

    Parameters
    ----------
    loss : LogLinearLoss or CountedLoss
        What gives values, gradients and the mean of the curvatures.
    weight : (n,) array
        The weights of the instances.
    """

    def __init__(self, loss: Any, weight: Array) -> None:
        self.shape = loss.shape
        self._loss = loss
        compared = loss.derivatives(np.zeros(loss.shape))[2] > 0
        share = compared * weight[:, None]
        self._share = share / max(float(share.sum()), np.finfo(float).tiny)

    def derivatives(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss, its gradient in the scores and the mean curvature, (n, k) arrays."""
        value, gradient, curvature = self._loss.derivatives(scores)
        return value, gradient, curvature.sum() * self._share
