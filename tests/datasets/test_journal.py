"""A journal of feedback, read as preferences."""

import json

import pytest

from arcrank.datasets.journal import Entry, arcs_of, feedback_graphs, read_journal
from arcrank.errors import FormatError
from arcrank.graphs.cut import CUT


def write(path, *lines, end="\n"):
    numbered = [json.dumps({"seq": seq, **line}) for seq, line in enumerate(lines, start=1)]
    path.write_text("\n".join(numbered) + end)
    return path


A = {"id": "a", "text": "oil", "arcs": [["crude", "ship"]]}
B = {"id": "b", "text": "port", "relevant": ["ship"], "irrelevant": ["grain"]}


@pytest.mark.parametrize(
    ("preference", "arcs"),
    [
        ({"arcs": [["a", "b"], ["a", "b"]]}, [("a", "b")]),
        ({"relevant": ["a"], "irrelevant": None}, [("a", CUT)]),
        ({"irrelevant": ["a", "b"]}, [(CUT, "a"), (CUT, "b")]),
        ({"vote": {"a": "x", "b": "y", "outcome": "a"}}, [("x", "y")]),
        ({"vote": {"a": "x", "b": "y", "outcome": "tie"}}, []),
        ({"vote": {"a": "x", "b": "y", "outcome": "neither"}}, [(CUT, "x"), (CUT, "y")]),
    ],
)
def test_preferences_are_arcs(preference, arcs):
    assert arcs_of(preference) == arcs


def test_retractions_and_what_a_model_may_have_learnt(tmp_path):
    content = read_journal(write(tmp_path / "j", A, B, {"retract": "a"}))
    assert [one.id for one in content.live()] == ["b"]
    assert (content.last, content.retracted) == (3, {"a": 3})
    assert content.live(after=2) == []
    assert content.holds(0)
    assert not content.holds(1)  # it has learnt a, which was taken back later
    assert content.holds(3)


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path):
    path = write(tmp_path / "j", A, B, end="")
    content = read_journal(path)
    assert list(content.entries) == ["a"]
    assert content.size == len(path.read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize(
    "line", ["x", "{}", '{"seq": 3, "id": "c", "text": "t", "arcs": []}', '{"seq": 2, "id": "c"}', "[]"]
)
def test_another_file_is_refused(tmp_path, line):
    path = write(tmp_path / "j", A)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(FormatError, match=":2: not a line of a feedback journal"):
        read_journal(path)


def test_graphs_over_the_labels_of_a_model():
    entries = [Entry(1, "a", "oil", (("crude", "ship"), ("crude", CUT))), Entry(2, "b", "tea", ((CUT, "ship"),))]
    told, graphs = feedback_graphs(entries, ["ship", "crude"], cut=False)
    assert [one.id for one in told] == ["a"]
    assert graphs.labels.tolist() == ["ship", "crude"]
    told, graphs = feedback_graphs([*entries, Entry(3, "c", "x", (("new", "ship"),))], ["ship", "crude"], cut=True)
    assert (len(told), graphs.n_arcs, graphs.labels.tolist()) == (3, 4, [CUT, "ship", "crude", "new"])
