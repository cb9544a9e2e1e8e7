"""Plain decimals converted together: the same bits as one after the other, and None where that is not certain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets.formats.decimals import plain_features
from arcrank.datasets.formats.sparse import parse_features

digits = st.text("0123456789", min_size=1, max_size=14)
decimals = st.one_of(
    digits, st.builds(lambda whole, part: f"{whole}.{part}"[:15], digits, digits), digits.map(".{}".format)
)
rows = st.dictionaries(st.integers(0, 300), decimals, max_size=6).map(
    lambda row: " ".join(f"{index}:{value}" for index, value in sorted(row.items())).encode()
)


@given(st.lists(rows, max_size=6))
def test_the_same_bits_as_one_number_after_the_other(parts):
    found = plain_features(parts)
    if found is None:  # nothing at all, or a number of more than 15 digits
        assert not any(parts) or any(len(token) > 15 for part in parts for token in part.replace(b":", b" ").split())
        return
    wanted = parse_features(parts, None)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)


NOT_PLAIN = [b"1:-1", b"1:1e3", b"1:nan", b"1:2:3", b"1 2:3", b"1:", b":1", b"1.5:2", b"1:1.2.3", b"1:.", b"2:1 1:1"]
NOT_PLAIN += [b"1:1 1:2", b"1:1  2:1", b"1:1\t2:1", b"1:1_0", b"1:1234567890123456", b"99999999999:1", b"", b"x"]


@pytest.mark.parametrize("row", NOT_PLAIN)
def test_what_is_not_certain_is_left_to_the_careful_reader(row):
    assert plain_features([b"", row]) is None
