"""Reports on votes."""

import numpy as np
import pytest

from arcrank.errors import InputError
from arcrank.evaluation import LeaderboardReport
from arcrank.graphs import Votes


def simulated(n=900):
    random = np.random.default_rng(0)
    strengths = np.array([1.5, 0.5, -0.5, -1.5])
    a = random.integers(4, size=n)
    b = (a + random.integers(1, 4, size=n)) % 4
    judges = np.array(["Ann", "Bo", "Cy", "Di", "Ed"])[np.arange(n) % 5]
    p = 1 / (1 + np.exp(strengths[b] - strengths[a]))
    p = np.where(judges == "Cy", 1 - p, p)  # one judge holds the opposite view
    words = np.where(random.random(n) < p, "a", "b")
    names = np.array(["w", "x", "y", "z"])
    return names[a], names[b], words, judges


def test_the_order_its_intervals_and_a_judge_who_disagrees():
    a, b, words, judges = simulated()
    fair = judges != "Cy"
    votes = Votes.from_columns(a, b, outcomes=words, judges=judges)
    report = LeaderboardReport.from_votes(votes, slices=judges, n_samples=60)
    assert report.labels == ["w", "x", "y", "z"]
    assert all(one.low < one.strength < one.high for one in report.standings)
    assert [one.label for one in report.slices["Cy"]] == ["z", "y", "x", "w"]
    assert [one.judge for one in report.judges if one.disagrees] == ["Cy"]
    assert "Cy agrees with the others in" in report.to_text()
    assert report.wins.sum() == 900
    two = LeaderboardReport.from_votes(votes[np.flatnonzero(fair)], n_samples=20)
    assert not any(one.disagrees for one in two.judges)


def test_contradictions_and_cycles():
    votes = Votes.from_columns("abac", "babb", cases=[1, 1, 2, 2], judges=["J", "J", "K", "K"])
    report = LeaderboardReport.from_votes(votes, n_samples=5)
    assert report.contradicted == 1
    assert report.self_contradictions == {"J": 1}
    cycle = LeaderboardReport.from_votes(Votes.from_columns("aabc", "bbca"), n_samples=5)
    assert [(one.labels, one.smallest_lead) for one in cycle.cycles] == [(("a", "b", "c"), 1.0)]
    assert "Cycle: a > b > c > a, by majorities of at least 1 vote." in str(cycle)


def test_ties_alone_say_nothing_about_the_order():
    votes = Votes.from_columns("aab", "bbc", outcomes=["tie", "neither", "tie"])
    report = LeaderboardReport.from_votes(votes, n_samples=5)
    assert [(one.best_place, one.worst_place) for one in report.standings] == [(1, 1)] * 3
    assert "All votes are ties or for neither label" in report.to_text()


def test_a_judge_with_one_vote_is_not_compared():
    votes = Votes.from_columns("aab", "bba", judges=["J", "J", "K"])
    report = LeaderboardReport.from_votes(votes, n_samples=5)
    assert [one.score for one in report.judges] == [None, None]
    assert "2 judges with fewer than 10 votes: too few to be compared." in report.notes()


def test_groups_without_a_vote_between_them_are_named():
    report = LeaderboardReport.from_votes(Votes.from_columns("ac", "bd"), n_samples=5)
    assert "No vote connects 2 groups of labels" in report.to_text()


def test_it_is_shown_as_html_and_as_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    votes = Votes.from_columns(["<x>", "y"], ["y", "z"], outcomes=["a", "tie"])
    report = LeaderboardReport.from_votes(votes, n_samples=5)
    assert "&lt;x&gt;" in report._repr_html_()
    ax = report.plot()
    assert [one.get_text() for one in ax.get_yticklabels()] == report.labels
    ax.figure.savefig(tmp_path / "board.svg")


def test_slices_must_name_every_vote():
    with pytest.raises(InputError, match="slices has 1 names for 2 votes"):
        LeaderboardReport.from_votes(Votes.from_columns("ab", "ba"), slices=["x"], n_samples=5)
