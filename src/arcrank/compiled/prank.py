"""PRank (Crammer & Singer 2001, Figure 1): a perceptron with ordered thresholds."""

from __future__ import annotations

from arcrank.compiled.jit import kernel

__all__ = ["prank_rounds"]


@kernel
def prank_rounds(data, indices, indptr, grade, order, w, b, late_w, late_b, rounds):
    """Learn rows of a CSR matrix in this order; returns the sum of |predicted - right grade|.

    `late` sums each change times the number of rounds before it: the mean of all w is `w - late_w / rounds`.
    """
    total = 0
    for row in order:
        score = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            score += data[at] * w[indices[at]]
        predicted, step = len(b), 0
        for r in range(len(b) - 1, -1, -1):
            if score - b[r] < 0.0:
                predicted = r  # the first threshold above the score
            sign = 1 if r < grade[row] else -1
            if sign * (score - b[r]) <= 0.0:
                step += sign
                b[r] -= sign
                late_b[r] -= sign * rounds
        if step != 0:
            for at in range(indptr[row], indptr[row + 1]):
                w[indices[at]] += step * data[at]
                late_w[indices[at]] += rounds * step * data[at]
        total += abs(predicted - grade[row])
        rounds += 1
    return total
