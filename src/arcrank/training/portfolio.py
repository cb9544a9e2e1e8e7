"""The candidates of automatic selection, by the kind of features and of preferences.

Each family of candidates differs in one number, C. Values of C are multiples of 1 / (mean squared length of the rows of
X), so that they do not depend on the units of the features. `benchmarks/portfolio_choices.py` has the comparison of
more families that these were taken from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank.errors import ParameterError
from arcrank.training.plan import BIPARTITE, Learner, Plan, parameter_names

__all__ = ["Family", "families_for", "is_low_dimensional", "mean_square", "restricted"]

MOST_DENSE_FEATURES = 500
"""Up to so many dense features nonlinear candidates are worth their time."""
_SPARSE = 0.1
"""The share of values other than 0 below which features are sparse."""
MOST_KERNEL_ROWS = 3000
"""Beyond so many rows a kernel machine uses a sample of them."""


@dataclass(frozen=True)
class Family:
    """Candidates that differ in C only; `start` is the first multiple that is tried, None if they have no C."""

    plan: Plan
    start: float | None = None

    def with_parameters(self, **more: Any) -> Family:
        """Return a copy with those of the given parameters that the learner has."""
        known = parameter_names(self.plan.learner)
        return Family(self.plan.with_parameters(**{name: v for name, v in more.items() if name in known}), self.start)


def _machine(decomposition: str, loss: str, **more: Any) -> Plan:
    return Plan(Learner.PREFERENCE_MACHINE, {"decomposition": decomposition, "loss": loss, **more})


def _log_linear(decomposition: str) -> Plan:
    return Plan(Learner.LOG_LINEAR, {"decomposition": decomposition})


_LABEL_SETS = (
    Family(_machine("domination", "squared-hinge"), 1.0),
    Family(_machine("disagreement", "squared-hinge"), 0.1),
    Family(_machine("domination", "hinge"), 1.0),
    Family(_log_linear("domination"), 30.0),
    Family(_log_linear("zero-one"), 30.0),
)
_OTHER_GRAPHS = (
    Family(_machine("disagreement", "squared-hinge"), 0.1),
    Family(_machine("identity", "hinge"), 1.0),
    Family(_log_linear("domination"), 30.0),
    Family(_log_linear("disagreement"), 30.0),
)


def families_for(X: Any, *, label_sets: bool) -> list[Family]:
    """List the families to compare for these features and this kind of preferences."""
    found = list(_LABEL_SETS if label_sets else _OTHER_GRAPHS)
    if is_low_dimensional(X):
        decomposition = "domination" if label_sets else "disagreement"
        found += [Family(Plan(Learner.TREES, {"decomposition": name})) for name in ("domination", "disagreement")]
        for gamma in _widths(X.shape[1]):
            found.append(Family(_machine(decomposition, "squared-hinge", kernel="rbf", gamma=gamma), 3.0))
    return found


_LABEL_RANKERS = [str(one) for one in Learner if one is not Learner.AUTO and one not in BIPARTITE]


def restricted(
    families: Sequence[Family], learners: Sequence[str] | None, parameters: Mapping[str, Any] | None
) -> list[Family]:
    """Return the families of these learners, with these parameters fixed; learners without a family become one.

    Raises a ParameterError for a learner that does not rank labels and for a parameter that no learner has.
    """
    names = list(_LABEL_RANKERS if learners is None else learners)
    unknown = [name for name in names if name not in _LABEL_RANKERS]
    if isinstance(learners, str) or unknown or not names:
        raise ParameterError(f"learners must be None or a list of {', '.join(_LABEL_RANKERS)}; got {learners!r}.")
    fixed = dict(parameters or {})
    strange = [key for key in fixed if not any(key in parameter_names(Learner(name)) for name in names)]
    if strange:
        raise ParameterError(f"parameters: {strange[0]!r} is not a parameter of {' or '.join(names)}.")
    found = [family for family in families if family.plan.learner in names]
    covered = {family.plan.learner for family in families}
    if learners is not None:
        found += [Family(Plan(Learner(name))) for name in names if name not in covered]
    distinct = {one.plan.describe(): one for one in (family.with_parameters(**fixed) for family in found)}
    return list(distinct.values())


def _widths(n_features: int) -> tuple[float, ...]:
    """Widths of the RBF kernel on standardised features: 1/d, as scikit-learn's "scale", and a few around it."""
    return tuple(factor / n_features for factor in (1.0, 0.3, 3.0))


def is_low_dimensional(X: Any) -> bool:
    """Whether X has few features, mostly not 0, so that linear scores are likely to be too simple."""
    n, d = X.shape if hasattr(X, "shape") else np.shape(X)
    filled = X.nnz if sp.issparse(X) else np.count_nonzero(np.asarray(X))
    return d <= MOST_DENSE_FEATURES and filled >= _SPARSE * n * d


def mean_square(X: Any) -> float:
    """Return the mean squared length of the rows, 1 if all of them are zero.

    >>> mean_square(np.array([[3.0, 4.0], [0.0, 1.0]]))
    13.0
    """
    squares = X.multiply(X).sum() if sp.issparse(X) else np.vdot(X, X)
    return float(squares) / max(1, X.shape[0]) or 1.0
