"""Boosting with a tree for each label and round, grown by LightGBM (the extra `trees`).

A tree is fitted to its label's gradients g = inflow - outflow and curvatures h
(`arcrank.compiled.loglinear_curvature`), and each of its leaves adds the Newton step `-rate sum g / (sum h + l2)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.solvers.forest import Forest, Tree, join_trees, make_tree

if TYPE_CHECKING:
    from arcrank.losses import LogLinearLoss
    from arcrank.solvers.history import History

__all__ = ["LightGBMTrees", "import_lightgbm"]

_SMALLEST = 1e-30  # LightGBM divides by sums of curvatures, as float32
_DEFAULT_LEFT, _NAN_SEEN = 2, 8  # bits of LightGBM's decision_type
_ALWAYS = {"objective": "custom", "verbose": -1, "deterministic": True, "force_row_wise": True}
_DATA = {"verbose": -1, "min_data_in_bin": 1, "feature_pre_filter": False}


def import_lightgbm() -> Any:
    """Import LightGBM; the error of a missing one says how to install it."""
    try:
        import lightgbm
    except ImportError as error:
        raise ParameterError(
            "TreeRanker(shared_trees=False) trains with LightGBM, which is not installed: install arcrank with its "
            "extra, arcrank[trees]. Trained models rank without it."
        ) from error
    return lightgbm


class LightGBMTrees:
    """Several runs of boosting on the same rows, whose mean is `forest()`; usable after any round.

    Parameters
    ----------
    X : (n, d) array, dense or CSR
        The rows; NaN is a missing value.
    loss : LogLinearLoss
        Of their graphs.
    start : (k,) array
        Scores before the first round.
    settings : mapping
        LightGBM's parameters of trees.
    """

    def __init__(self, X: Any, loss: LogLinearLoss, start: Array, settings: Mapping[str, Any]) -> None:
        self._lightgbm = import_lightgbm()
        self._data = self._lightgbm.Dataset(X, params=_DATA | {"num_threads": settings["num_threads"]})
        self._loss, self._start, self._settings = loss, start, settings
        self._boosters: list[Any] = []

    def run(self, n_rounds: int, seed: int, history: History) -> bool:
        """Boost from the beginning; True if the history's callback wants to stop."""
        values: list[float] = []

        def derivatives(scores: Array, _: Any) -> tuple[Array, Array]:
            value, gradient, curvature = self._loss.derivatives(np.ascontiguousarray(scores) + self._start)
            values.append(value)
            return gradient, np.maximum(curvature, _SMALLEST)

        parameters = {**_ALWAYS, **self._settings, "num_class": len(self._start), "seed": seed}
        booster = self._lightgbm.Booster(parameters, self._data)
        self._boosters.append(booster)
        for _ in range(n_rounds):
            no_split_left = booster.update(fobj=derivatives)
            if history.add(loss=values[-1], run=len(self._boosters)):
                return True
            if no_split_left:
                break
        return False

    def forest(self) -> Forest:
        """The mean of the runs."""
        texts = [booster.model_to_string() for booster in self._boosters]
        trees = [(column, _arrays(tree)) for text in texts for column, tree in _trees(text, len(self._start))]
        return join_trees(trees, len(texts))


def _trees(text: str, n_columns: int) -> Iterator[tuple[int, dict[str, str]]]:
    """The trees in the text of a LightGBM model, each with its column: `name=values` on one line each."""
    body = text[: text.index("end of trees")]
    for number, block in enumerate(body.split("\nTree=")[1:]):
        lines = (line.partition("=") for line in block.splitlines()[1:])
        yield number % n_columns, {name: values for name, _, values in lines}


def _arrays(tree: Mapping[str, str]) -> Tree:
    """The arrays of one tree: the splits in LightGBM's order, in which children come later, and then the leaves."""
    n_leaves = int(tree["num_leaves"])
    splits = n_leaves - 1
    values = np.concatenate([np.zeros(splits), _numbers(tree["leaf_value"])])[:, None]
    if not splits:
        return make_tree(np.array([-1]), np.zeros(1), np.zeros((2, 1), np.int64), np.ones(1), values)
    leaves = np.full(n_leaves, -1)
    features = np.concatenate([_numbers(tree["split_feature"]).astype(np.int64), leaves])
    thresholds = np.concatenate([_numbers(tree["threshold"]), np.zeros(n_leaves)])
    children = np.stack([_numbers(tree[side]).astype(np.int64) for side in ("left_child", "right_child")])
    children = np.where(children >= 0, children, splits + ~children)  # leaves are written as their complement
    counts = np.concatenate([_numbers(tree["internal_count"]), _numbers(tree["leaf_count"])])
    kind = np.concatenate([_numbers(tree["decision_type"]).astype(np.int64), np.zeros(n_leaves, np.int64)])
    missing = (kind & _NAN_SEEN) > 0, (kind & _DEFAULT_LEFT) > 0
    return make_tree(features, thresholds, np.pad(children, ((0, 0), (0, n_leaves))), counts, values, missing)


def _numbers(text: str) -> Array:
    return np.array(text.split(), dtype=np.float64)
