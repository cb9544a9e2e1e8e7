"""What partitions are made of, and what is refused before anything is learnt; no cluster is needed."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest

from arcrank import CUT, LogLinearRanker
from arcrank.distributed.fitting import check_facts, learn_data
from arcrank.distributed.raw import RawPartition, merge_summaries, summarise
from arcrank.distributed.sources import as_sources, read_shard
from arcrank.errors import InputError, ParameterError


def summary_of(*parts):
    return merge_summaries([summarise(RawPartition(*part)) for part in parts])


def part(y, source="a", *, names=None, weight=None):
    return np.eye(len(y), 3), y, weight, source, names


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(np.eye(2), None, None, "a")], "a: a partition has instances but no preferences y"),
        ([part([1, 0], weight=[1, -1])], "a: .*weight"),
        ([part(np.eye(2)), part(np.eye(2, 3), "b")], "a has 2 labels and b 3, all without names"),
        ([part(["x", "y"]), part([1, 2], "b")], "label names of different types"),
        ([part(["x", "y"], names=["p", "q", "r"]), part(["x", "y"], "b")], "a has named features and b numbered ones"),
        ([part([{"x"}]), part(["x"], "b")], "different kinds of preferences: b 'single', a 'sets'"),
    ],
)
def test_partitions_that_do_not_fit_together_are_refused(parts, message):
    with pytest.raises(InputError, match=message):
        summary_of(*parts)


def test_columns_with_other_names_are_refused():
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(np.eye(2, dtype=int), columns=list(names)) for names in ("ab", "ac")]
    with pytest.raises(InputError, match="different columns of labels"):
        summary_of(part(frames[0]), part(frames[1], "b"))


def test_a_partition_of_empty_label_sets_takes_the_labels_of_the_others():
    found = summary_of(part([{"x"}, {"y"}]), part([set(), set()], "b"))
    assert found.labels.tolist() == ["x", "y"]
    assert found.sizes == [2, 2]


def facts_of(arcs):
    return [{"arcs": arcs, "seen": np.ones(2, dtype=bool)}]


def test_data_without_anything_to_learn():
    ranker, data = LogLinearRanker(), summary_of(part([{"x"}, {"y"}]))
    learn_data(ranker, data, facts_of(2))
    check_facts(ranker, data, facts_of(2))
    with pytest.warns(UserWarning, match="No instance prefers"):
        check_facts(ranker, data, facts_of(0))
    with pytest.raises(InputError, match="All of sample_weight is zero"):
        check_facts(ranker, summary_of(part([{"x"}, {"y"}], weight=[0, 0])), facts_of(2))
    ranker.labels_ = ranker.labels_[:1]
    with pytest.raises(InputError, match="one label only"):
        check_facts(ranker, data, facts_of(2))
    data.kind, ranker.solver_ = "candidates", "dual"
    with pytest.raises(ParameterError, match="for CandidateSets use 'lbfgs'"):
        check_facts(ranker, data, facts_of(2))


def test_a_cut_needs_weights():
    data = summary_of(part([[["x"], [CUT], ["y"]]]))
    with pytest.raises(InputError, match="y mentions CUT, but this LogLinearRanker"):
        learn_data(LogLinearRanker(), data, facts_of(2))


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (None, None, "y is missing"),
        ([1, 2], None, "must be Dask collections as X is; got list"),
        (da.ones(4, chunks=2), da.ones(6, chunks=(2, 2, 2)), "X has 2 partitions and sample_weight 3"),
    ],
)
def test_collections_must_have_the_same_partitions(y, weight, message):
    X = da.ones((4, 2), chunks=(2, 2))
    frames = pytest.importorskip("dask.dataframe")
    X = X if weight is None else frames.from_dask_array(X)
    y = y if weight is None else frames.from_dask_array(y)
    weight = weight if weight is None else frames.from_dask_array(weight)
    with pytest.raises(InputError, match=message):
        as_sources(X, y, weight)


def test_folders_and_blocks_hold_preferences_themselves(tmp_path):
    with pytest.raises(InputError, match="the folder is empty"):
        as_sources(tmp_path)
    with pytest.raises(InputError, match="A folder of shards holds preferences"):
        as_sources(tmp_path, y=[1])
    with pytest.raises(InputError, match="A list of delayed blocks holds preferences"):
        as_sources([dask.delayed((np.eye(1), ["a"]))], sample_weight=[1])
    (tmp_path / "texts.jsonl").write_text('{"text": "tea", "labels": ["a"]}')
    with pytest.raises(InputError, match=r"texts.jsonl holds texts, and features are needed"):
        read_shard(str(tmp_path / "texts.jsonl"))
