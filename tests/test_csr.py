"""CSR matrices as arrays: the same as SciPy's, for few and for many entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank._csr import Csr, canonical, stable_order


@pytest.mark.parametrize("n", [0, 3, 300])
def test_canonical_form_is_that_of_scipy(n):
    random = np.random.default_rng(n)
    ptr = np.concatenate([[0], np.cumsum(random.integers(0, 60, n))])
    indices, data = random.integers(0, 50, ptr[-1]).astype(np.int32), random.integers(1, 9, ptr[-1]).astype(float)
    expected = sp.csr_matrix((data.copy(), indices.copy(), ptr.copy()), shape=(n, 50))
    expected.sum_duplicates()
    found = canonical(Csr(data, indices, ptr, (n, 50)))
    for name in ("data", "indices", "indptr"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("n", [0, 10, 10_000])
def test_equal_keys_keep_their_order(n):
    keys = np.random.default_rng(n).integers(0, 7, n).astype(np.int32)
    assert stable_order(keys, 7).tolist() == sorted(range(n), key=keys.__getitem__)
