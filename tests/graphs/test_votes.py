"""Votes as columns and as graphs."""

import numpy as np
import pytest

import arcrank
from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, Votes, from_votes
from arcrank.graphs.votes import counted_arcs


def test_votes_of_a_case_are_gathered_and_counted():
    cases, winners, losers = ["x", "y", "x", "x"], ["a", "b", "a", "b"], ["b", "c", "b", "a"]
    found = from_votes(cases, winners, losers, weights=[1, 1, 2, 0.5])
    assert found.cases == ["x", "y"]
    expected = ArcGraphs.from_arcs(
        [[(0, 1), (1, 0)], [(1, 2)]], 3, [[3, 0.5], [1]], labels=["a", "b", "c"], conflicts="keep"
    )
    assert found.graphs == expected


def test_ties_are_beside_the_arcs_and_neither_is_below_the_cut():
    outcomes = ["a", "b", "tie", "model_b", "tie (bothbad)", "tie"]
    found = from_votes(["x"] * 6, ["a", "a", "b", "b", "a", "a"], ["b", "c", "a", "c", "c", "b"], outcomes=outcomes)
    assert found.graphs.labels.tolist() == ["a", "b", "c", arcrank.CUT]
    arcs = list(zip(found.graphs.head.tolist(), found.graphs.tail.tolist(), strict=True))
    assert arcs == [(0, 1), (2, 0), (2, 1), (3, 0), (3, 2)]
    assert [part.tolist() for part in found.ties] == [[0], [0], [1], [2.0]]


def test_a_cycle_is_kept():
    found = from_votes(None, ["a", "b", "c"], ["b", "c", "a"])
    assert found.graphs.n_arcs == 3
    assert found.cases == [None]


def test_a_case_with_ties_only_has_no_arcs():
    found = from_votes(["x", "y"], ["a", "a"], ["b", "b"], outcomes=["tie", "a"])
    assert found.graphs.arc_counts().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"winners": ["a", "b"], "losers": ["b", "b"]}, "Vote 1 compares 'b' with itself"),
        ({"winners": [], "losers": []}, "There are no votes, and so no labels"),
        ({"winners": ["a", None], "losers": ["b", "a"]}, "Vote 1 compares None with 'a'; name both labels"),
        ({"winners": ["a", "b"], "losers": ["b", np.nan]}, "Vote 1 compares 'b' with nan; name both labels"),
        ({"winners": ["a"], "losers": ["b"], "outcomes": ["left"]}, "Vote 0: The outcome 'left' is not known"),
        ({"winners": ["a"], "losers": ["b", "c"]}, "1 winners and 2 losers"),
        ({"winners": ["a"], "losers": ["b"], "weights": [-1]}, "Vote 0 has the weight -1.0"),
        ({"winners": ["a"], "losers": ["b"], "weights": [1, 2]}, "one number for each of the 1 votes"),
        ({"winners": ["a"], "losers": ["b"], "cases": [None]}, "Vote 0 has no case"),
        ({"winners": ["a"], "losers": ["b"], "cases": [[1]]}, "must be hashable"),
        ({"winners": ["a"], "losers": ["z"], "labels": ["a", "b"]}, "has the label 'z'"),
        ({"winners": [1], "losers": ["b"]}, "Label names of different types"),
        ({"winners": [""], "losers": ["b"]}, "is empty"),
    ],
)
def test_wrong_columns_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Votes.from_columns(**columns)


def test_the_matrices_count_every_vote():
    outcomes = ["a", "b", "tie", "neither", "a"]
    votes = Votes.from_columns("aabba", "bbcab", outcomes=outcomes, weights=[1, 2, 1, 3, 0])
    assert len(votes) == 4  # without the vote of weight 0
    assert votes.wins().tolist() == [[0, 1, 0], [2, 0, 0], [0, 0, 0]]
    assert votes.ties().tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    assert votes[votes.outcome == 0].wins().sum() == 1


def test_counted_arcs_repeat_an_instance_for_each_weight():
    graphs = ArcGraphs.from_arcs([[(0, 1), (1, 2), (0, 2)], [], [(2, 0)]], 3, [[2, 5, 2], [], [0]])
    rows, arcs, weight = counted_arcs(graphs)
    assert rows.tolist() == [0, 0]
    assert weight.tolist() == [2, 5]
    assert arcs.head.tolist() == [0, 0, 1]
    assert arcs.weight is None


def test_graphs_without_weights_are_counted_as_they_are():
    graphs = ArcGraphs.from_arcs([[(0, 1)], []], 2)
    rows, arcs, weight = counted_arcs(graphs)
    assert arcs is graphs
    np.testing.assert_array_equal(rows, [0, 1])
    np.testing.assert_array_equal(weight, [1, 1])


def test_labels_with_the_names_of_outcomes_are_not_mistaken(tmp_path):
    """A cycle of three votes between labels a, b and c: each wins once and loses once."""
    from arcrank.datasets import read_votes
    from arcrank.evaluation import LeaderboardReport

    (tmp_path / "votes.csv").write_text("prompt,winner,loser\nx,a,b\ny,b,c\nz,c,a\n")
    votes = read_votes(tmp_path / "votes.csv")
    assert votes.wins().tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    standings = LeaderboardReport.from_votes(votes, n_samples=5, random_state=0).standings
    assert [(one.wins, one.losses) for one in standings] == [(1, 1)] * 3


def test_an_outcome_with_two_meanings_is_refused():
    with pytest.raises(InputError, match="the name of one of them and the word for another outcome"):
        Votes.from_columns(["b"], ["a"], outcomes=["a"])
    assert Votes.from_columns(["a"], ["b"], outcomes=["a"]).wins().tolist() == [[0, 1], [0, 0]]
