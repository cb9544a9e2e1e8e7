"""What `--learner auto` takes, and why."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arcrank.errors import ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.training.measures import all_measures, check_measure, default_measure
from arcrank.training.plan import Learner, Plan
from arcrank.training.selection import (
    FEWEST_DOCUMENTS,
    GRIDS,
    Trial,
    _decide,
    _extend,
    _extend_grids,
    _labels_per_document,
    _most_documents,
    best_of_each,
    end_of_grid,
    progress_callback,
    ranked,
    sample_rows,
    select_learner,
    split_rows,
)


def trial(learner, C, each):
    each = np.array(each, dtype=float)
    return Trial(Plan(learner, {"C": C}), float(np.nanmean(each)), 0.0, each)


def test_the_better_learner_where_the_difference_is_certain():
    trials = [trial(Learner.LOG_LINEAR, 1, [0.5, 0.6] * 50), trial(Learner.PREFERENCE_MACHINE, 1, [0.1, 0.2] * 50)]
    best, why = _decide(trials, "ranking_loss", labels_per_document=4.0)
    assert best is trials[1]
    assert why == "ranking loss 0.1500, best log-linear 0.5500"


@pytest.mark.parametrize(("labels", "place"), [(3.2, 0), (1.1, 1)])
def test_the_one_that_such_data_favours_where_it_is_not(labels, place):
    random = np.random.default_rng(0)
    trials = [trial(name, 1, random.random(100)) for name in (Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE)]
    best, why = _decide(trials, "average_precision", labels)
    assert best is trials[place]
    assert f"{labels} labels per document favour {best.plan.learner}" in why


def test_the_best_cost_though_a_smaller_one_is_nearly_as_good():
    noise = np.random.default_rng(0).normal(0, 0.05, 100)
    flat = [trial(Learner.LOG_LINEAR, C, 0.2 + C * (noise - noise.mean()) / 100 - C / 1e6) for C in (10, 30, 100)]
    best, why = _decide([trial(Learner.LOG_LINEAR, 1, [0.5] * 100), *flat], "ranking_loss", 1.0)
    assert best is flat[2]
    assert why == "ranking loss 0.1999"  # the values at the end are the same but for noise


def test_learners_are_compared_by_their_best():
    noise = np.random.default_rng(0).normal(0, 0.05, 100)
    noise -= noise.mean()
    machines = [trial(Learner.PREFERENCE_MACHINE, C, 0.2 + noise * C - C / 1e3) for C in (0.1, 1)]
    rivals = [trial(Learner.LOG_LINEAR, C, 0.9 - C / 100 + noise) for C in (1, 30)]
    assert [one.plan for one in best_of_each([*rivals, *machines], "ranking_loss")] == [
        machines[1].plan,
        rivals[1].plan,
    ]
    best, why = _decide([*rivals, *machines], "ranking_loss", 4.0)
    assert best is machines[1]
    assert f"best log-linear {rivals[1].value:.4f}" in why


@pytest.mark.parametrize(("best", "end"), [(0.01, "smallest"), (300.0, "largest"), (3.0, None)])
def test_the_end_of_a_grid(best, end):
    costs = (0.01, 0.1, 3.0, 100.0, 300.0)
    trials = [trial(Learner.LOG_LINEAR, C, [0.5 + abs(np.log(C / best))]) for C in costs]
    taken = next(one for one in trials if one.plan.parameters["C"] == best)
    assert end_of_grid(taken, trials, "ranking_loss") == end
    _, why = _decide(trials, "ranking_loss", 1.0)
    assert ("value tried" in why) == (end is not None)
    if end == "largest":
        assert why.endswith(
            "; C=300 is the largest value tried; a larger one may be better (compare with arcrank tune -C 300 -C 1000)"
        )


def test_no_end_where_the_curve_is_flat_or_perfect():
    flat = [trial(Learner.LOG_LINEAR, C, [value]) for C, value in ((1, 0.9), (10, 0.8), (30, 0.8001))]
    assert end_of_grid(flat[2], flat, "average_precision") is None
    perfect = [trial(Learner.LOG_LINEAR, C, [value]) for C, value in ((1, 0.2), (10, 0.0))]
    assert end_of_grid(perfect[1], perfect, "ranking_loss") is None
    assert end_of_grid(perfect[1], perfect[1:], "ranking_loss") is None


@pytest.mark.parametrize(("optimum", "tried"), [(1e9, 7), (1e-9, 7), (700.0, 7), (30.0, 5)])
def test_a_grid_grows_towards_the_best(optimum, tried):
    def run(plan):
        return trial(plan.learner, plan.parameters["C"], [1 + abs(np.log(plan.parameters["C"] / optimum))])

    trials = [run(Plan(Learner.LOG_LINEAR, {"C": C})) for C in GRIDS[Learner.LOG_LINEAR]]
    _extend(trials, run, "ranking_loss")
    assert len(trials) == tried
    costs = sorted(one.plan.parameters["C"] for one in trials)
    assert all(a < b for a, b in itertools.pairwise(costs))


def test_only_the_grid_of_a_learner_that_may_win_grows():
    def run(plan):
        trials.append(trial(plan.learner, plan.parameters["C"], value(plan) + np.zeros(9)))
        return trials[-1]

    def value(plan):
        return (plan.learner is Learner.PREFERENCE_MACHINE) + 1 / (1 + plan.parameters["C"])

    trials = []
    for learner, costs in GRIDS.items():
        for C in costs:
            run(Plan(learner, {"C": C}))
    _extend_grids(trials, run, "ranking_loss")
    assert [one.plan.parameters["C"] for one in trials[10:]] == [1000.0, 3000.0]
    assert {one.plan.learner for one in trials[10:]} == {Learner.LOG_LINEAR}


def clusters(n, spread):
    """Texts as points: two labels that share no feature, but for noise."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, n)
    return np.eye(3)[y] + random.normal(0, spread, (n, 3)), as_graphs(y)


@pytest.mark.parametrize(("n", "folds", "judged"), [(200, 4, 200), (1200, 1, 300)])
def test_few_documents_all_judge(n, folds, judged):
    X, graphs = clusters(n, 0.5)
    found = select_learner(Plan(Learner.AUTO), lambda a, b: (X[a], X[b]), graphs, np.arange(n), random_state=0)
    assert (found.folds, found.documents) == (folds, judged)
    costs = {name: [t.plan.parameters["C"] for t in found.trials if t.plan.learner is name] for name in GRIDS}
    assert all(values == sorted(values) for values in costs.values())
    by_name = [t for t in found.trials if t.plan.learner is found.plan.learner]
    assert found.plan is ranked(by_name, found.measure)[0].plan


def test_the_measure_that_is_named():
    X, graphs = clusters(60, 0.5)
    found = select_learner(
        Plan(Learner.AUTO), lambda a, b: (X[a], X[b]), graphs, np.arange(60), random_state=0, measure="one_error"
    )
    assert found.measure == "one_error"
    assert "one-error" in found.why


def test_a_measure_of_label_sets_needs_them():
    check_measure("one_error", as_graphs([["a"], ["b"]]))
    check_measure("zero_one_error", LayeredGraphs.from_levels([[0, 1, 2]]))
    with pytest.raises(ParameterError, match=r"--measure one_error is for label sets.*\n.*zero_one_error"):
        check_measure("one_error", LayeredGraphs.from_levels([[0, 1, 2]]))


def test_what_was_not_judged_comes_last():
    trials = [trial(Learner.MMP, 1, [0.2]), Trial(Plan(Learner.MMP), float("nan"), 0.0), trial(Learner.MMP, 2, [0.9])]
    assert [t.value for t in ranked(trials, "average_precision")][:2] == [0.9, 0.2]
    assert [t.value for t in ranked(trials, "ranking_loss")][:2] == [0.2, 0.9]


def test_labels_and_measures_of_graphs():
    sets = as_graphs([["a", "b"], ["c"], ["a", "b", "c"]])
    assert _labels_per_document(sets) == 1.5
    assert default_measure(sets) == "ranking_loss"
    layers = LayeredGraphs.from_levels([[0, 1, 2]])
    assert default_measure(layers) == "disagreement_error"
    scores = np.array([[3.0, 1.0, 2.0]])
    assert all_measures(layers, scores)["disagreement_error"] == pytest.approx(1 / 3)
    assert set(all_measures(sets, np.zeros((3, 3)))) == {"average_precision", "ranking_loss", "coverage", "one_error"}


def test_fewer_documents_where_each_has_many_arcs():
    few = as_graphs([["a"], ["b"]] * 5000)
    assert _most_documents(few) == 4000
    many = as_graphs([[f"{j}" for j in range(1000 * half, 1000 * half + 1000)] for half in (0, 1)] * 50)
    assert _most_documents(many) == FEWEST_DOCUMENTS


def test_passes_are_told():
    told = []
    progress_callback(lambda *line: told.append(line), 3, "mmp")({"iteration": 7})
    assert told == [(3, "mmp, pass 7")]


def test_rows_are_drawn_once_and_for_good():
    rows = np.arange(100)
    learn, judge = split_rows(rows, 0.25, 1)
    assert (len(learn), len(judge)) == (75, 25)
    assert sorted([*learn, *judge]) == rows.tolist()
    np.testing.assert_array_equal(split_rows(rows, 0.25, 1)[1], judge)
    assert len(sample_rows(rows, 10, 0)) == 10
    assert [len(part) for part in split_rows(rows[:2], 0.9, 0)] == [1, 1]
