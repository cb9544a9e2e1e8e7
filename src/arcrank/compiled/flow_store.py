"""Writing to the pool of non-zero dual variables that `solvers.flow_store.FlowStore` owns.

store : (start, count, room, key, value, used); the variables of instance i are start[i]:start[i] + count[i]
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def is_full(store, widest):
    """Whether the pool might not hold the variables of one more instance, of which there are at most `widest`."""
    return store[5][0] + widest > len(store[3])


@kernel
def save_flows(i, store, keys, values, n):
    """Store the n variables of instance i."""
    start, count, room, key, value, used = store
    # An instance that outgrows its room moves to the end; the hole stays until the caller repacks the pool, so that a
    # visit costs O(n) however large the pool is.
    if n > room[i]:
        start[i], room[i] = used[0], n
        used[0] += n
    count[i] = n
    for e in range(n):
        key[start[i] + e], value[start[i] + e] = keys[e], values[e]
