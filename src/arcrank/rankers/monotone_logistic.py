"""Additive logistic regression on piecewise linear functions, the first of which is strictly increasing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arcrank._typing import Array, Mask

__all__ = ["Curve", "fit_curves", "likeliest_slope", "sigmoid"]

_KNOTS = (12, 8)  # of the first curve and of the others; likelihoods of held-out documents change little from 5 up
_ROUGHNESS = 3.0  # weight of the squared changes of slope
_LEAST_SLOPE = 0.02  # of the increasing curve, as a share of the slope of a straight line
_MOST_STEPS = 100
_NEARLY = 1e-12  # what a last step may reduce the loss by, as a share of it
_WIDEST = 7.0  # logarithm of the steepest slope, in units of the spread of scores
_BLOCK = 4096  # rows of a design that are multiplied at once


@dataclass(frozen=True)
class Curve:
    """A piecewise linear function; beyond its first and last knot it goes on straight."""

    knots: Array
    values: Array

    def __call__(self, x: Array) -> Array:
        """The function at x, an array of any shape."""
        at = np.minimum(np.maximum(self.knots.searchsorted(x) - 1, 0), len(self.knots) - 2)
        left, right = self.knots[at], self.knots[at + 1]
        share = (x - left) / (right - left)
        result: Array = self.values[at] + share * (self.values[at + 1] - self.values[at])
        # v + (w - v) may round to more than w, and then the curve would fall just beyond this knot.
        return np.where(share <= 1, np.minimum(result, self.values[at + 1]), result)


def fit_curves(x: tuple[Array, ...], y: Array, weight: Array, flag: Mask | None = None) -> tuple[list[Curve], float]:
    """Curves of the variables x, each (m,), and a constant, whose sum is the log-odds of y in {0, 1}.

    The first curve increases and goes on straight beyond its knots; the others are constant there. The constant, at
    least 0, is added where `flag` is true.

    Newton's method on the likelihood with a penalty on roughness. Platt's targets, (N+ + 1) / (N+ + 2) and
    1 / (N- + 2), keep the log-odds finite where scores separate the outcomes.
    """
    y = _smoothed(y, weight)
    line = _straight_line(x[0], y, weight)
    p = sigmoid(line[0] + line[1] * x[0])
    knots = [_quantile_knots(x[0], weight * p * (1 - p), _KNOTS[0])]
    knots += [_quantile_knots(one, weight * p * (1 - p), _KNOTS[1]) for one in x[1:]]
    clipped = [np.clip(one, at[0], at[-1]) for one, at in zip(x[1:], knots[1:], strict=True)]
    design, penalty = _hats((x[0], *clipped), knots), _penalty(knots)
    if flag is not None:
        design[:, -1] = flag
    start = np.concatenate([line[0] + line[1] * knots[0], *(np.zeros(len(at) - 1) for at in knots[1:]), [0.0]])
    values = _newton(design, y, weight, penalty, start)
    constant = float(values[-1])
    if constant < 0.0:
        design[:, -1], constant = 0.0, 0.0
        values = _newton(design, y, weight, penalty, start)
    parts = np.split(values[:-1], np.cumsum([len(knots[0]), *(len(at) - 1 for at in knots[1:])])[:-1])
    first = Curve(knots[0], _increasing(knots[0], parts[0], _LEAST_SLOPE * line[1]))
    others = [Curve(at, np.append(0.0, part)) for at, part in zip(knots[1:], parts[1:], strict=True)]
    return [first, *others], constant if flag is not None else 0.0


def likeliest_slope(derivative: Callable[[float], float]) -> float:
    """The slope from exp(-7) to exp(7) at which the increasing derivative of a convex loss is 0, else the better end.

    The root of a derivative is exact where the minimum of a loss is known to half of the digits only.
    """
    from scipy.optimize import brentq

    ends = [math.exp(-_WIDEST), math.exp(_WIDEST)]
    if derivative(ends[1]) <= 0:
        return ends[1]
    if derivative(ends[0]) >= 0:
        return ends[0]
    return math.exp(brentq(lambda logarithm: derivative(math.exp(logarithm)), -_WIDEST, _WIDEST))


def _smoothed(y: Array, weight: Array) -> Array:
    positive, negative = float(weight @ y), float(weight @ (1 - y))
    return np.where(y > 0.5, (positive + 1) / (positive + 2), 1 / (negative + 2))


def _straight_line(x: Array, y: Array, weight: Array) -> tuple[float, float]:
    """Intercept and slope of a logistic regression on x; the slope is positive even where data disagree."""
    centre, scale = float(np.average(x, weights=weight)), float(x.std()) or 1.0
    design = np.column_stack([np.ones(len(x)), (x - centre) / scale])
    share = float(np.average(y, weights=weight))
    ridge = np.diag([0.0, 1e-3])
    at, slope = _newton(design, y, weight, ridge, np.array([np.log(share / (1 - share)), 1.0]))
    slope = max(slope, 1e-3) / scale
    return at - slope * centre, slope


def _newton(design: Array, y: Array, weight: Array, penalty: Array, start: Array) -> Array:
    """Minimise the penalised logistic loss; steps are shortened until it falls."""
    values, tiny = start, 1e-9 * np.eye(len(start))

    def loss(at: Array) -> float:
        z = design @ at
        return float(weight @ (np.logaddexp(0.0, z) - y * z) + at @ penalty @ at / 2)

    now = loss(values)
    for _ in range(_MOST_STEPS):
        p = sigmoid(design @ values)
        gradient = design.T @ (weight * (p - y)) + penalty @ values
        curvature = _weighted_squares(design, weight * p * (1 - p)) + penalty + tiny
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        if gradient @ step <= _NEARLY * (abs(now) + 1):
            return values - step  # no line search: the loss is rounded more coarsely than this step reduces it
        for _ in range(30):
            found = loss(values - step)
            if found <= now:
                break
            step = step / 2
        else:
            return values
        values, now = values - step, found
    return values


def _weighted_squares(design: Array, weight: Array) -> Array:
    """The product of a design's transpose, weights and the design, block by block: nothing large is copied."""
    found = np.zeros((design.shape[1], design.shape[1]))
    for start in range(0, len(design), _BLOCK):
        part = design[start : start + _BLOCK]
        found += (part * weight[start : start + _BLOCK, None]).T @ part
    return found


def _quantile_knots(x: Array, mass: Array, count: int) -> Array:
    """Knots between which the mass is equal, at least two."""
    order = np.argsort(x, kind="stable")
    cumulated = np.cumsum(mass[order])
    inner = np.linspace(0.01, 0.99, count) * cumulated[-1]
    knots = np.unique(x[order][np.searchsorted(cumulated, inner)])
    least = 1e-6 * max(float(np.ptp(x)), 1e-6 * float(np.abs(x).max()), 1e-12)
    knots = knots[np.append(True, np.diff(knots) > least)]
    return knots if len(knots) > 1 else np.array([knots[0], knots[0] + max(1.0, abs(knots[0]))])


def _hats(x: tuple[Array, ...], knots: list[Array]) -> Array:
    """Piecewise linear basis functions of all variables, that go on straight beyond the ends, side by side.

    A constant could move between the curves, so the first function of all variables but the first one is left out. The
    last column is for a flag.
    """
    design, first = np.zeros((len(x[0]), sum(map(len, knots)) - len(knots) + 2)), 0
    rows = np.arange(len(design))
    for one, at in zip(x, knots, strict=True):
        left = np.clip(np.searchsorted(at, one) - 1, 0, len(at) - 2)
        share = (one - at[left]) / (at[left + 1] - at[left])
        inside = (left > 0) | (first == 0)
        design[rows[inside], (left + first)[inside]] = (1 - share)[inside]
        design[rows, left + first + 1] = share
        first += len(at) - 1
    return design


def _penalty(knots: list[Array]) -> Array:
    """Squared changes of slope of all curves; ridges on the constant and on curves whose first value is 0."""
    blocks = [_roughness(knots[0]), *(_roughness(at)[1:, 1:] + 1e-2 * np.eye(len(at) - 1) for at in knots[1:])]
    blocks.append(np.eye(1))
    size = sum(len(block) for block in blocks)
    penalty, at = np.zeros((size, size)), 0
    for block in blocks:
        penalty[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return penalty


def _roughness(knots: Array) -> Array:
    slopes = np.diff(np.eye(len(knots)), axis=0) / np.diff(knots)[:, None]
    changes = np.diff(slopes, axis=0) * np.diff(knots)[1:, None]
    penalty: Array = _ROUGHNESS * changes.T @ changes
    return penalty


def _increasing(knots: Array, values: Array, least: float) -> Array:
    """Raise values, from left to right, until the slope is at least `least` everywhere."""
    lifted = np.maximum.accumulate(values - least * knots)
    return lifted + least * knots


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)), without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, small) / (1.0 + small)
