"""The Preference Learning Model as a convex program over explicit arcs, for a generic solver."""

from __future__ import annotations

import warnings

import numpy as np

from tests.oracles import arcs_of, pieces_of

LN2 = np.log(2.0)


def arc_weights(graphs, row):
    weight = getattr(graphs, "weight", None)
    if weight is None:
        return [1.0] * len(arcs_of(graphs, row))
    return weight[graphs.arc_ptr[row] : graphs.arc_ptr[row + 1]].tolist()


def all_pieces(graphs, decomposition, aggregate="max", normalize=False):
    """(row, share, [(head, tail, weight), ...]) of every piece, or of every arc of every piece."""
    for row in range(len(graphs)):
        arcs, weights = arcs_of(graphs, row), arc_weights(graphs, row)
        pieces = pieces_of(arcs, decomposition, row)
        share = 1.0 / len(pieces) if normalize and pieces else 1.0
        for piece in pieces:
            members = [(*arcs[a], weights[a]) for a in piece]
            yield from [(row, share, members)] if aggregate == "max" else [(row, share, [one]) for one in members]


def loss_at(loss, margin, beta=1.0):
    return {
        "hinge": lambda m: max(0.0, 1.0 - m),
        "beta-perceptron": lambda m: max(0.0, 1.0 - m / beta),
        "squared-hinge": lambda m: max(0.0, 1.0 - m) ** 2,
        "logistic": lambda m: np.logaddexp(0.0, -m) / LN2,
        "exponential": lambda m: np.exp(-m),
    }[loss](margin)


def objective(scores, square, graphs, decomposition, loss, C, **options):
    """`1/2 ||W||^2 + C sum_pieces max_arcs w L(margin)`, given the scores of the instances and ||W||^2."""
    beta = options.pop("beta", 1.0)
    total = 0.5 * square
    for row, share, arcs in all_pieces(graphs, decomposition, **options):
        total += C * share * max(w * loss_at(loss, scores[row, h] - scores[row, t], beta) for h, t, w in arcs)
    return total


def solve(X, graphs, decomposition, loss, C, codes=None, beta=1.0, **options):
    """The optimal value and the scores of X, by an interior-point method."""
    import cvxpy as cp

    codes = np.eye(graphs.n_labels) if codes is None else codes
    W = cp.Variable((X.shape[1], codes.shape[1]))
    terms = [0.5 * cp.sum_squares(W)]
    for row, share, arcs in all_pieces(graphs, decomposition, **options):
        charges = []
        for h, t, w in arcs:
            margin = X[row] @ W @ (codes[h] - codes[t])
            charges.append(
                w
                * {
                    "hinge": lambda m: cp.pos(1 - m),
                    "beta-perceptron": lambda m: cp.pos(1 - m / beta),
                    "squared-hinge": lambda m: cp.square(cp.pos(1 - m)),
                    "logistic": lambda m: cp.logistic(-m) / LN2,
                    "exponential": lambda m: cp.exp(-m),
                }[loss](margin)
            )
        terms.append(C * share * (cp.maximum(*charges) if len(charges) > 1 else charges[0]))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))))
    with warnings.catch_warnings():  # "may be inaccurate": at the seventh digit
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver="CLARABEL")
    return problem.value, X @ W.value @ codes.T
