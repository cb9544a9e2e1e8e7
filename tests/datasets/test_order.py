"""Files in runs of one label are told from files in random order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import read_corpus
from arcrank.datasets.order import LabelOrder


def order_of(label_sets):
    order = LabelOrder()
    for labels in label_sets:
        order.add(labels)
    return order


def zipf_labels(n, k, random):
    """Single labels, some of them much more frequent than others."""
    chance = 1 / np.arange(1, k + 1)
    return [[str(label)] for label in random.choice(k, n, p=chance / chance.sum())]


def label_sets(n, k, random):
    return [[str(label) for label in np.flatnonzero(random.random(k) < random.uniform(0.02, 0.3))] for _ in range(n)]


def test_the_expected_likeness_is_the_mean_over_all_orders():
    sets = [["a"], ["a", "b"], ["b", "c", "d"], [], ["a", "d"]]
    every = [order_of(order).likeness for order in permutations([labels for labels in sets if labels])]
    assert order_of(sets).expected == pytest.approx(np.mean(every))


@pytest.mark.slow
@given(
    st.integers(0, 2**32),
    st.integers(2, 400),
    st.sampled_from([2, 3, 10, 50, 300]),
    st.sampled_from([zipf_labels, label_sets]),
)
def test_no_false_alarm_in_random_order(seed, n, k, make):
    random = np.random.default_rng(seed)
    sets = sorted(make(n, k, random))
    for _ in range(20):
        assert not order_of([sets[i] for i in random.permutation(n)]).in_runs


@pytest.mark.parametrize("n", [2, 4, 10, 20, 40])
def test_no_false_alarm_where_every_label_occurs_twice(n):
    random = np.random.default_rng(0)
    for _ in range(2000):
        assert not order_of([[str(i // 2)] for i in random.permutation(n)]).in_runs


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("n", [60, 1000])
def test_sorted_files_are_caught(k, n):
    random = np.random.default_rng(0)
    assert order_of(sorted(zipf_labels(n, k, random))).in_runs
    assert order_of(sorted([str(i % k)] for i in range(n))).in_runs


@pytest.mark.parametrize("run", [2, 5, 50])
def test_so_are_files_in_blocks(run):
    random = np.random.default_rng(0)
    assert order_of([[str(label)] for label in random.integers(0, 20, 1000 // run) for _ in range(run)]).in_runs


def test_label_sets_sorted_by_one_label_of_several(corpus_of):
    from arcrank.datasets import load_reuters21578

    sets = corpus_of(load_reuters21578, "modapte").label_sets
    assert not order_of(sets).in_runs  # news of a day are a little alike
    assert order_of(sorted(sets)).in_runs


def test_the_best_labels_of_a_document_count(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [
        '{"text": "a", "layers": [["x"], ["y"]]}',
        '{"text": "b", "arcs": [["y", "x"]]}',
        '{"text": "c", "labels": []}',
    ]
    path.write_text("\n".join(row for row in rows for _ in range(30)))
    order = LabelOrder()
    order.add_block(read_corpus(path))
    assert (order.n, order.likeness, order.in_runs) == (60, pytest.approx(58 / 59), True)
