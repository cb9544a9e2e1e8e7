"""The pool of dual variables: what is stored stays, wherever it is moved."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.compiled.flow_store import save_flows
from arcrank.solvers import flow_store
from arcrank.solvers.flow_store import FlowStore

WIDEST = 6


def save(store, kept, i, values):
    keys = np.arange(len(values), dtype=np.int64)[::-1].copy()
    save_flows(i, store.arrays(), keys, np.array(values, dtype=float), len(values))
    kept[i] = list(zip(keys.tolist(), values, strict=True))


def stored(store):
    at = [slice(start, start + count) for start, count in zip(store.start, store.count, strict=True)]
    return {i: list(zip(store.key[one].tolist(), store.value[one].tolist(), strict=True)) for i, one in enumerate(at)}


@given(
    n=st.integers(1, 9),
    step=st.integers(1, 4),
    saved=st.lists(st.tuples(st.integers(0, 8), st.lists(st.floats(0.5, 2.0), max_size=WIDEST)), max_size=40),
)
def test_entries_stay_while_the_pool_is_packed_grows_and_shrinks(n, step, saved):
    store, kept = FlowStore.empty(n, WIDEST), {i: [] for i in range(n)}
    before, flow_store._LEAST = flow_store._LEAST, step  # several blocks of instances
    try:
        for number, (i, values) in enumerate(saved):
            if store.used[0] + WIDEST > len(store.key):
                store.repack(WIDEST)
            save(store, kept, i % n, values)
            if number % 7 == 0:
                store.trim()
                assert len(store.key) == len(store.value) == store.used[0] == store.count.sum()
                store.repack(WIDEST)
            assert stored(store) == kept
        factor = np.arange(1.0, n + 1)
        doubled = stored(store.scaled(factor, WIDEST))
    finally:
        flow_store._LEAST = before
    assert doubled == {i: [(key, value * factor[i]) for key, value in kept[i]] for i in range(n)}
    assert stored(store) == kept


def test_a_pool_that_does_not_own_its_memory_grows_too():
    store, kept = FlowStore.empty(2, WIDEST), {0: [], 1: []}
    save(store, kept, 1, [1.0, 2.0])
    store.key, store.value = store.key[:], store.value[:]
    store.repack(WIDEST, instances=50)
    assert stored(store) == kept
    assert len(store.key) >= 50 * WIDEST


def test_packing_needs_no_second_pool():
    n, width = 2000, 50
    tracemalloc.start()
    try:
        store, values = FlowStore.empty(n, width), np.ones(width)
        store.repack(width, instances=2 * n)
        for size in (width // 2, width):  # every instance outgrows its room
            for i in range(n):
                save_flows(i, store.arrays(), np.arange(size), values, size)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        store.repack(width)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 0.2 * store.value.nbytes
    assert store.used[0] == store.count.sum() == n * width


@pytest.mark.parametrize("n", [0, 1])
def test_an_empty_pool_is_packed(n):
    store = FlowStore.empty(n, WIDEST)
    store.trim()
    store.repack(WIDEST)
    assert len(store.key) >= 16 * WIDEST
