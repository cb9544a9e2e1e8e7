"""The cut label in graphs: one object, inserted into layers and taken out of them again."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank import CUT
from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import insert_cut, mentions_cut, plain_labels, without_cut
from arcrank.rankers.out_of_fold import judgements

NAN = float("nan")


def indicators():
    shape = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(0, 1_000_000))
    return shape.map(lambda s: (np.random.default_rng(s[2]).random(s[:2]) < 0.5).astype(int))


def level_matrices():
    """Levels of up to four layers, in which some labels are not judged."""
    shape = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(0, 1_000_000))
    return shape.map(lambda s: np.random.default_rng(s[2]).integers(-1, min(4, s[1]), s[:2]))


def sides(graphs, row):
    """What a graph says about the cut: names above and names below it."""
    names = graphs.labels.tolist()
    arcs = list(zip(*(ends.tolist() for ends in graphs.arcs(row)), strict=True))
    above = {names[head] for head, tail in arcs if names[tail] is CUT}
    return above, {names[tail] for head, tail in arcs if names[head] is CUT}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), type(CUT)])
def test_cut_is_one_object(again):
    made = again(CUT) if again is not type(CUT) else again()
    assert made is CUT
    assert repr(CUT) == "CUT"


def test_graphs_with_the_cut_survive_pickling():
    graphs = as_graphs([[["a"], [CUT], ["b"]]])
    loaded = pickle.loads(pickle.dumps(graphs))
    assert loaded == graphs
    assert mentions_cut(loaded)


def test_a_label_named_cut_is_just_another_label():
    graphs = as_graphs([["CUT"], ["b"]])
    assert graphs.labels.tolist() == ["CUT", "b"]
    assert not mentions_cut(graphs)
    assert insert_cut(graphs).labels.tolist() == [CUT, "CUT", "b"]
    assert sides(insert_cut(graphs), 0) == ({"CUT"}, {"b"})


@given(indicators())
@settings(deadline=None)
def test_the_cut_is_below_the_labels_of_a_set_and_above_all_others(Y):
    graphs = insert_cut(as_graphs(Y, kind="indicator"))
    for row, relevant in enumerate(Y):
        assert sides(graphs, row) == (set(np.flatnonzero(relevant)), set(np.flatnonzero(1 - relevant)))
    judged, found = judgements(graphs)
    assert judged.all()
    np.testing.assert_array_equal(found, Y == 1)


def test_empty_and_full_sets_have_arcs_with_the_cut_only():
    graphs = insert_cut(as_graphs([[0, 0], [1, 1]], kind="indicator"))
    assert graphs.levels().tolist() == [[1, 2, 2], [1, 0, 0]]
    assert graphs.arc_counts().tolist() == [2, 2]


def test_single_labels_and_sparse_indicators_are_label_sets():
    assert sides(insert_cut(as_graphs(["a", "b"])), 1) == ({"b"}, {"a"})
    assert sides(insert_cut(as_graphs(sp.csr_matrix([[0, 1]]))), 0) == ({1}, {0})


@given(level_matrices(), st.integers(0, 4))
@settings(deadline=None)
def test_cut_level_is_the_last_layer_above_the_cut(levels, cut_level):
    graphs = insert_cut(LayeredGraphs.from_levels(levels), cut_level)
    for row, level in enumerate(levels):
        above = set(np.flatnonzero((level >= 0) & (level <= cut_level)).tolist())
        assert sides(graphs, row) == (above, set(np.flatnonzero(level > cut_level).tolist()))
    judged, relevant = judgements(graphs)
    np.testing.assert_array_equal(judged, levels >= 0)
    np.testing.assert_array_equal(relevant, (levels >= 0) & (levels <= cut_level))


@given(level_matrices(), st.integers(0, 4))
@settings(deadline=None)
def test_the_order_of_the_labels_stays(levels, cut_level):
    graphs = LayeredGraphs.from_levels(levels)
    assert without_cut(insert_cut(graphs, cut_level)) == graphs.with_labels(range(graphs.n_labels))


def test_label_sets_without_the_cut_are_label_sets_again():
    graphs = as_graphs([["a"], []], labels=["a", "b"])
    back = without_cut(insert_cut(graphs))
    assert back == graphs
    assert align_labels(back, ["a", "b", "c"]) == align_labels(graphs, ["a", "b", "c"])


def test_labels_that_tie_with_the_cut_are_not_judged_by_it_and_stay_in_their_layer():
    graphs = as_graphs([[["a"], [CUT, "b"], ["c"]]])
    judged, relevant = judgements(insert_cut(graphs))
    assert judged.tolist() == [[True, False, True]]
    assert relevant.tolist() == [[True, False, False]]
    assert without_cut(graphs).levels().tolist() == [[0, 1, 2]]


def test_layers_that_mention_the_cut_are_left_as_they_are():
    graphs = as_graphs([[["a"], [CUT], ["b"]], [["b"], ["a"]]])
    inserted = insert_cut(graphs, cut_level=5)
    assert inserted.labels.tolist() == [CUT, "a", "b"]
    assert inserted.levels().tolist() == [[1, 0, 2], [-1, 1, 0]]
    judged, _ = judgements(inserted)
    assert judged.tolist() == [[True, True], [False, False]]


def test_arcs_may_mention_the_cut():
    graphs = as_graphs([[("a", CUT), (CUT, "b")], [("a", "b")], [(CUT, "a"), (CUT, "c")]])
    judged, relevant = judgements(insert_cut(graphs))
    assert judged.tolist() == [[True, True, False], [False, False, False], [True, False, True]]
    assert relevant.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    plain = without_cut(graphs)
    assert plain.labels.tolist() == ["a", "b", "c"]
    assert plain.arc_counts().tolist() == [0, 1, 0]


def test_weights_of_arcs_are_those_of_the_arcs_that_stay():
    from arcrank.graphs import ArcGraphs

    arcs = [[(0, 2), (0, 1), (2, 1)]]
    graphs = ArcGraphs.from_arcs(arcs, 3, labels=["a", "b", CUT], weights=[[1.0, 2.0, 3.0]])
    assert without_cut(graphs).weight.tolist() == [2.0]


def test_contradictory_arcs_to_the_cut():
    arcs = [[("a", CUT), (CUT, "a"), (CUT, "b")]]
    with pytest.raises(GraphError):
        as_graphs(arcs)
    judged, relevant = judgements(insert_cut(as_graphs(arcs, conflicts="keep")))
    assert judged.tolist() == [[False, True]]
    assert not relevant.any()


@pytest.mark.parametrize("labels", [None, ["a", "b"]])
@pytest.mark.parametrize("y", [[["a", CUT], ["b"], []], [{"a", CUT}, {"b"}]])
def test_the_cut_in_a_label_set_is_an_error(y, labels):
    with pytest.raises(InputError, match="Instance 0 has CUT in a label set"):
        as_graphs(y, kind="sets", labels=labels)


def test_the_cut_as_a_single_label_is_an_error():
    with pytest.raises(InputError, match="Instance 1 has CUT in a label set"):
        as_graphs(["a", CUT], kind="single")


@pytest.mark.parametrize(("y", "kind"), [([["a"], ["b"]], "sets"), (["a", "b"], "single"), ([[1, 0, 1]], "indicator")])
def test_the_cut_is_not_a_label_to_list(y, kind):
    with pytest.raises(InputError, match="labels=.*CUT.*leave it out"):
        as_graphs(y, kind=kind, labels=["a", "b", CUT])


@given(st.integers(0, 1_000_000), st.sampled_from(["grades", "ranks", "levels", "distances"]), st.integers(0, 4))
@settings(deadline=None)
def test_the_cut_of_a_matrix(seed, kind, cut_level):
    rng = np.random.default_rng(seed)
    values = rng.integers(1 if kind == "ranks" else 0, 5, (3, 4)).astype(float)
    values[rng.random((3, 4)) < 0.2] = -1 if kind == "levels" else NAN
    graphs = as_graphs(values, kind=kind, labels=list("abcd"), cut_level=cut_level)
    assert graphs.labels.tolist() == ["a", "b", "c", "d", CUT]
    judged = values >= 0 if kind == "levels" else ~np.isnan(values)
    above = values >= cut_level if kind == "grades" else values <= cut_level
    names = np.array(list("abcd"))
    for row in range(3):
        expected = names[judged[row] & above[row]], names[judged[row] & ~above[row]]
        assert sides(graphs, row) == tuple(set(one.tolist()) for one in expected)
    plain = as_graphs(values, kind=kind, labels=list("abcd"))
    assert without_cut(graphs).to_arcs() == plain.to_arcs()


def test_the_next_number_after_the_cut_is_on_its_other_side():
    below, above = np.nextafter(0.3, 0), np.nextafter(0.3, 1)
    grades = as_graphs([[0.3, below, above]], kind="grades", cut_level=0.3)
    assert sides(grades, 0) == ({0, 2}, {1})
    distances = as_graphs([[0.3, below, above]], kind="distances", cut_level=0.3)
    assert sides(distances, 0) == ({0, 1}, {2})


def test_the_cut_of_a_data_frame_keeps_its_names():
    pandas = pytest.importorskip("pandas")
    graphs = as_graphs(pandas.DataFrame({"tea": [3, 1], "milk": [1, 2]}), kind="grades", cut_level=2)
    assert graphs.labels.tolist() == ["tea", "milk", CUT]
    assert sides(graphs, 1) == ({"milk"}, {"tea"})


@pytest.mark.parametrize(("y", "kind"), [([["a"], ["b"]], "sets"), ([[0, 1]], "indicator"), ([[("a", "b")]], "arcs")])
def test_cut_level_is_for_matrices_of_numbers(y, kind):
    with pytest.raises(ParameterError, match="cut_level is for matrices of grades"):
        as_graphs(y, kind=kind, cut_level=1)


def test_cut_level_is_a_number():
    with pytest.raises(ParameterError, match="cut_level"):
        as_graphs([[1, 2]], kind="grades", cut_level="high")


@pytest.mark.parametrize("y", [[[("a", "b")]], [[["a"], ["b"], ["c"]]]])
def test_graphs_without_a_word_about_the_cut(y):
    with pytest.raises(InputError, match="needs to know which labels are above the cut"):
        insert_cut(as_graphs(y))


def test_plain_labels_are_names_or_numbers():
    assert plain_labels(as_graphs(np.array([[0, 1]]))).tolist() == [0, 1]
    assert plain_labels(as_graphs([[(3, CUT), (CUT, 5)]])).tolist() == [3, 5]
    assert plain_labels(as_graphs([["a"], ["b"]])).tolist() == ["a", "b"]
