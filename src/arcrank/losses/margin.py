"""Losses of a piece's smallest margin (Aiolli & Sperduti 2004, section 2).

The classes have the same methods, each with its own formula; a table of functions would hide the equations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, xlogy

from arcrank._typing import Array
from arcrank.errors import ParameterError

_LN2 = float(np.log(2.0))


class MarginLoss(ABC):
    """A decreasing convex loss L with L(0) = 1, so that it bounds the error, which is 1 for margins <= 0.

    - `value(m)`, `derivative(m)`: L and L' at margins of any shape
    - `gain(T, C)`: the dual of `C L`, the largest g with `g(T) <= C L(m) + T m` for all m; T >= 0 is a piece's flow
    - `arc_terms(w)`: `w L(m) = l(offset - scale m)` for arcs of weight w; `code` is the number kernels know l by
    - `target`: the margin at which the kernels' hinge vanishes

    Examples
    --------
    >>> from arcrank.losses.margin import MARGIN_LOSSES
    >>> for loss in MARGIN_LOSSES.values():
    ...     print(loss.name, loss.value([-1.0, 0.0, 1.0]).round(3).tolist())
    hinge [2.0, 1.0, 0.0]
    squared-hinge [4.0, 1.0, 0.0]
    logistic [1.895, 1.0, 0.452]
    exponential [2.718, 1.0, 0.368]
    beta-perceptron [2.0, 1.0, 0.0]
    """

    name: str
    code: int
    target = 1.0

    @abstractmethod
    def value(self, margin: ArrayLike) -> Array:
        """L at the margins."""

    @abstractmethod
    def derivative(self, margin: ArrayLike) -> Array:
        """L' at the margins."""

    @abstractmethod
    def gain(self, total: ArrayLike, C: float) -> Array:
        """The dual of `C L` at total flows."""

    @abstractmethod
    def arc_terms(self, weight: Array) -> tuple[Array, Array]:
        """Scale and offset of arcs of positive weight."""

    def __repr__(self) -> str:
        return f"<loss {self.name}>"


class Hinge(MarginLoss):
    """`[1 - m / beta]_+`: the soft margin for beta = 1 (the paper's KPLM), else the beta-margin perceptron.

    Examples
    --------
    >>> Hinge().value([0.0, 0.5, 1.0]).tolist(), Hinge().derivative([0.0, 2.0]).tolist()
    ([1.0, 0.5, 0.0], [-1.0, 0.0])
    """

    code = 0

    def __init__(self, name: str = "hinge", beta: float = 1.0) -> None:
        self.name = name
        self.target = float(beta)

    def value(self, margin: ArrayLike) -> Array:
        """`[1 - m / beta]_+`."""
        return np.maximum(0.0, 1.0 - np.asarray(margin, dtype=np.float64) / self.target)

    def derivative(self, margin: ArrayLike) -> Array:
        """-1 / beta below the margin beta, 0 from there on."""
        return np.where(np.asarray(margin) < self.target, -1.0 / self.target, 0.0)

    def gain(self, total: ArrayLike, C: float) -> Array:
        """`beta T` for `beta T <= C`, else minus infinity: the flow of a piece is bounded."""
        T = np.asarray(total, dtype=np.float64)
        return np.where(self.target * T <= C * (1.0 + 1e-12), self.target * T, -np.inf)

    def arc_terms(self, weight: Array) -> tuple[Array, Array]:
        """`w [1 - m / beta]_+ = [w - (w / beta) m]_+`."""
        return weight / self.target, weight


class SquaredHinge(MarginLoss):
    """`[1 - m]_+^2`, the paper's modified least squares.

    Examples
    --------
    >>> SquaredHinge().value([0.0, 0.5, 2.0]).tolist()
    [1.0, 0.25, 0.0]
    """

    name, code = "squared-hinge", 1

    def value(self, margin: ArrayLike) -> Array:
        """`[1 - m]_+^2`."""
        return np.maximum(0.0, 1.0 - np.asarray(margin, dtype=np.float64)) ** 2

    def derivative(self, margin: ArrayLike) -> Array:
        """`-2 [1 - m]_+`."""
        return -2.0 * np.maximum(0.0, 1.0 - np.asarray(margin, dtype=np.float64))

    def gain(self, total: ArrayLike, C: float) -> Array:
        """`T - T^2 / (4 C)`."""
        T = np.asarray(total, dtype=np.float64)
        return T - T**2 / (4.0 * C)

    def arc_terms(self, weight: Array) -> tuple[Array, Array]:
        """`w [1 - m]_+^2 = [sqrt(w) - sqrt(w) m]_+^2`."""
        return np.sqrt(weight), np.sqrt(weight)


class Logistic(MarginLoss):
    """`log2(1 + exp(-m))`.

    Examples
    --------
    >>> Logistic().value([0.0, 5.0]).round(4).tolist()
    [1.0, 0.0097]
    """

    name, code = "logistic", 2

    def value(self, margin: ArrayLike) -> Array:
        """`log2(1 + exp(-m))`."""
        return np.logaddexp(0.0, -np.asarray(margin, dtype=np.float64)) / _LN2

    def derivative(self, margin: ArrayLike) -> Array:
        """`-1 / (ln 2 (1 + exp(m)))`."""
        return -np.exp(-np.logaddexp(0.0, np.asarray(margin, dtype=np.float64))) / _LN2

    def gain(self, total: ArrayLike, C: float) -> Array:
        """`(C / ln 2) H(T ln 2 / C)` with H the binary entropy."""
        share = np.asarray(total, dtype=np.float64) * _LN2 / C
        return C / _LN2 * (entr(share) + entr(1.0 - share))

    def arc_terms(self, weight: Array) -> tuple[Array, Array]:
        """Weights of the logistic loss belong to whole pieces; for others see `compiled.margin_weighted`."""
        return np.ones_like(weight), np.zeros_like(weight)


class Exponential(MarginLoss):
    """`exp(-m)`.

    Examples
    --------
    >>> Exponential().value([0.0, 5.0]).round(4).tolist()
    [1.0, 0.0067]
    """

    name, code = "exponential", 3

    def value(self, margin: ArrayLike) -> Array:
        """`exp(-m)`."""
        return np.exp(-np.asarray(margin, dtype=np.float64))

    def derivative(self, margin: ArrayLike) -> Array:
        """`-exp(-m)`."""
        return -self.value(margin)

    def gain(self, total: ArrayLike, C: float) -> Array:
        """`T - T ln(T / C)`."""
        T = np.asarray(total, dtype=np.float64)
        return T - xlogy(T, T / C)

    def arc_terms(self, weight: Array) -> tuple[Array, Array]:
        """`w exp(-m) = exp(log(w) - m)`."""
        return np.ones_like(weight), np.log(weight)


MARGIN_LOSSES: dict[str, MarginLoss] = {
    "hinge": Hinge(),
    "squared-hinge": SquaredHinge(),
    "logistic": Logistic(),
    "exponential": Exponential(),
    "beta-perceptron": Hinge("beta-perceptron"),
}


def get_margin_loss(loss: Any, beta: float = 1.0) -> MarginLoss:
    """The loss of that name; `beta` is the margin of the beta-perceptron.

    Examples
    --------
    >>> get_margin_loss("beta-perceptron", beta=2.0).value([0.0, 1.0, 2.0])
    array([1. , 0.5, 0. ])
    """
    if isinstance(loss, MarginLoss):
        return loss
    if isinstance(loss, str) and loss in MARGIN_LOSSES:
        return Hinge(loss, beta) if loss == "beta-perceptron" else MARGIN_LOSSES[loss]
    raise ParameterError(f"loss must be one of {', '.join(map(repr, MARGIN_LOSSES))}; got {loss!r}.")
