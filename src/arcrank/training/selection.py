"""What `--learner auto` does: try log-linear domination and the preference machine on held-out documents.

Measured on the papers' corpora, the log-linear loss leads where documents have several labels (RCV1, debtags) and the
hinge on nearly single-labelled ones (Reuters-21578); so both are tried, and the better one is taken. C is the best of
a grid, which grows where its best value is at an end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from arcrank._wording import is_are
from arcrank.errors import ParameterError
from arcrank.training.plan import Learner, Plan

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
FOLDS = 4  # the rows of one of them are held out to compare on,
ALL_FOLDS = 1000  # or those of each in turn, where documents are so few that chance would choose
MORE_STEPS = 2  # by how many values a grid may grow at its end: a large C takes long,
FLAT = 0.02  # and is worth it as long as it is better by more than this part of the loss
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
    folds: int = 1
    """In how many parts."""


Features = Callable[["Rows", "Rows"], tuple[Any, Any]]
"""Features of the rows to learn from and of the rows to judge by; what is learnt of texts is learnt from the first."""


def choose(
    plan: Plan,
    features: Features,
    graphs: PreferenceGraphs,
    rows: Rows,
    *,
    random_state: int,
    measure: str | None = None,
    tell: Callable[[float, str], None] = lambda _done, _state: None,
) -> Choice:
    """The better of the two learners with its best C, by a quick validation within `rows`.

    `measure` is what they are compared by, `default_measure` where it is None. `tell` is called with the number of
    candidates that are done and a line about the present one.
    """
    if len(rows) < FEWEST_DOCUMENTS:
        taken = Plan(Learner.LOG_LINEAR, {"C": 10.0} | plan.parameters, plan.text)
        return Choice(taken, f"{is_are(len(rows), 'document')} too few to compare learners", "", [])
    measure = default_measure(graphs) if measure is None else measure
    parts = _parts(features, graphs, sample_rows(rows, _most_documents(graphs), random_state), random_state)
    trials: list[Trial] = []

    def run(candidate: Plan) -> Trial:
        state = f"{len(trials) + 1}: {candidate.describe()}"
        trials.append(_try_parts(candidate, parts, measure, progress_callback(tell, len(trials), state)))
        tell(len(trials), f"{state} {trials[-1].value:.4f}")
        return trials[-1]

    for candidate in candidates_of(plan):
        run(candidate)
    if "C" not in plan.parameters:
        _grow_grids(trials, run, measure)
    best, why = _decide(trials, measure, _labels_a_document(parts[0].graphs))
    judged = sum(len(part.truth) for part in parts)
    return Choice(best.plan, why, measure, sorted(trials, key=_in_order), judged, len(parts))


class Part(NamedTuple):
    """What to learn from and what to judge by."""

    X: Any
    graphs: PreferenceGraphs
    Z: Any
    truth: PreferenceGraphs


def _parts(features: Features, graphs: PreferenceGraphs, rows: Rows, random_state: int) -> list[Part]:
    """One fold held out, or each in turn where documents are few."""
    from arcrank.model_selection import StratifiedFolds

    folds = StratifiedFolds(FOLDS, random_state=random_state).split(rows, graphs[rows])
    parts = []
    for learn, judge in folds:
        X, Z = features(rows[learn], rows[judge])
        parts.append(Part(X, graphs[rows[learn]], Z, graphs[rows[judge]]))
        if len(rows) > ALL_FOLDS:
            break
    return parts


def _try_parts(plan: Plan, parts: list[Part], measure: str, on_pass: Callable[[dict[str, Any]], None]) -> Trial:
    """A candidate on all parts together, as if their documents were one part."""
    import numpy as np

    trials = [try_plan(plan, *part, measure, on_pass) for part in parts]
    each = np.concatenate([trial.each for trial in trials])
    return Trial(plan, _mean(each), sum(trial.seconds for trial in trials), each)


def _grow_grids(trials: list[Trial], run: Callable[[Plan], Trial], measure: str) -> None:
    """Let the better learner's grid grow, and the other's where it is not already beaten; `run` adds to the trials."""
    for learner in [trial.plan.learner for trial in best_of_each(trials, measure)]:
        first = ranked(trials, measure)[0]
        own = [trial for trial in trials if trial.plan.learner is learner]
        if first.plan.learner is learner or not _is_better(first, ranked(own, measure)[0], measure):
            _grow(own, run, measure)


def _grow(trials: list[Trial], run: Callable[[Plan], Trial], measure: str) -> None:
    """Try values of C beyond the end of the grid at which the best one is, while they are clearly better."""
    for _ in range(MORE_STEPS):
        best = ranked(trials, measure)[0]
        end = end_of_grid(best, trials, measure)
        if end is None:
            return
        trials.append(run(best.plan.with_parameters(C=next_cost(best.plan.parameters["C"], end))))


def end_of_grid(best: Trial, trials: Sequence[Trial], measure: str) -> str | None:
    """Whether the best C is the "smallest" or the "largest" tried, and clearly better than the one beside it."""
    ordered = sorted(trials, key=lambda trial: trial.plan.parameters["C"])
    place = [trial.plan for trial in ordered].index(best.plan)
    if len(ordered) < 2 or 0 < place < len(ordered) - 1:
        return None
    beside = ordered[1] if place == 0 else ordered[-2]
    clearly = (1 + FLAT) * _loss(best, measure) < _loss(beside, measure)
    return ("smallest" if place == 0 else "largest") if clearly and _loss(best, measure) > 0 else None


def _loss(trial: Trial, measure: str) -> float:
    """The measure as something to be small, 0 at best."""
    return 1.0 - trial.value if measure in _GREATER_IS_BETTER else trial.value


def next_cost(cost: float, end: str) -> float:
    """The value before the smallest or after the largest C, in steps of about three.

    >>> [next_cost(C, "largest") for C in (10.0, 30.0, 300.0)], [next_cost(C, "smallest") for C in (1.0, 0.3, 0.1)]
    ([30.0, 100.0, 1000.0], [0.3, 0.1, 0.03])
    """
    half_decades = round(2 * math.log10(cost)) + (1 if end == "largest" else -1)
    return float(f"{10 ** (half_decades / 2):.0e}")


def _in_order(trial: Trial) -> tuple[int, float]:
    return list(GRIDS).index(trial.plan.learner), trial.plan.parameters["C"]


def _most_documents(graphs: PreferenceGraphs) -> int:
    """How many documents learners are compared on: less where each of them has very many arcs."""
    affordable = MOST_ARCS * len(graphs) // max(1, graphs.n_arcs)
    return max(FEWEST_DOCUMENTS, min(MOST_DOCUMENTS, affordable))


def progress_callback(tell: Callable[[float, str], None], done: float, state: str) -> Callable[[dict[str, Any]], None]:
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
    """The better learner, with its best C.

    Where the learners differ by less than the standard error, the one that such data has favoured.
    """
    best = best_of_each(trials, measure)
    if len(best) == 1:
        return best[0], f"{metric_title(measure)} {best[0].value:.4f}{_at_the_end(best[0], trials, measure)}"
    first, second = best
    if _is_better(first, second, measure):
        why = f"{metric_title(measure)} {first.value:.4f}, {second.plan.learner} {second.value:.4f} at best"
        return first, why + _at_the_end(first, trials, measure)
    favoured = Learner.LOG_LINEAR if labels_a_document >= _SEVERAL_LABELS else Learner.PREFERENCE_MACHINE
    taken, other = (first, second) if first.plan.learner is favoured else (second, first)
    why = (
        f"{metric_title(measure)} {taken.value:.4f}, {other.plan.learner} {other.value:.4f} at best, the same within "
        f"the standard error; {labels_a_document:.1f} labels per document favour {favoured}"
    )
    return taken, why + _at_the_end(taken, trials, measure)


def _is_better(first: Trial, second: Trial, measure: str) -> bool:
    """Whether the difference is larger than its standard error."""
    return _sign(measure) * (first.value - second.value) > _standard_error(first.each - second.each)


def _at_the_end(taken: Trial, trials: list[Trial], measure: str) -> str:
    """What to add where a C beyond those tried may be better still."""
    end = end_of_grid(taken, [trial for trial in trials if trial.plan.learner is taken.plan.learner], measure)
    if end is None:
        return ""
    return f"; {beyond_the_end(taken.plan.parameters['C'], end)}"


def beyond_the_end(cost: float, end: str) -> str:
    """That a C which was not tried may be better, and how to try it."""
    other = "larger" if end == "largest" else "smaller"
    return (
        f"C={cost:g} is the {end} value tried, a {other} one may be better "
        f"(arcrank tune -C {cost:g} -C {next_cost(cost, end):g} compares them)"
    )


def best_of_each(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """The best trial of each learner, the better learner first."""
    best: dict[Learner, Trial] = {}
    for trial in ranked(trials, measure):
        best.setdefault(trial.plan.learner, trial)
    return list(best.values())


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


def check_measure(measure: str, graphs: PreferenceGraphs) -> None:
    """Refuse a measure of label sets where there are more layers than two, or arcs."""
    if measure in _OF_LABEL_SETS and not is_of_label_sets(graphs):
        raise ParameterError(
            f"--measure {measure} is for label sets, and these documents have layers, rankings or arcs.\n"
            f"Use {', '.join(_OF_GRAPHS[:-1])} or {_OF_GRAPHS[-1]}."
        )


def default_measure(graphs: PreferenceGraphs) -> str:
    """What a ranking is judged by unless the user says otherwise: the share of wrong arcs, which sees the whole order.

    On 3,000 documents of RCV1 and of Reuters it tells the learner that leads on all of them; average precision, which
    sees the top, takes the preference machine for RCV1 too.
    """
    return Measure.RANKING_LOSS if is_of_label_sets(graphs) else Measure.DISAGREEMENT_ERROR


def metric_title(measure: str) -> str:
    """The name of a measure as people write it.

    >>> metric_title("one_error"), metric_title("zero_one_error"), metric_title("ranking_loss")
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
