"""Numbers that users pass: what is accepted, what comes back, and what the messages say."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank._validation import check_int, check_real
from arcrank.errors import GraphError, ParameterError


@pytest.mark.parametrize("value", [1, 2.5, np.float32(2.5), np.int8(3), np.float64(1e300)])
def test_real_numbers_come_back_as_floats(value):
    assert type(check_real("C", value, above=0)) is float
    assert check_real("C", value, above=0) == value


@pytest.mark.parametrize("value", [0, -1, None, "1", True, np.True_, np.nan, np.inf, 10**400, 1j, [1]])
def test_what_is_not_a_positive_number(value):
    with pytest.raises(ParameterError, match="C must be a number greater than 0, got "):
        check_real("C", value, above=0)


@pytest.mark.parametrize("value", [0, -1, None, "1", True, 1.0, np.float64(2), np.nan])
def test_what_is_not_a_positive_whole_number(value):
    with pytest.raises(ParameterError, match="epochs must be a whole number of at least 1, got "):
        check_int("epochs", value, at_least=1)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"above": 0, "below": 1}, "a number strictly between 0 and 1, got 7"),
        ({"at_least": 0, "at_most": 1}, "a number from 0 to 1, got 7"),
        ({"at_least": 8}, "a number of at least 8, got 7"),
        ({"above": 0, "at_most": 1}, "a number greater than 0 and of at most 1, got 7"),
        ({"below": 2}, "a number less than 2, got 7"),
        ({"at_most": 2000, "also": "None"}, "a number of at most 2,000, or None, got 9999"),
    ],
)
def test_bounds_in_words(bounds, words):
    with pytest.raises(ParameterError, match=f"^x must be {words}"):
        check_real("x", 9999 if "9999" in words else 7, **bounds)


def test_bounds_hold_at_their_ends():
    assert check_real("x", 0, at_least=0, at_most=1) == 0.0
    assert check_real("x", 1, at_least=0, at_most=1) == 1.0
    assert check_int("n", 4, at_least=4, at_most=4) == 4
    for end in (0, 1):
        with pytest.raises(ParameterError):
            check_real("x", end, above=0, below=1)


def test_any_finite_number():
    assert check_real("x", -3) == -3.0
    with pytest.raises(ParameterError, match="x must be a finite number, got inf"):
        check_real("x", np.inf)


def test_the_kind_of_error_and_the_reason():
    with pytest.raises(GraphError, match=r"r must be a whole number from 1 to 4 \(there are 4 labels\), got 5"):
        check_int("r", 5, at_least=1, at_most=4, why="there are 4 labels", error=GraphError)
