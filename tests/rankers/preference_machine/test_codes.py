from __future__ import annotations

import numpy as np
import pytest

from arcrank.errors import ParameterError
from arcrank.rankers.preference_machine.codes import check_codes, error_correcting_codes, one_vs_one_codes


@pytest.mark.parametrize("k", [2, 3, 7])
def test_one_vs_one_compares_every_two_labels_once(k):
    codes = one_vs_one_codes(k)
    assert codes.shape == (k, k * (k - 1) // 2)
    assert (codes.sum(axis=0) == 0).all()
    assert (np.abs(codes).sum(axis=0) == 2).all()
    assert len(np.unique(codes.T, axis=0)) == codes.shape[1]


@pytest.mark.parametrize(("k", "length"), [(1, 1), (2, 1), (4, 2), (5, None), (40, None), (64, 6)])
def test_error_correcting_codes_differ(k, length):
    codes = error_correcting_codes(k, length)
    assert len(codes) == k
    assert len(np.unique(codes, axis=0)) == k
    assert set(np.unique(codes)) <= {-1.0, 1.0}


def test_they_are_repeatable_and_far_apart():
    codes = error_correcting_codes(10)
    assert np.array_equal(codes, error_correcting_codes(10))
    distances = (codes[:, None] != codes[None]).sum(axis=2)[~np.eye(10, dtype=bool)]
    assert distances.min() >= 8


def test_a_length_too_short_is_refused():
    with pytest.raises(ParameterError, match=r"length must be a whole number of at least 3 \(5 labels"):
        error_correcting_codes(5, 2)


def test_a_single_label_and_no_codes():
    assert check_codes(None, 4) is None
    assert check_codes("error-correcting", 4).shape == (4, 20)
    assert check_codes([[1, 0], [0, 2]], 2).dtype == np.float64
