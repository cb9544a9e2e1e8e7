"""Matrices of mostly zero rows: back to the last bit, and refused where the numbers of rows are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.modelfile.encoder import Encoder, MostlyZero
from arcrank.modelfile.rows import StoredRows, row_arrays
from arcrank.modelfile.values import decode, expand, readable


def mostly_zero(*rows):
    matrix = np.zeros((10, 3))
    matrix[list(rows)] = 1.5
    return matrix


@pytest.mark.parametrize("rows", [(), (0,), (9,), (0, 4, 9), range(7)])
def test_comes_back(rows):
    matrix = mostly_zero(*rows)
    arrays = row_arrays(matrix)
    assert arrays["numbers"].tolist() == list(rows)
    assert StoredRows(arrays, 10).expand().tobytes() == matrix.tobytes()


def test_a_negative_zero_is_kept():
    matrix = mostly_zero(2)
    matrix[5, 1] = -0.0
    assert StoredRows(row_arrays(matrix), 10).expand().tobytes() == matrix.tobytes()


@pytest.mark.parametrize("matrix", [np.ones((4, 3)), mostly_zero(*range(8)), np.zeros((0, 0)), np.zeros((3, 0))])
def test_what_would_not_be_smaller_stays_whole(matrix):
    assert row_arrays(matrix) is None
    encoder = Encoder("a model")
    encoded = encoder.encode(MostlyZero(matrix), "weights")
    assert encoded == {"$array": "weights"}
    assert decode(encoded, encoder.arrays.__getitem__) is not None


def test_as_a_value():
    encoder = Encoder("a model")
    encoded = encoder.encode(MostlyZero(mostly_zero(3)), "weights")
    assert encoded == {"$rows": {"numbers": "weights.numbers", "rows": "weights.rows"}, "length": 10}
    decoded = decode(encoded, encoder.arrays.__getitem__)
    assert decoded.shape == (10, 3)
    assert expand({"weights": decoded})["weights"].tobytes() == mostly_zero(3).tobytes()
    assert readable(encoded) == "<rows>"


@pytest.mark.parametrize("numbers", [[1, 0], [2, 2], [-1, 3], [0, 10], [0], [0, 1, 2], [2**63 - 1, -(2**63)]])
def test_wrong_numbers(numbers):
    with pytest.raises((ValueError, IndexError)):
        StoredRows({"numbers": np.array(numbers), "rows": np.ones((2, 3))}, 10)


@pytest.mark.parametrize("length", [-1, 1, 2**60, 2**70, "10", None])
def test_wrong_lengths(length):
    with pytest.raises((ValueError, ArithmeticError, TypeError)):
        StoredRows({"numbers": np.array([0, 5]), "rows": np.ones((2, 3))}, length).expand()


def test_wrong_types():
    for numbers, rows in ((np.array([0.0]), np.ones((1, 3))), (np.array([0]), np.ones((1, 3), np.float32))):
        with pytest.raises(ValueError, match="do not agree"):
            StoredRows({"numbers": numbers, "rows": rows}, 10)
