"""What the defaults of the learners were chosen by: cross-validation within the training documents of seven corpora.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.default_c [cost] [intercept] [--corpora ...] [--documents N]

Three folds of at most N training documents (1,000 unless given) and of the labels that three of them have; no test
document is read.

cost : average precision in % with C="scale" and with multiples of this C from 0.03 to 30, and by how much "scale" is
    below the best of them
intercept : what the constant feature is. "none"; "regularised" has value 1; "scaled" and "scaled, cut" are the two
    values of intercept="scaled"; "around" and "fixed" start from the constants b0 that are best without features, with
    value 1 and with value 0.03, which hardly moves them. Every one has the best of four C. Micro-F1 and the second
    average precision are those after the offsets of set_measure="micro_f1", chosen on the other half of the documents.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from arcrank import LogLinearRanker, PreferenceMachine
from arcrank._typing import Array, Mask
from arcrank.decompositions import CUT_DOMINATION, DOMINATION
from arcrank.graphs import PreferenceGraphs, as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.losses import LogLinearLoss
from arcrank.losses.margin import get_margin_loss
from arcrank.metrics import average_precision, one_error, ranking_loss
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.base import add_intercept
from arcrank.rankers.scale import measure_scale
from arcrank.rankers.set_offsets import choose_offsets
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.flow_sums import FlowProblem
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs
from arcrank.solvers.loglinear_dual import DualAscent
from arcrank.solvers.margin_dual import LinearDual
from arcrank.solvers.margin_problem import make_problem
from benchmarks.label_sets.corpora import CORPORA, load_task

QUICK = {"tol": 1e-2, "random_state": 0}
CUT = {"cut_label": True, "calibration_folds": 0}
LEARNERS: dict[str, Callable[..., Any]] = {
    "log-linear domination": partial(LogLinearRanker, **QUICK),
    "log-linear zero-one": partial(LogLinearRanker, "zero-one", **QUICK),
    "log-linear disagreement": partial(LogLinearRanker, "disagreement", **QUICK),
    "log-linear domination, cut": partial(LogLinearRanker, **CUT, **QUICK),
    "identity hinge": partial(PreferenceMachine, **QUICK),
    "domination hinge": partial(PreferenceMachine, "domination", **QUICK),
    "domination squared hinge": partial(PreferenceMachine, "domination", "squared-hinge", **QUICK),
    "domination sq. hinge, cut": partial(PreferenceMachine, "domination", "squared-hinge", **CUT, **QUICK),
    "disagreement squared hinge": partial(PreferenceMachine, "disagreement", "squared-hinge", **QUICK),
}
MULTIPLES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
MULTIPLES_OF_INTERCEPTS = (0.3, 1.0, 3.0, 10.0)
NEARLY_FIXED = 0.03
INTERCEPTS = ("none", "regularised", "scaled", "scaled, cut", "around", "fixed")
FEWEST = 3

Weights = tuple[Any, Array]


def sample(corpus: str, documents: int) -> tuple[sp.csr_matrix, Any]:
    """Features and indicator of training documents."""
    task = load_task(corpus)
    rows = np.random.default_rng(0).permutation(task.X.shape[0])[:documents]
    Y = task.Y[rows].toarray().astype(int)
    Y = Y[:, Y.sum(axis=0) >= FEWEST]
    return task.X[rows][Y.any(axis=1)], Y[Y.any(axis=1)]


def folds_of(Y: Any) -> list[tuple[Any, Any]]:
    return list(StratifiedFolds(3, random_state=0).split(np.empty(len(Y)), as_graphs(Y)))


# --- C


def costs(corpora: list[str], documents: int) -> None:
    titles = ["scale", *(f"x {multiple:g}" for multiple in MULTIPLES), "below"]
    print(f"{'corpus':<9}{'learner':<28}{'C_':>9}" + "".join(f"{title:>8}" for title in titles), flush=True)
    for corpus in corpora:
        X, Y = sample(corpus, documents)
        for name, make in LEARNERS.items():
            default, C, values = cross_validated_costs(make, X, Y)
            shown = [default, *values, max(0.0, *values) - default]
            print(f"{corpus:<9}{name:<28}{C:9.3g}" + "".join(f"{100 * one:8.2f}" for one in shown), flush=True)


def cross_validated_costs(make: Callable[..., Any], X: Any, Y: Any) -> tuple[float, float, list[float]]:
    """Average precision of the default, its C, and the average precision of each multiple of this C."""
    scores = {multiple: np.empty(Y.shape) for multiple in (0.0, *MULTIPLES)}
    for train, test in folds_of(Y):
        default = make().fit(X[train], Y[train])
        scores[0.0][test] = default.score_labels(X[test])
        ranker = make(warm_start=True)
        for multiple in MULTIPLES:
            ranker.set_params(C=multiple * default.C_).fit(X[train], Y[train])
            scores[multiple][test] = ranker.score_labels(X[test])
    first, *others = (average_precision(Y, found) for found in scores.values())
    return float(first), default.C_, [float(one) for one in others]


# --- intercepts


def intercepts(corpora: list[str], documents: int) -> None:
    titles = ["avg. prec.", "rank. loss", "one-error", "micro-F1", "avg. prec."]
    print(f"\n{'corpus':<9}{'learner':<32}{'intercept':<12}" + "".join(f"{title:>11}" for title in titles), flush=True)
    for corpus in corpora:
        X, Y = sample(corpus, documents)
        for learner in ("log-linear", "squared hinge"):
            for with_cut in (False, True):
                for kind in INTERCEPTS:
                    found = np.array(list(measured(learner, with_cut, kind, X, Y)))
                    best = [found[:, 0].max(), *found[:, 1:3].min(axis=0), *found[:, 3:].max(axis=0)]
                    name = f"{learner}, domination{', cut' if with_cut else ''}"
                    numbers = "".join(f"{100 * one:11.2f}" for one in best[: 5 if with_cut else 3])
                    print(f"{corpus:<9}{name:<32}{kind:<12}{numbers}", flush=True)


def measured(learner: str, with_cut: bool, kind: str, X: Any, Y: Any) -> Iterator[tuple[float, ...]]:
    """The measures of each C."""
    graphs = insert_cut(as_graphs(Y)).with_labels(None) if with_cut else as_graphs(Y)
    scale = measure_scale(X, np.ones(len(Y)))
    C = scale.cost("scale", 1.0 if learner == "log-linear" else 0.02, Y.shape[1])
    solve = log_linear if learner == "log-linear" else squared_hinge
    constant = {
        "none": 0.0,
        "scaled": scale.constant("scaled", with_cut=False),
        "scaled, cut": scale.constant("scaled", with_cut=True),
        "fixed": NEARLY_FIXED,
    }.get(kind, 1.0)
    for multiple in MULTIPLES_OF_INTERCEPTS:
        scores = np.empty((len(Y), graphs.n_labels))
        for train, test in folds_of(Y):
            start = solve(None, graphs[train], 1.0, 1.0, 0.0)[1] if kind in ("around", "fixed") else 0.0
            coef, intercept = solve(X[train], graphs[train], multiple * C, constant, start)
            scores[test] = X[test] @ coef + intercept
        relative = scores[:, 1:] - scores[:, :1] if with_cut else scores
        plain = average_precision(Y, relative), ranking_loss(Y, relative), one_error(Y, relative)
        yield *plain, *(with_offsets(relative, Y == 1) if with_cut else (0.0, 0.0))


def with_offsets(scores: Array, relevant: Mask) -> tuple[float, float]:
    """Micro-F1 and average precision after offsets that were chosen on the other half of the documents."""
    corrected = np.empty_like(scores)
    first = np.random.default_rng(0).permutation(len(scores)) < len(scores) // 2
    for here in (first, ~first):
        judged = np.ones(relevant[here].shape, dtype=bool)
        corrected[~here] = scores[~here] - choose_offsets(scores[here], judged, relevant[here], "micro_f1")
    taken = corrected > 0
    f1 = 2 * float((taken & relevant).sum()) / float(taken.sum() + relevant.sum())
    return f1, float(average_precision(relevant.astype(int), corrected))


def design_of(X: Any, n: int, constant: float) -> Any:
    if X is None:
        return sp.csr_matrix(np.full((n, 1), constant))
    return sp.csr_matrix(add_intercept(X, constant) if constant else X)


def split_weights(W: Array, constant: float) -> Weights:
    return (W[:-1], constant * W[-1]) if constant else (W, np.zeros(W.shape[1]))


# Both solvers may start from any weights: flows add to them, the parts of the duality gap are computed from the scores
# at hand, and what is regularised is the distance from the start. Only the norm in the primal is then another one.


def log_linear(X: Any, graphs: PreferenceGraphs, C: float, constant: float, start: Any) -> Weights:
    n, weight = len(graphs), np.full(len(graphs), C)
    if X is None:
        state = PrimalState(np.zeros((1, graphs.n_labels)))
        loss = LogLinearLoss(graphs, DOMINATION, weight)
        design = LabelDesign(np.ones((n, 1)), graphs.n_labels)
        solve_lbfgs(FlowProblem(design, loss), state, tol=1e-3, max_iter=200, history=History())
        return split_weights(state.W, 1.0)
    ascent = DualAscent(design_of(X, n, constant), graphs, DOMINATION, weight)
    dual = ascent.start()
    if constant:
        dual.W[-1] = start / constant
    random = np.random.RandomState(0)
    ascent.solve(dual, tol=1e-2, max_iter=300, random=random, history=History())
    return split_weights(dual.W, constant)


def squared_hinge(X: Any, graphs: PreferenceGraphs, C: float, constant: float, start: Any) -> Weights:
    pieces = CUT_DOMINATION if graphs.n_layers > 2 else DOMINATION  # type: ignore[attr-defined]
    problem = make_problem(graphs, pieces, get_margin_loss("squared-hinge"), np.full(len(graphs), C))
    solver = LinearDual(design_of(X, len(graphs), constant), problem)
    solution = solver.start()
    if constant:
        solution.weights[-1] = start / constant
    random = np.random.RandomState(0)
    solver.solve(solution, tol=1e-2, max_iter=300, random=random, history=History())
    return split_weights(solution.weights, constant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="cost, intercept; both unless given")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--documents", type=int, default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)  # a label that no document of a fold has
    for name, run in {"cost": costs, "intercept": intercepts}.items():
        if not options.parts or name in options.parts:
            run(options.corpora, options.documents)


if __name__ == "__main__":
    main()
