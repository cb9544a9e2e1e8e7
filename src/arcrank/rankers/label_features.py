"""Features of the labels: `x' W_y + x' B z_y`, so that a label can be ranked that no vote has mentioned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from arcrank._typing import Array, Mask
from arcrank.errors import InputError
from arcrank.losses.flows import FlowLoss
from arcrank.solvers.design import LabelDesign

__all__ = ["LabelFeatureDesign", "check_label_features", "fit_new_labels", "label_matrix"]


def check_label_features(label_features: Any) -> None:
    """Refuse what is not a mapping of labels to vectors of one length."""
    if not isinstance(label_features, Mapping) or not label_features:
        raise InputError(
            "label_features must be a dict of labels and lists of numbers, such as {'gpt-4': [1.0, 30.0]}; got "
            f"{type(label_features).__name__}."
        )
    lengths = {len(np.atleast_1d(vector)) for vector in label_features.values()}
    if len(lengths) > 1:
        raise InputError(f"Labels have {min(lengths)} to {max(lengths)} features; give the same number for each.")


def label_matrix(label_features: Mapping[Any, Any], labels: NDArray[Any]) -> Array:
    """The features of these labels, (k, p)."""
    missing = [label for label in labels.tolist() if label not in label_features]
    if missing:
        raise InputError(f"label_features has no entry for the label {missing[0]!r}; give one for every label.")
    Z = np.array([np.atleast_1d(label_features[label]) for label in labels.tolist()], dtype=np.float64)
    if not np.isfinite(Z).all():
        raise InputError("label_features holds NaN or infinite values; replace them.")
    return Z


class LabelFeatureDesign:
    """Scores `X [W B] [I Z]'` with weights (d, k + p): labels share B as far as their features Z agree."""

    def __init__(self, X: Any, Z: Array, n_jobs: int = 1) -> None:
        self._labels = LabelDesign(X, len(Z), n_jobs)
        self._map = np.hstack([np.eye(len(Z)), Z])
        self.weight_shape = X.shape[1], self._map.shape[1]

    def scores(self, W: Array) -> Array:
        """Scores of all labels, (n, k)."""
        return self._labels.scores(W @ self._map.T)

    def transposed(self, flow: Array) -> Array:
        """X' flow [I Z], in the shape of the weights."""
        gradient: Array = self._labels.transposed(flow) @ self._map
        return gradient


def fit_new_labels(X: Any, prior: Array, new: Mask, loss: FlowLoss) -> Array:
    """Weights (d, k) that differ from `prior` in the new labels only: `min 1/2 ||W - prior||^2 + loss(X W)`."""
    base = np.asarray(X @ prior)

    def objective(flat: Array) -> tuple[float, Array]:
        delta = flat.reshape(X.shape[1], -1)
        scores = base.copy()
        scores[:, new] += X @ delta
        value, outflow, inflow = loss.flows(np.ascontiguousarray(scores))
        gradient = delta + np.asarray(X.T @ (inflow - outflow)[:, new])
        return value + 0.5 * float(np.vdot(delta, delta)), gradient.ravel()

    found = minimize(objective, np.zeros(X.shape[1] * int(new.sum())), jac=True, method="L-BFGS-B")
    weights = prior.copy()
    weights[:, new] += found.x.reshape(X.shape[1], -1)
    return weights
