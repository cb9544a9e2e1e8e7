"""What automatic selection compares, and what it takes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank import AutoRanker
from arcrank.errors import ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs, from_votes
from arcrank.metrics import average_precision, ranking_loss
from arcrank.model_selection import StratifiedFolds
from arcrank.training.averaging import select_average
from arcrank.training.candidates import MOST_STEPS, Sample, Trial, walk_costs
from arcrank.training.cut import plan_for_votes
from arcrank.training.measures import all_measures, check_measure, default_measure, loss_of, measure_documents
from arcrank.training.plan import Learner, Plan
from arcrank.training.portfolio import families_for, restricted
from arcrank.training.selection import (
    FEWEST_DOCUMENTS,
    _rungs,
    progress_callback,
    ranked,
    sample_rows,
    select,
    split_rows,
)
from arcrank.training.tuning import end_of_grid

MACHINE = Plan(Learner.PREFERENCE_MACHINE, {"random_state": 0})


def trial(learner, C, value):
    return Trial(Plan(learner, {"C": C}), value, 0.0)


def clusters(n, spread):
    """Three labels, each with a direction of its own, but for noise."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, n)
    return np.eye(3)[y] + random.normal(0, spread, (n, 3)), as_graphs(y)


@pytest.fixture
def sample():
    X, graphs = clusters(90, 0.7)
    return Sample(X, graphs, np.arange(90), "ranking_loss", folds=3, random_state=0)


def test_trials_are_out_of_fold(sample):
    plan = MACHINE.with_parameters(C=1.0, tol=1e-2)
    found = sample.try_plan(plan)
    X, graphs = clusters(90, 0.7)
    expected = np.empty(graphs.shape)
    for train, test in StratifiedFolds(3, random_state=0).split(X, graphs):
        expected[test] = plan.ranker().fit(X[train], graphs[train]).score_labels(X[test])
    np.testing.assert_allclose(found.scores, expected)
    assert found.value == pytest.approx(ranking_loss(graphs, expected))
    assert found.documents == 90


def test_a_warm_start_reaches_the_same_optimum(sample):
    cold = Sample(*clusters(90, 0.7), np.arange(90), "ranking_loss", folds=3, random_state=0)
    close = MACHINE.with_parameters(C=3.0, loss="squared-hinge")
    sample.try_plan(close.with_parameters(C=0.1))
    np.testing.assert_allclose(sample.try_plan(close).scores, cold.try_plan(close).scores, atol=0.3)


@pytest.mark.parametrize("optimum", [-9, -2, 0, 1, 3, 9])
def test_the_walk_along_costs_ends_at_the_best_one(optimum):
    def run(plan):
        C = 0.3 if plan.parameters["C"] == "scale" else plan.parameters["C"]
        return Trial(plan.with_parameters(C=C), 1.0 + abs(2 * np.log10(C / 0.3) - optimum), 0.0)

    trials = walk_costs("ranking_loss", MACHINE, run)
    best = ranked(trials, "ranking_loss")[0]
    reached = round(2 * np.log10(best.plan.parameters["C"] / 0.3))
    assert reached == np.clip(optimum, -MOST_STEPS, MOST_STEPS)
    assert len(trials) <= abs(reached) + 3
    assert len({one.plan.parameters["C"] for one in trials}) == len(trials)


def test_no_walk_where_there_is_no_hope_or_nothing_changes():
    def run(plan):
        C = 1.0 if plan.parameters["C"] == "scale" else plan.parameters["C"]
        return Trial(plan.with_parameters(C=C), 0.5 - 1e-4 * np.log10(C), 0.0)

    assert len(walk_costs("ranking_loss", MACHINE, run, best_loss=0.3)) == 1
    assert len(walk_costs("ranking_loss", MACHINE, run, best_loss=0.45)) == 2


def test_a_cost_that_the_user_sets_is_the_only_one(sample):
    for plan in (MACHINE.with_parameters(C=2.0), Plan(Learner.ROCCHIO)):
        (found,) = walk_costs("ranking_loss", plan, sample.try_plan)
        assert found.plan == plan


def test_costs_follow_the_units_of_the_features():
    X, graphs = clusters(60, 0.7)
    small, large = (select([MACHINE], factor * X, graphs).trials for factor in (1.0, 100.0))
    ratios = [a.plan.parameters["C"] / b.plan.parameters["C"] for a, b in zip(small, large, strict=True)]
    np.testing.assert_allclose(ratios, 1e4, rtol=0.02)


def scored(sample, quality, seed, scale=1.0):
    """A candidate whose scores are the truth with noise of its own."""
    noise = np.random.default_rng(seed).normal(0, 1.0 / quality, sample.graphs.shape)
    scores = scale * (1.0 - sample.graphs.levels() + noise)
    values = measure_documents(sample.measure, sample.graphs, scores)
    return Trial(Plan(Learner.LOG_LINEAR, {"C": float(seed + 1)}), float(np.mean(values)), 0.0, values, scores)


def test_independent_errors_are_averaged_and_scales_are_evened_out(sample):
    trials = [scored(sample, 1.0, seed, scale) for seed, scale in enumerate((1.0, 100.0, 0.01))]
    found = select_average(trials, sample)
    assert {member.plan.parameters["C"] for member in found.members} == {1.0, 2.0, 3.0}
    assert found.value < min(one.value for one in trials)
    total = sum(member.weight * trials[int(member.plan.parameters["C"]) - 1].scores for member in found.members)
    np.testing.assert_allclose(total, found.scores)


def test_a_bad_candidate_stays_out(sample):
    trials = [scored(sample, 3.0, 0), scored(sample, 0.05, 1)]
    assert [member.plan for member in select_average(trials, sample).members] == [trials[0].plan]
    assert len(select_average(trials[:1] * 3, sample, most=1).members) == 1


@pytest.mark.slow
def test_more_documents_for_the_better_half():
    X, graphs = clusters(2500, 0.9)
    found = select(families_for(X, 3, label_sets=True), X, graphs)
    sizes = [one.documents for one in found.trials]
    assert sizes == sorted(sizes)
    assert set(sizes) == {1000, 2500}
    assert found.documents == 2500
    late = {one.plan.with_parameters(C=0).describe() for one in found.trials if one.documents == 2500}
    early = {one.plan.with_parameters(C=0).describe() for one in found.trials if one.documents == 1000}
    assert late < early
    assert found.plan.with_parameters(C=0).describe() in late


def test_no_family_is_tried_after_the_budget():
    X, graphs = clusters(2100, 0.9)
    families = families_for(X, 3, label_sets=True)
    hurried = select(families, X, graphs, budget=1e-9)
    assert {one.plan.with_parameters(C=0).describe() for one in hurried.trials} == {
        families[0].with_parameters(C=0).describe()
    }
    assert hurried.documents == 1000  # the second, larger sample is not begun
    patient = select(families[:2], X[:60], graphs[:60], budget=3600)
    assert len({one.plan.with_parameters(C=0).describe() for one in patient.trials}) == 2


def test_fewer_documents_where_each_has_many_arcs():
    few = as_graphs([["a"], ["b"]] * 5000)
    assert _rungs(few) == [(1000, False), (4000, True)]
    assert _rungs(few[:1500]) == [(1500, True)]
    many = as_graphs([[f"{j}" for j in range(1000 * half, 1000 * half + 1000)] for half in (0, 1)] * 50)
    assert _rungs(many) == [(FEWEST_DOCUMENTS, True)]


def test_too_few_documents_to_compare():
    X, graphs = clusters(12, 0.1)
    found = select([MACHINE], X, graphs)
    assert found.trials == []
    assert found.why == "12 documents are too few to compare learners"
    assert found.plan is MACHINE


def test_the_measure_that_is_named():
    X, graphs = clusters(60, 0.5)
    found = select([MACHINE], X, graphs, measure="one_error")
    assert found.measure == "one_error"
    assert "one-error" in found.why
    assert found.validation()["measures"]["one_error"] == pytest.approx(min(one.value for one in found.trials))


def test_restricting_the_portfolio():
    families = families_for(sp.csr_matrix((3, 1000)), 3, label_sets=True)
    assert {one.learner for one in restricted(families, ["log-linear"], None)} == {Learner.LOG_LINEAR}
    fixed = restricted(families, None, {"C": 2.0, "decomposition": "domination"})
    assert all(one.parameters["decomposition"] == "domination" for one in fixed)
    assert all(one.parameters["C"] == 2.0 for one in fixed)
    assert len(fixed) == 2  # candidates that have become equal are compared once
    assert [one.learner for one in restricted(families, ["mmp"], None)] == [Learner.MMP]
    for learners, parameters, message in (
        (["svm"], None, r"learners must be None or a list of log-linear.*got \['svm'\]"),
        ("mmp", None, "got 'mmp'"),
        (None, {"depth": 3}, "'depth' is not a parameter"),
    ):
        with pytest.raises(ParameterError, match=message):
            restricted(families, learners, parameters)


def test_a_measure_of_label_sets_needs_them():
    for measure in ("one_error", "balanced"):
        check_measure(measure, as_graphs([["a"], ["b"]]))
        with pytest.raises(ParameterError, match=rf"measure {measure} is for label sets.*\n.*zero_one_error"):
            check_measure(measure, LayeredGraphs.from_levels([[0, 1, 2]]))
    check_measure("zero_one_error", LayeredGraphs.from_levels([[0, 1, 2]]))


def test_what_was_not_measured_comes_last():
    trials = [trial(Learner.MMP, 1, 0.2), trial(Learner.MMP, 3, float("nan")), trial(Learner.MMP, 2, 0.9)]
    assert [t.value for t in ranked(trials, "average_precision")][:2] == [0.9, 0.2]
    assert [t.value for t in ranked(trials, "ranking_loss")][:2] == [0.2, 0.9]


def test_measures_of_graphs():
    sets = as_graphs([["a", "b"], ["c"], ["a", "b", "c"]])
    assert default_measure(sets) == "balanced"
    layers = LayeredGraphs.from_levels([[0, 1, 2]])
    assert default_measure(layers) == "disagreement_error"
    scores = np.array([[3.0, 1.0, 2.0]])
    assert all_measures(layers, scores)["disagreement_error"] == pytest.approx(1 / 3)
    assert set(all_measures(sets, np.zeros((3, 3)))) == {"average_precision", "ranking_loss", "coverage", "one_error"}


def test_the_balanced_measure():
    sets = as_graphs([["a", "b"], ["c"]])
    scores = np.random.default_rng(0).normal(size=(2, 3))
    both = average_precision(sets, scores) + 1 - ranking_loss(sets, scores)
    assert np.mean(measure_documents("balanced", sets, scores)) == pytest.approx(both / 2)
    assert loss_of(0.8, "balanced") == pytest.approx(0.2)
    assert loss_of(0.8, "coverage") == 0.8
    assert loss_of(float("nan"), "coverage") == np.inf


@pytest.mark.parametrize(("best", "end"), [(0.01, "smallest"), (300.0, "largest"), (3.0, None)])
def test_the_end_of_a_grid(best, end):
    costs = (0.01, 0.1, 3.0, 100.0, 300.0)
    trials = [trial(Learner.LOG_LINEAR, C, 0.5 + abs(np.log(C / best))) for C in costs]
    taken = next(one for one in trials if one.plan.parameters["C"] == best)
    assert end_of_grid(taken, trials, "ranking_loss") == end


def test_no_end_where_the_curve_is_flat_or_perfect():
    flat = [trial(Learner.LOG_LINEAR, C, value) for C, value in ((1, 0.9), (10, 0.8), (30, 0.8001))]
    assert end_of_grid(flat[2], flat, "average_precision") is None
    perfect = [trial(Learner.LOG_LINEAR, C, value) for C, value in ((1, 0.2), (10, 0.0))]
    assert end_of_grid(perfect[1], perfect, "ranking_loss") is None
    assert end_of_grid(perfect[1], perfect[1:], "ranking_loss") is None


def test_passes_are_reported():
    lines = []
    progress_callback(lambda *line: lines.append(line), 3, "mmp")({"iteration": 7})
    assert lines == [(3, "mmp, pass 7")]


def test_rows_are_drawn_once_and_for_good():
    rows = np.arange(100)
    learn, measure = split_rows(rows, 0.25, 1)
    assert (len(learn), len(measure)) == (75, 25)
    assert sorted([*learn, *measure]) == rows.tolist()
    np.testing.assert_array_equal(split_rows(rows, 0.25, 1)[1], measure)
    assert len(sample_rows(rows, 10, 0)) == 10
    assert [len(part) for part in split_rows(rows[:2], 0.9, 0)] == [1, 1]


@pytest.mark.slow
def test_votes_on_few_features_are_learnt_by_trees_too():
    """Which of two labels is better depends on whether two features have the same sign: no linear model knows."""
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 2))
    first = X[:, 0] * X[:, 1] > 0
    votes = from_votes(range(300), np.where(first, "a", "b"), np.where(first, "b", "a"))
    ranker = AutoRanker(random_state=0).fit(X, votes.graphs)
    assert str(ranker.selected_).startswith("trees")
    new = random.normal(size=(200, 2))
    assert np.mean((ranker.rank(new)[:, 0] == "a") == (new[:, 0] * new[:, 1] > 0)) > 0.85


def test_trees_count_votes():
    plan = plan_for_votes(Plan(Learner.TREES))
    assert plan.parameters == {"decomposition": "disagreement", "arc_weights": "count"}
