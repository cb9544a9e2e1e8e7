"""Features of the online rankers: rows named, matrices left alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.errors import InputError
from arcrank.rankers.features import canonical_csr, check_finite


def test_the_row_of_a_bad_value_is_named():
    X = np.zeros((5, 3))
    X[[1, 3], [2, 0]] = 1.0, np.nan
    for make in (np.array, np.asfortranarray, sp.csr_matrix, sp.csr_array):
        with pytest.raises(InputError, match="Row 3 of X holds NaN"):
            check_finite(make(X))
    check_finite(np.full((2, 2), 1e308))  # the sum is not finite, the values are
    check_finite(sp.csr_matrix((3, 4)))


def test_canonical_form_is_a_copy_only_where_it_must_be():
    X = sp.csr_matrix(np.eye(3))
    assert np.shares_memory(canonical_csr(X).data, X.data)
    twice = sp.csr_matrix((np.ones(2), np.zeros(2, dtype=np.int32), np.array([0, 2])), shape=(1, 2))
    assert canonical_csr(twice).toarray().tolist() == [[2.0, 0.0]]
    assert twice.nnz == 2
