"""What metrics say of a truth that has names in the place of columns."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.errors import GraphError, InputError
from arcrank.metrics import disagreement_error, generalized_error, ranking_loss


@pytest.mark.parametrize("Y", [[["a"], ["b", "c"]], [[], ["a"]], ["a", "b"], np.array([["a", "b"]]), [("a", "b")]])
def test_names_have_no_columns(Y):
    with pytest.raises(InputError, match=r"names the label '[ab]'.*as_graphs\(y, labels=ranker.labels_\)"):
        ranking_loss(Y, np.eye(3)[:2])


def test_missing_labels_are_named_by_labels():
    with pytest.raises(InputError, match=r"as_graphs\(y, labels=ranker.labels_\)"):
        disagreement_error([["a"], ["b"]], np.eye(3)[:2])


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda _heads, _tails: [[0]], r"takes \(_heads, _tails\).*\(heads, tails, row\)"),
        (lambda *_: None, "returned None for instance 0; it must return a list"),
        (lambda *_: 3, "returned 3"),
    ],
)
def test_a_callable_that_is_no_decomposition(cut, message):
    with pytest.raises(GraphError, match=message):
        generalized_error(["a", "b"], np.eye(2), cut)


def test_built_in_callables_need_not_tell_their_arguments():
    with pytest.raises(GraphError):
        generalized_error(["a", "b"], np.eye(2), max)
