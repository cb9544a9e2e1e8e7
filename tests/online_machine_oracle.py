"""Passive-aggressive steps on pieces in pure Python over explicit arcs, each projection by a generic solver."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from tests.online_oracle import scores_of


def groups_of(arcs, weights, decomposition):
    """Groups of pieces that are solved together, each piece a list of (head, tail, weight), in the order of labels.

    "cut-..." are the decompositions of graphs whose label 0 is the cut, its arcs being pieces of their own.
    """
    kept = [(h, t, w) for (h, t), w in zip(arcs, weights, strict=True) if w > 0]
    if decomposition == "zero-one":
        return [[kept]] if kept else []
    centre = 1 if decomposition in ("dominated", "cut-dominated") else 0
    groups = []
    for label in sorted({arc[centre] for arc in kept}):
        own = [arc for arc in kept if arc[centre] == label]
        alone = decomposition == "disagreement" or (decomposition.startswith("cut-") and label == 0)
        groups.append([[arc] for arc in own] if alone else [own])
    return groups


def loss_of(piece, score, loss):
    """The largest w L(margin) of the arcs of a piece, at scores divided by the margin."""
    losses = [w * max(0.0, 1.0 - score[h] + score[t]) ** (2 if loss == "squared-hinge" else 1) for h, t, w in piece]
    return max(losses)


def urgency_of(piece, score, loss):
    """What pieces are ordered by: u with l(u) = w L(margin), also where it is negative, in single precision."""
    root = math.sqrt if loss == "squared-hinge" else float
    return float(np.float32(max(root(w) * (1.0 - (score[h] - score[t])) for h, t, w in piece)))


def flow_of(group, score, square, loss, C):
    """The flow of each label after the exact step on the pieces of a group, from the quadratic programme in slacks.

    Minimise `square ||v||^2 / 2 + C sum_p xi_p` (or xi_p^2) over v and xi >= 0 with `r (1 - m) <= xi_p` for every
    arc of piece p, where m is the margin at the scores plus square v, and r = w, or its root for the squared hinge.
    """
    k, power = len(score), 2 if loss == "squared-hinge" else 1
    rows, bounds = [], []
    for p, piece in enumerate(group):
        for h, t, w in piece:
            r, row = (math.sqrt(w) if power == 2 else w), np.zeros(k + len(group))
            row[h], row[t], row[k + p] = r * square, -r * square, 1.0
            rows.append(row)
            bounds.append(r * (1.0 - score[h] + score[t]))
    A, b = np.array(rows), np.array(bounds)
    found = minimize(
        lambda z: 0.5 * square * z[:k] @ z[:k] + C * np.sum(z[k:] ** power),
        np.concatenate([np.zeros(k), [max(0.0, b.max())] * len(group)]),
        jac=lambda z: np.concatenate([square * z[:k], C * power * z[k:] ** (power - 1)]),
        bounds=[(None, None)] * k + [(0, None)] * len(group),
        constraints={"type": "ineq", "fun": lambda z: A @ z - b, "jac": lambda _: A},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x[:k]


def step_of(W, x, arcs, weights, decomposition, loss, C, margin=1.0, *, relative=False):
    """The weights W[column][label] after the document x, [(column, value), ...], its losses 1-3 and that of pieces."""
    score = [s / margin for s in scores_of(W, x)]
    wrong = sum(score[h] <= score[t] for h, t in arcs)
    groups = groups_of(arcs, weights, decomposition)
    lost = sum(loss_of(piece, score, loss) for group in groups for piece in group)
    square, W = sum(value * value for _, value in x), [list(row) for row in W]
    urgencies = [max(urgency_of(piece, score, loss) for piece in group) for group in groups]
    for g in sorted(range(len(groups)), key=lambda g: -urgencies[g]) if square else ():
        own = C / (square if relative else 1.0) / margin**2
        flow = flow_of(groups[g], score, square, loss, own)
        score = [s + square * v for s, v in zip(score, flow, strict=True)]
        for column, value in x:
            W[column] = [w + margin * value * v for w, v in zip(W[column], flow, strict=True)]
    return W, [float(wrong > 0), float(wrong), wrong / len(arcs), lost]
