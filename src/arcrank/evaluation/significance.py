"""Test whether differences between two models on the same documents can be due to chance.

The test is Fisher's randomization test on the values of single documents: if the models were equally good, which of the
two has which value of a document would be arbitrary, so that each difference could as well have the other sign. The
p-value is the share of sign patterns whose mean difference is at least as large as the observed one. It assumes nothing
about the distribution of a measure and tests the mean, which is what reports show; Smucker, Allan & Carterette (2007),
"A comparison of statistical significance tests for information retrieval evaluation", CIKM, recommend it over the sign
and Wilcoxon tests, which test other statistics and miss or invent differences of the mean.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arcrank._typing import Array

__all__ = ["holm", "n_patterns", "permutation_p_values"]

_MOST_FLIPS, _FEWEST_PATTERNS = 10**9, 999
_CELLS = 1 << 21
_ROUNDING = 1e-12


def permutation_p_values(differences: Array, n_permutations: int, seed: int) -> Array:
    """Two-sided p-values of the columns of (documents, measures); NaN where a document has no value.

    All sign patterns are tried if there are at most `n_permutations`; otherwise that many are drawn, and the observed
    one counts as one of them (Phipson & Smyth 2010), so that no p-value is zero. A pattern flips a document in all
    measures at once.

    Examples
    --------
    >>> permutation_p_values(np.array([[1.0], [1.0], [1.0]]), 100, 0)  # 2 of the 8 patterns have a sum of 3 or -3
    array([0.25])
    """
    values = np.nan_to_num(differences)
    values = values[(values != 0).any(axis=1)]
    observed = np.abs(values.sum(axis=0)) - _ROUNDING * np.abs(values).sum(axis=0)
    exact, total = n_patterns(len(values), n_permutations)
    patterns = _all_patterns(len(values)) if exact else _drawn_patterns(len(values), total, seed)
    extreme = np.zeros(values.shape[1])
    for signs in patterns:  # a bit says whether the sign is kept: sum of signed values = 2 sum of the kept ones - sum
        sums = 2.0 * (signs @ values) - values.sum(axis=0)
        extreme += (np.abs(sums) >= observed).sum(axis=0)
    return extreme / total if exact else (extreme + 1) / (total + 1)


def n_patterns(n: int, n_permutations: int) -> tuple[bool, int]:
    """Whether all sign patterns of n documents are tried, and how many are.

    >>> n_patterns(3, 9999), n_patterns(900, 9999), n_patterns(10**6, 9999)
    ((True, 8), (False, 9999), (False, 1000))
    """
    if n < 63 and 2**n <= n_permutations:
        return True, 2**n
    return False, min(n_permutations, max(_FEWEST_PATTERNS, _MOST_FLIPS // n))


def _all_patterns(n: int) -> list[Array]:
    return [((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)]


def _drawn_patterns(n: int, total: int, seed: int) -> Iterator[Array]:
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for start in range(0, total, step):
        bits = random.integers(0, 256, size=(min(step, total - start), -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def holm(p: Array) -> Array:
    """Adjust p-values for their number by Holm's method, which bounds the chance of any false rejection.

    Holm (1979), "A simple sequentially rejective multiple test procedure"; it holds however the measures depend on each
    other.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted
