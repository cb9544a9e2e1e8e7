"""What `--learner auto` does: try log-linear domination and the preference machine on held-out documents.

Measured on the papers' corpora, the log-linear loss leads where documents have several labels (RCV1, debtags) and the
hinge on nearly single-labelled ones (Reuters-21578); so both are tried, and the better one is taken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from arcrank.cli.learners import Learner, Plan
from arcrank.cli.showing import is_are

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arcrank.graphs import PreferenceGraphs

    Rows = NDArray[np.intp]


class Measure(StrEnum):
    """What `--measure` takes."""

    AVERAGE_PRECISION = "average_precision"
    RANKING_LOSS = "ranking_loss"
    COVERAGE = "coverage"
    ONE_ERROR = "one_error"
    ZERO_ONE_ERROR = "zero_one_error"
    DOMINATION_ERROR = "domination_error"
    DOMINATED_ERROR = "dominated_error"
    DISAGREEMENT_ERROR = "disagreement_error"


_GREATER_IS_BETTER = (Measure.AVERAGE_PRECISION,)
_OF_LABEL_SETS = ("average_precision", "ranking_loss", "coverage", "one_error")
_OF_GRAPHS = ("domination_error", "dominated_error", "disagreement_error", "zero_one_error")
GRIDS = {Learner.LOG_LINEAR: (1.0, 10.0, 30.0, 100.0, 300.0), Learner.PREFERENCE_MACHINE: (0.1, 0.3, 1.0, 3.0, 10.0)}
MOST_DOCUMENTS = 4000
MOST_ARCS = 12_000_000  # only hierarchies and very many labels have more; a firmer choice is worth some seconds
FEWEST_DOCUMENTS = 20
HELD_OUT = 0.25
_SEVERAL_LABELS = 1.5
QUICK = 1e-2  # the gap at which candidates are compared; orders of held-out documents do not change below


class Trial(NamedTuple):
    """One candidate and the measure that it reached: its mean, and what each document had (NaN: nothing to judge)."""

    plan: Plan
    value: float
    seconds: float
    each: Any = None


class Choice(NamedTuple):
    """What was taken, why, and what was tried."""

    plan: Plan
    why: str
    measure: str
    trials: list[Trial]
    documents: int = 0
    """How many judged."""


Features = Callable[["Rows", "Rows"], tuple[Any, Any]]
"""Features of the rows to learn from and of the rows to judge by; what is learnt of texts is learnt from the first."""


def choose(
    plan: Plan,
    features: Features,
    graphs: PreferenceGraphs,
    rows: Rows,
    *,
    random_state: int,
    tell: Callable[[float, str], None] = lambda _done, _state: None,
) -> Choice:
    """The better of the two learners with its best C, by a quick validation within `rows`.

    `tell` is called with the number of candidates that are done and a line about the present one.
    """
    if len(rows) < FEWEST_DOCUMENTS:
        taken = Plan(Learner.LOG_LINEAR, {"C": 10.0} | plan.parameters, plan.text)
        return Choice(taken, f"{is_are(len(rows), 'document')} too few to compare learners", "", [])
    learn, judge = split_rows(sample_rows(rows, _most_documents(graphs), random_state), HELD_OUT, random_state)
    measure = default_measure(graphs)
    candidates = candidates_of(plan)
    X, Z = features(learn, judge)
    trials = []
    for place, candidate in enumerate(candidates):
        state = f"{place + 1}/{len(candidates)}: {candidate.describe()}"
        on_pass = pass_teller(tell, place, state)
        trials.append(try_plan(candidate, X, graphs[learn], Z, graphs[judge], measure, on_pass))
        tell(place + 1, f"{state} {trials[-1].value:.4f}")
    best, why = _decide(trials, measure, _labels_a_document(graphs[learn]))
    return Choice(best.plan, why, measure, trials, len(judge))


def _most_documents(graphs: PreferenceGraphs) -> int:
    """How many documents learners are compared on: less where each of them has very many arcs."""
    affordable = MOST_ARCS * len(graphs) // max(1, graphs.n_arcs)
    return max(FEWEST_DOCUMENTS, min(MOST_DOCUMENTS, affordable))


def pass_teller(tell: Callable[[float, str], None], done: float, state: str) -> Callable[[dict[str, Any]], None]:
    """A callback that tells the passes of one fit."""
    return lambda entry: tell(done, f"{state}, pass {entry['iteration']}")


def candidates_of(plan: Plan) -> list[Plan]:
    """Both learners with each C of their grids, or with the C that the user set."""
    return [
        Plan(learner, {**plan.parameters, "C": C}, plan.text)
        for learner, grid in GRIDS.items()
        for C in ((plan.parameters["C"],) if "C" in plan.parameters else grid)
    ]


def try_plan(
    plan: Plan,
    X: Any,
    graphs: PreferenceGraphs,
    Z: Any,
    truth: PreferenceGraphs,
    measure: str,
    on_pass: Callable[[dict[str, Any]], None] | None = None,
) -> Trial:
    """Fit a candidate quickly and judge it."""
    start = time.perf_counter()
    quick: dict[str, Any] = {}
    if plan.learner in GRIDS:
        quick = {"tol": max(QUICK, plan.parameters.get("tol", QUICK)), "callback": on_pass}
    ranker = plan.ranker(**quick).fit(X, graphs)
    each = measured_each(measure, truth, ranker.score_labels(Z))
    return Trial(plan, _mean(each), time.perf_counter() - start, each)


def ranked(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """The best first; among equals the one that was tried first."""
    sign = _sign(measure)
    return sorted(trials, key=lambda trial: math.inf if math.isnan(trial.value) else -sign * trial.value)


def _sign(measure: str) -> float:
    return 1.0 if measure in _GREATER_IS_BETTER else -1.0


def _decide(trials: list[Trial], measure: str, labels_a_document: float) -> tuple[Trial, str]:
    """The better learner, with its smallest C that is as good as its best.

    Where the learners differ by less than the standard error, the one that such data has favoured.
    """
    best = best_of_each(trials, measure)
    if len(best) == 1:
        return _with_smallest(trials, best[0], f"{in_words(measure)} {best[0].value:.4f} at best")
    first, second = best
    why = f"{in_words(measure)} {first.value:.4f} at best, {second.plan.learner} {second.value:.4f}"
    if _sign(measure) * (first.value - second.value) > _standard_error(first.each - second.each):
        return _with_smallest(trials, first, why)
    favoured = Learner.LOG_LINEAR if labels_a_document >= _SEVERAL_LABELS else Learner.PREFERENCE_MACHINE
    taken, other = (first, second) if first.plan.learner is favoured else (second, first)
    why = (
        f"{in_words(measure)} {taken.value:.4f} at best, {other.plan.learner} {other.value:.4f}, the same within the "
        f"standard error; {labels_a_document:.1f} labels a document favour {favoured}"
    )
    return _with_smallest(trials, taken, why)


def best_of_each(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """The best trial of each learner, the better learner first."""
    best: dict[Learner, Trial] = {}
    for trial in ranked(trials, measure):
        best.setdefault(trial.plan.learner, trial)
    return list(best.values())


def _with_smallest(trials: list[Trial], best: Trial, why: str) -> tuple[Trial, str]:
    """The first trial of a learner, in the order of its grid, within a standard error of its best."""
    rivals = [trial for trial in trials if trial.plan.learner is best.plan.learner]
    taken = next(t for t in rivals if t is best or abs(t.value - best.value) <= _standard_error(t.each - best.each))
    if taken is best:
        return taken, why
    small, large = (trial.plan.parameters["C"] for trial in (taken, best))
    return taken, f"{why}; C={small:g} is the smallest that is as good as {large:g} within the standard error"


def _standard_error(differences: Any) -> float:
    import numpy as np

    known = differences[~np.isnan(differences)]
    return float(known.std() / math.sqrt(len(known))) if len(known) else math.inf


def _labels_a_document(graphs: PreferenceGraphs) -> float:
    """How many labels no other one is preferred to, among those with an arc; the mean over documents."""
    import numpy as np

    rows = range(min(len(graphs), 200))
    tops = [len(np.setdiff1d(*graphs.arcs(row))) for row in rows]
    return float(np.mean([count for count in tops if count] or [1]))


def is_of_label_sets(graphs: PreferenceGraphs) -> bool:
    """Whether every graph has at most two layers, so that there are relevant labels and others."""
    from arcrank.graphs import LayeredGraphs

    return isinstance(graphs, LayeredGraphs) and graphs.n_layers <= 2


def default_measure(graphs: PreferenceGraphs) -> str:
    """What a ranking is judged by unless the user says otherwise: the share of wrong arcs, which sees the whole order.

    On 3,000 documents of RCV1 and of Reuters it tells the learner that leads on all of them; average precision, which
    sees the top, takes the preference machine for RCV1 too.
    """
    return Measure.RANKING_LOSS if is_of_label_sets(graphs) else Measure.DISAGREEMENT_ERROR


def in_words(measure: str) -> str:
    """The name of a measure as people write it.

    >>> in_words("one_error"), in_words("zero_one_error"), in_words("ranking_loss")
    ('one-error', 'zero-one error', 'ranking loss')
    """
    if measure == Measure.ONE_ERROR:
        return "one-error"
    return measure.replace("zero_one", "zero-one").replace("_", " ")


def measured_each(name: str, graphs: PreferenceGraphs, scores: Any) -> Any:
    """One measure by name, of each document."""
    from arcrank import metrics

    return getattr(metrics, name)(graphs, scores, reduce="none")


def _mean(each: Any) -> float:
    """The mean over documents that have something to judge; NaN where there is none."""
    import numpy as np

    known = each[~np.isnan(each)]
    return float(known.mean()) if len(known) else math.nan


def all_measures(graphs: PreferenceGraphs, scores: Any) -> dict[str, float]:
    """The measures that suit this kind of supervision."""
    names = _OF_LABEL_SETS if is_of_label_sets(graphs) else _OF_GRAPHS
    return {name: _mean(measured_each(name, graphs, scores)) for name in names}


def sample_rows(rows: Rows, most: int, random_state: int) -> Rows:
    """At most so many of the rows, drawn at random, in their order."""
    import numpy as np

    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(random_state).choice(rows, most, replace=False))


def split_rows(rows: Rows, share: float, random_state: int) -> tuple[Rows, Rows]:
    """The rows to learn from, and a share of them drawn at random to judge by; each has at least one."""
    import numpy as np

    held_out = np.zeros(len(rows), dtype=bool)
    count = min(max(1, round(share * len(rows))), len(rows) - 1)
    held_out[np.random.default_rng(random_state).permutation(len(rows))[:count]] = True
    return rows[~held_out], rows[held_out]
