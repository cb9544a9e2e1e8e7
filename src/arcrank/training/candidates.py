"""Out-of-fold scores of candidates on a sample of the documents, and the walk along C."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arcrank._threads import map_in_threads
from arcrank._typing import Array, IntArray, Mask
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.cut import insert_cut
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.label_correlations import fit_label_correlations, suits
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.rankers.out_of_fold import judgements
from arcrank.training.measures import known_mean, loss_of, measure_documents
from arcrank.training.plan import ONLINE, Plan, parameter_names

__all__ = ["Sample", "Trial", "at_default_cost", "cheapest_cost", "walk_costs"]

QUICK = 1e-2
"""The gap at which candidates are compared; smaller gaps do not change the order of held-out documents."""
SCALE = "scale"
"""The default C of a ranker, which follows the data."""
STEP = math.sqrt(10.0)
MOST_STEPS = 3
"""How far from its start a walk along C may go, in steps of half a decade."""
FLAT = 0.01
"""The walk goes on where a step changed the loss by more than this share."""
HOPELESS = 1.15
"""A family whose first loss is so many times the best one so far is not walked along."""


class Trial(NamedTuple):
    """One candidate with its measure: the mean, and the value per document (NaN where there is nothing to measure)."""

    plan: Plan
    value: float
    seconds: float
    per_document: Any = None
    scores: Any = None
    """Out-of-fold scores, (n, k)."""
    documents: int = 0


class Sample:
    """Some documents, in folds, on which candidates are compared.

    Features are those of the whole data: they depend on no label, so slices of them can be used for all folds. Where
    they depend on which documents are learnt from, `as_new` are the features that the documents would have if they were
    not; documents are measured by these. Sparse features that none of the documents has would get no weight, and are
    left out: weights of a few documents are then few. Each family keeps its rankers, one per fold, so that the next
    value of C starts from the dual variables of the last.
    """

    def __init__(
        self,
        X: Any,
        graphs: PreferenceGraphs,
        rows: IntArray,
        measure: str,
        *,
        folds: int,
        random_state: int,
        n_jobs: int = 1,
        as_new: Any = None,
    ) -> None:
        self.measure, self.graphs, self.folds = measure, graphs[rows], folds
        parts = StratifiedFolds(folds, random_state=random_state).split(rows, self.graphs)
        X = X[rows]
        new = X if as_new is None else as_new[rows]
        if sp.issparse(X):
            X, new = _occurring_columns(X, new)
        self._parts = [(X[train], self.graphs[train], new[test], test) for train, test in parts]
        self._rankers: dict[str, list[Any]] = {}
        self._n_jobs = n_jobs

    def __len__(self) -> int:
        return len(self.graphs)

    def try_plan(self, plan: Plan, on_pass: Callable[[dict[str, Any]], None] | None = None) -> Trial:
        """Fit a candidate to all folds but one, each in turn, and measure it on the one left out.

        With a cut, labels whose scores are too high or too low throughout are corrected, as the calibration of the
        whole ranker does: how frequent a label is says more about the cut than about the order of the labels.
        """
        start = time.perf_counter()
        scores = np.empty(self.graphs.shape)

        def score_fold(fold: tuple[Any, Any]) -> None:
            ranker, (X, graphs, Z, test) = fold
            scores[test] = ranker.fit(X, graphs).score_labels(Z)

        map_in_threads(score_fold, zip(self._warm_rankers(plan, on_pass), self._parts, strict=True), self._n_jobs)
        if plan.parameters.get("cut_label"):
            if self._learns_correlations(plan):
                scores = fit_label_correlations(scores, *self._judgements)[1]
            scores += fit_label_effects(scores, *self._judgements).effects
        per_document = measure_documents(self.measure, self.graphs, scores)
        seconds = time.perf_counter() - start
        if plan.parameters.get("C") == SCALE:
            plan = plan.with_parameters(C=_rounded(np.mean([one.C_ for one in self._rankers[_family(plan)]])))
        return Trial(plan, known_mean(per_document), seconds, per_document, scores, len(self))

    def _learns_correlations(self, plan: Plan) -> bool:
        wanted = plan.parameters.get("label_correlations", True) and suits(*self.graphs.shape)
        return wanted and hasattr(self._rankers[_family(plan)][0], "coef_")

    @cached_property
    def _judgements(self) -> tuple[Mask, Mask]:
        return judgements(insert_cut(self.graphs))

    def value_of(self, scores: Array) -> float:
        """Measure scores of the documents."""
        return known_mean(measure_documents(self.measure, self.graphs, scores))

    def _warm_rankers(self, plan: Plan, on_pass: Callable[[dict[str, Any]], None] | None) -> Iterator[Any]:
        key = _family(plan)
        known = plan.ranker().get_params(deep=False)
        quick = {"tol": QUICK, "warm_start": True, "calibration_folds": 0, "callback": on_pass, "n_jobs": 1}
        quick = {name: value for name, value in quick.items() if name in known}
        if key not in self._rankers:
            self._rankers[key] = [plan.ranker(**quick) for _ in self._parts]
        for ranker in self._rankers[key]:
            yield ranker.set_params(**{**plan.parameters, **quick})

    def forget(self) -> None:
        """Free the memory of the rankers."""
        self._rankers.clear()


def walk_costs(
    measure: str,
    family: Plan,
    run: Callable[[Plan], Trial],
    start: float | str = SCALE,
    best_loss: float = math.inf,
) -> list[Trial]:
    """Try values of C from `start` on, in both directions, as long as they reduce the loss.

    The loss as a function of log C falls and then rises, up to noise; so the walk ends one step after its best value.
    It goes down first, since a smaller C takes less time, and not up where the loss hardly changes.
    """
    if at_default_cost(family) is family:
        return [run(family)]
    tried = {0: run(family.with_parameters(C=start))}
    first = tried[0].plan.parameters["C"]
    if loss_of(tried[0].value, measure) > HOPELESS * best_loss:
        return [tried[0]]

    def at(step: int) -> float:
        if step not in tried:
            tried[step] = run(family.with_parameters(C=_rounded(first * STEP**step)))
        return loss_of(tried[step].value, measure)

    if at(-1) < at(0):
        direction = -1
    elif (1.0 - FLAT) * at(-1) > at(0):
        direction = 1
    else:
        return list(tried.values())
    step = 0
    while abs(step) < MOST_STEPS and at(step + direction) < at(step):
        step += direction
        if at(step) > (1.0 - FLAT) * at(step - direction):
            break  # the loss hardly changes any more
    return list(tried.values())


def at_default_cost(family: Plan) -> Plan:
    """The plan with the C that follows the data; unchanged where C is fixed or means something else."""
    if "C" in family.parameters or family.learner in ONLINE or "C" not in parameter_names(family.learner):
        return family
    return family.with_parameters(C=SCALE)


def cheapest_cost(trials: Sequence[Trial], measure: str) -> float | str:
    """The smallest C whose loss is about the best one: the start on more documents, where a large C takes long."""
    best = min(loss_of(trial.value, measure) for trial in trials)
    flat = [trial for trial in trials if (1.0 - FLAT) * loss_of(trial.value, measure) <= best]
    found: float | str = min(
        (trial.plan.parameters["C"] for trial in flat if "C" in trial.plan.parameters), default=SCALE
    )
    return found


def _occurring_columns(X: Any, new: Any) -> tuple[Any, Any]:
    """The columns of two sparse matrices in which the first has a value, at least one."""
    used = np.unique(X.indices)
    used = used if len(used) else np.zeros(1, dtype=used.dtype)
    return X[:, used], new[:, used]


def _family(plan: Plan) -> str:
    return plan.with_parameters(C=None).describe()


def _rounded(cost: float) -> float:
    """Round to two digits, so that tables are readable.

    >>> _rounded(0.31622)
    0.32
    """
    return float(f"{cost:.1e}")
