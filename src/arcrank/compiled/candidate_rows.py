"""Products with the candidates of one instance: rows of a CSR matrix Z, and one weight for each feature.

Z : (ptr, index, value) of the features of all candidates; an instance owns consecutive rows
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def score_candidates(Z, first, w, scores):
    """Set scores to `Z w` of the rows from `first` on."""
    ptr, index, value = Z
    for c in range(len(scores)):
        total = 0.0
        for j in range(ptr[first + c], ptr[first + c + 1]):
            total += value[j] * w[index[j]]
        scores[c] = total


@kernel
def gather_direction(Z, first, net, direction, touched, amounts):
    """List the non-zeros of `Z' net` over the rows from `first` on; return their number and the sum of their squares.

    direction : (d,) zeros, and zeros again afterwards
    touched, amounts : (d,) the features, and what they change by
    """
    ptr, index, value = Z
    for c in range(len(net)):
        if net[c] != 0.0:
            for j in range(ptr[first + c], ptr[first + c + 1]):
                direction[index[j]] += net[c] * value[j]
    n, square = 0, 0.0
    for c in range(len(net)):
        if net[c] != 0.0:
            for j in range(ptr[first + c], ptr[first + c + 1]):
                amount = direction[index[j]]
                if amount != 0.0:  # each feature once, at the first row that has it
                    touched[n], amounts[n] = index[j], amount
                    n += 1
                    square += amount * amount
                    direction[index[j]] = 0.0
    return n, square


@kernel
def add_direction(touched, amounts, n, factor, w):
    """Add `factor` times a listed direction to the weights."""
    for j in range(n):
        w[touched[j]] += factor * amounts[j]


@kernel
def difference(Z, a, b, index_of, value_of):
    """Write the non-zeros of `z_a - z_b` in the order of features; return their number.

    Columns of a row ascend, so that one walk along both rows finds all of them.
    """
    ptr, index, value = Z
    i, j, n = ptr[a], ptr[b], 0
    while i < ptr[a + 1] or j < ptr[b + 1]:
        if j == ptr[b + 1] or (i < ptr[a + 1] and index[i] < index[j]):
            index_of[n], value_of[n] = index[i], value[i]
            i += 1
        elif i == ptr[a + 1] or index[j] < index[i]:
            index_of[n], value_of[n] = index[j], -value[j]
            j += 1
        else:
            index_of[n], value_of[n] = index[i], value[i] - value[j]
            i += 1
            j += 1
        n += value_of[n] != 0.0
    return n
