"""What the best machine in hindsight makes of a stream: the other side of mistake bounds and of the regret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank.decompositions import CUT_DOMINATED
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.base import row_blocks
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from arcrank.solvers.online import Progress
from arcrank.solvers.online_margin import MarginSteps
from arcrank.solvers.products import row_products

__all__ = ["Hindsight", "fit_in_hindsight", "need_hindsight", "passes_over", "pieces_of_loss"]

_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Hindsight:
    """A `PreferenceMachine` that was fitted to the whole stream.

    Attributes
    ----------
    square : float
        The squared norm of its weights U, at which a margin of 1 costs nothing.
    cost : float
        `sum C loss(U)` over all rounds, with the C of each document.
    loss : float
        The sum of its losses over all rounds.
    smallest_weight : float
        The smallest positive weight of an arc.
    """

    square: float
    cost: float
    loss: float
    smallest_weight: float = 1.0


def fit_in_hindsight(
    X: Any, graphs: PreferenceGraphs, steps: MarginSteps, passes: int, weight: Array, *, normalize: bool = False
) -> Hindsight:
    """Fit a machine to rows X, CSR (n, d), that were seen so many times, under the C, loss and pieces of the steps.

    `weight`, (n,), multiplies C. Margins are relative to that of the steps, so U is too.
    """
    C = passes * steps.C / steps.margin**2
    given = graphs.to_arcs() if steps.decomposition is CUT_DOMINATED else graphs
    machine = PreferenceMachine(
        steps.decomposition,
        steps.loss.name,
        C=C,
        normalize=normalize,
        fit_intercept=False,
        tol=_TOLERANCE,
        random_state=0,
    ).fit(X, given, sample_weight=weight)
    square = float(np.vdot(machine.coef_, machine.coef_))
    cost = max(0.0, machine.objective_ - 0.5 * square)
    loss = cost / (C / passes) if normalize else passes * _loss_of(machine.coef_.T, X, graphs, steps)
    weights = getattr(graphs, "weight", None)
    positive = weights[weights > 0] if weights is not None else np.ones(1)
    return Hindsight(square, cost, loss, float(positive.min(initial=1.0)))


def _loss_of(W: Array, X: Any, graphs: PreferenceGraphs, steps: MarginSteps) -> float:
    """The summed loss of the weights W, (d, k), at a margin of 1."""
    plain = MarginSteps(steps.decomposition, steps.loss, 1.0)
    stepper, progress, step = plain.stepper(graphs), Progress(), np.empty(graphs.n_labels)
    progress.reserve(len(graphs))
    for rows in row_blocks(*graphs.shape):
        for i, scores in zip(range(rows.start, rows.stop), row_products(X[rows], W), strict=True):
            stepper(i, 0.0, np.ascontiguousarray(scores), step, progress)  # a document of length 0 moves nothing
    return progress.own_loss


def passes_over(graphs: PreferenceGraphs, rounds: int) -> int:
    """How often a ranker has seen these graphs in so many rounds."""
    with_arcs = int((graphs.arc_counts() > 0).sum())
    if not with_arcs or rounds % with_arcs or not rounds:
        raise InputError(
            f"This ranker has learnt from {rounds} documents with arcs, and y has {with_arcs}; give the whole stream "
            "that it has learnt from, once."
        )
    return rounds // with_arcs


def need_hindsight(found: Hindsight | None) -> Hindsight:
    """The result of `hindsight`, or an error that asks for it."""
    if found is None:
        raise ParameterError("Without a margin this needs a machine in hindsight: call hindsight(X, y) first.")
    return found


def pieces_of_loss(loss: str) -> tuple[str, bool]:
    """The decomposition whose hinge bounds a loss of MMP, and whether it is divided by the number of pieces."""
    return {
        "indicator": ("zero-one", False),
        "size": ("disagreement", False),
        "normalized": ("disagreement", True),
        "average_precision": ("domination", True),
    }[loss]
