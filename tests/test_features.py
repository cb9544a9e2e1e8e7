"""The check of feature matrices: places are named, matrices of the caller are left alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank._features import canonical_csr, check_values, squared_lengths
from arcrank.errors import InputError

FORMS = (np.array, np.asfortranarray, sp.csr_matrix, sp.csr_array)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize(("value", "told"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf"), (1e200, r"1e\+200")])
def test_row_and_column_of_a_bad_value_are_named(make, value, told):
    X = np.zeros((5, 3))
    X[[1, 3, 4], [2, 1, 0]] = 1.0, value, value
    with pytest.raises(InputError, match=f"X holds {told} in row 3, column 1"):
        check_values(make(X))
    with pytest.raises(InputError, match=r"column 1 \('width'\)"):
        check_values(make(X), np.array(["length", "width", "height"], dtype=object))


def test_large_and_empty_matrices_pass():
    check_values(np.full((2, 2), -1e100))
    check_values(sp.csr_matrix((3, 4)))
    check_values(np.empty((0, 4)))


def test_canonical_form_is_a_copy_only_where_it_must_be():
    X = sp.csr_matrix(np.eye(3))
    assert np.shares_memory(canonical_csr(X).data, X.data)
    twice = sp.csr_matrix((np.ones(2), np.zeros(2, dtype=np.int32), np.array([0, 2])), shape=(1, 2))
    assert canonical_csr(twice).toarray().tolist() == [[2.0, 0.0]]
    assert twice.nnz == 2


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 4), (300, 900)])
def test_squared_lengths_of_any_matrix(shape):
    X = sp.random(*shape, density=0.6, random_state=0, format="csr")
    np.testing.assert_allclose(squared_lengths(X), (X.toarray() ** 2).sum(axis=1))
    np.testing.assert_allclose(squared_lengths(X.toarray()), squared_lengths(X))
