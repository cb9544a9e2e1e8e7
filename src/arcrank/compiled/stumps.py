"""The greedy search for one thresholded ranking feature (Amini, Truong & Goutte 2008, Algorithm 2).

A matrix is given by its columns: column j has the entries `indptr[j]:indptr[j + 1]`, non-zeros only, sorted by value
downwards; the positive ones end at `split[j]`. The zeros, never stored, are between the two parts. `cut[e]` says that a
threshold to try is right below entry e; `zero_cut[j]`, that one is right below the zeros and everything above them.
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def best_stump(indptr, split, rows, cut, zero_cut, signed, tolerance):
    """Return (column, position, L) of the threshold with the greatest |L|, L = sum of `signed` over the rows above it.

    `position` is the first entry below the threshold. A later threshold must win by more than `tolerance`, so that
    rounding cannot decide between two that are equal. The column is -1 where no |L| exceeds it.
    """
    total = signed.sum()
    best, column, position = 0.0, -1, -1
    for j in range(len(split)):
        # Amini et al. 2008, Algorithm 2: thresholds from the top, L grows by the weights between two of them. The
        # weights `signed` hold A y nu and lambda B y nu~, so both sums of the algorithm are one.
        level = 0.0
        for e in range(indptr[j], split[j]):
            level += signed[rows[e]]
            if cut[e] and abs(level) > abs(best) + tolerance:
                best, column, position = level, j, e + 1
        if split[j] == indptr[j + 1]:  # no negative value: the threshold below the zeros has all rows above it
            continue
        # The zeros are not stored, so L below them is that of all rows less the negative ones: a column costs
        # O(non-zeros), not O(rows).
        level = total
        for e in range(split[j], indptr[j + 1]):
            level -= signed[rows[e]]
        if zero_cut[j] and abs(level) > abs(best) + tolerance:
            # The sign distinguishes "below the positives" from "below the zeros", which are at the same entry.
            best, column, position = level, j, -split[j] - 2
        for e in range(split[j], indptr[j + 1]):
            level += signed[rows[e]]
            if cut[e] and abs(level) > abs(best) + tolerance:
                best, column, position = level, j, -(e + 1) - 2
    return column, position, best


@kernel
def thin_cuts(indptr, split, cut, zero_cut, n_thresholds):
    """Keep in each column `n_thresholds` of its cuts, evenly spread in their order, the lowest one included."""
    for j in range(len(split)):
        count = int(zero_cut[j])
        for e in range(indptr[j], indptr[j + 1]):
            count += cut[e]
        if count <= n_thresholds:
            continue
        seen = 0  # from the lowest threshold upwards
        for e in range(indptr[j + 1] - 1, indptr[j] - 1, -1):
            if e == split[j] - 1 and zero_cut[j]:  # the walk passes the zeros before the lowest positive entry
                zero_cut[j] = _kept(seen, count, n_thresholds)
                seen += 1
            if cut[e]:
                cut[e] = _kept(seen, count, n_thresholds)
                seen += 1
        if split[j] == indptr[j] and zero_cut[j]:  # no positive entry: the zeros are on top
            zero_cut[j] = _kept(seen, count, n_thresholds)


@kernel
def _kept(i, count, n_thresholds):
    """Return whether cut i of `count`, counted from the lowest, is the first of its n_thresholds-quantile."""
    return i == 0 or (i * n_thresholds) // count != ((i - 1) * n_thresholds) // count
