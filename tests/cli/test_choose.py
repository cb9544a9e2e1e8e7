"""What `--learner auto` takes, and why."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.cli.choose import (
    FEWEST_DOCUMENTS,
    Trial,
    _decide,
    _labels_a_document,
    _most_documents,
    all_measures,
    best_of_each,
    default_measure,
    pass_teller,
    ranked,
    sample_rows,
    split_rows,
)
from arcrank.cli.learners import Learner, Plan
from arcrank.graphs import LayeredGraphs, as_graphs


def trial(learner, C, each):
    each = np.array(each, dtype=float)
    return Trial(Plan(learner, {"C": C}), float(np.nanmean(each)), 0.0, each)


def test_the_better_learner_where_the_difference_is_certain():
    trials = [trial(Learner.LOG_LINEAR, 1, [0.5, 0.6] * 50), trial(Learner.PREFERENCE_MACHINE, 1, [0.1, 0.2] * 50)]
    best, why = _decide(trials, "ranking_loss", labels_a_document=4.0)
    assert best is trials[1]
    assert why == "ranking loss 0.1500 at best, log-linear 0.5500"


@pytest.mark.parametrize(("labels", "place"), [(3.2, 0), (1.1, 1)])
def test_the_one_that_such_data_favours_where_it_is_not(labels, place):
    random = np.random.default_rng(0)
    trials = [trial(name, 1, random.random(100)) for name in (Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE)]
    best, why = _decide(trials, "average_precision", labels)
    assert best is trials[place]
    assert f"{labels} labels a document favour {best.plan.learner}" in why


def test_the_smallest_cost_that_is_as_good():
    noise = np.random.default_rng(0).normal(0, 0.05, 100)
    flat = [trial(Learner.LOG_LINEAR, C, 0.2 + C * (noise - noise.mean()) / 100 - C / 1e6) for C in (10, 30, 100)]
    best, why = _decide([trial(Learner.LOG_LINEAR, 1, [0.5] * 100), *flat], "ranking_loss", 1.0)
    assert best is flat[0]
    assert why.endswith("; C=10 is the smallest that is as good as 100 within the standard error")


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
    assert best is machines[0]
    assert f"log-linear {rivals[1].value:.4f}; C=0.1 is the smallest" in why


def test_what_was_not_judged_comes_last():
    trials = [trial(Learner.MMP, 1, [0.2]), Trial(Plan(Learner.MMP), float("nan"), 0.0), trial(Learner.MMP, 2, [0.9])]
    assert [t.value for t in ranked(trials, "average_precision")][:2] == [0.9, 0.2]
    assert [t.value for t in ranked(trials, "ranking_loss")][:2] == [0.2, 0.9]


def test_labels_and_measures_of_graphs():
    sets = as_graphs([["a", "b"], ["c"], ["a", "b", "c"]])
    assert _labels_a_document(sets) == 1.5
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
    pass_teller(lambda *line: told.append(line), 3, "mmp")({"iteration": 7})
    assert told == [(3, "mmp, pass 7")]


def test_rows_are_drawn_once_and_for_good():
    rows = np.arange(100)
    learn, judge = split_rows(rows, 0.25, 1)
    assert (len(learn), len(judge)) == (75, 25)
    assert sorted([*learn, *judge]) == rows.tolist()
    np.testing.assert_array_equal(split_rows(rows, 0.25, 1)[1], judge)
    assert len(sample_rows(rows, 10, 0)) == 10
    assert [len(part) for part in split_rows(rows[:2], 0.9, 0)] == [1, 1]
