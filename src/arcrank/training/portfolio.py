"""The candidates of automatic selection, by the kind of features and of preferences.

A family of candidates is a plan without C: its C is searched for, starting from the ranker's default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank.errors import ParameterError
from arcrank.training import plan as plans
from arcrank.training.plan import BIPARTITE, Learner, Plan, parameter_names

__all__ = [
    "families_for",
    "has_many_labels",
    "is_low_dimensional",
    "is_mostly_zero",
    "restricted",
    "with_known_parameters",
]

MOST_DENSE_FEATURES = 500
"""Up to so many dense features nonlinear candidates are worth their time."""
_SPARSE = 0.1
"""The share of values other than 0 below which features are sparse."""
MOST_KERNEL_ROWS = 3000
"""Beyond so many rows a kernel machine uses a sample of them as landmarks."""
LANDMARKS = 500


def _machine(decomposition: str, loss: str, **more: Any) -> Plan:
    return Plan(Learner.PREFERENCE_MACHINE, {"decomposition": decomposition, "loss": loss, **more})


def _log_linear(decomposition: str) -> Plan:
    return Plan(Learner.LOG_LINEAR, {"decomposition": decomposition})


_LABEL_SETS = (
    _machine("domination", "squared-hinge"),
    _machine("disagreement", "squared-hinge"),
    _log_linear("domination"),
    _log_linear("zero-one"),
)
"""The hinge under domination took up to a third of the time, and what was selected without it was as good
(`benchmarks/auto_families.py`)."""
_OTHER_GRAPHS = (
    _machine("disagreement", "squared-hinge"),
    _machine("identity", "hinge"),
    _log_linear("domination"),
    _log_linear("disagreement"),
)

_COUNTED = {"decomposition": "disagreement", "arc_weights": "count"}
_VOTES = (
    Plan(Learner.LOG_LINEAR, dict(_COUNTED)),
    _machine("disagreement", "squared-hinge"),
    _machine("disagreement", "hinge"),
)
"""Candidates whose loss of an arc is multiplied by its weight: ten votes count ten times."""

_FOREST = {"n_rounds": 1, "n_runs": 100, "learning_rate": 1.0, "max_leaf_nodes": 100_000, "min_samples_leaf": 1}
"""Trees that are averaged instead of boosted: each is one step from the best constant ranking."""


def has_many_labels(X: Any, n_labels: int) -> bool:
    """Whether a weight for each feature and label would be too many, so that a ranker of shortlists is used."""
    return sp.issparse(X) and n_labels > plans.MOST_LABELS


def families_for(X: Any, n_labels: int, *, label_sets: bool, votes: bool = False, words: bool = False) -> list[Plan]:
    """List the families to compare for these features and this kind of preferences.

    Nonlinear families are for few dense features; those of `words` are left out however few there are.
    """
    if has_many_labels(X, n_labels):
        return [Plan(Learner.SHORTLIST)]
    found = list(_VOTES if votes else _LABEL_SETS if label_sets else _OTHER_GRAPHS)
    if words or not is_low_dimensional(X):
        return found
    if votes:
        forest = {**_FOREST, "steps": "gradient"}  # in Newton's steps the weights of votes cancel within a leaf
        found += [Plan(Learner.TREES, {**_COUNTED, **more}) for more in ({}, forest)]
    else:
        decomposition = "domination" if label_sets else "disagreement"
        found += [Plan(Learner.TREES, {"decomposition": decomposition, **more}) for more in ({}, _FOREST)]
        for gamma in _widths(X.shape[1]):
            sampled = {"landmarks": LANDMARKS} if X.shape[0] > MOST_KERNEL_ROWS else {}
            found.append(_machine(decomposition, "squared-hinge", kernel="rbf", gamma=gamma, **sampled))
    return found


_LABEL_RANKERS = [str(one) for one in Learner if one is not Learner.AUTO and one not in BIPARTITE]


def restricted(
    families: Sequence[Plan], learners: Sequence[str] | None, parameters: Mapping[str, Any] | None
) -> list[Plan]:
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
    found = [family for family in families if family.learner in names]
    covered = {family.learner for family in families}
    if learners is not None:
        found += [Plan(Learner(name)) for name in names if name not in covered]
    distinct = {one.describe(): one for one in (with_known_parameters(family, fixed) for family in found)}
    return list(distinct.values())


def _widths(n_features: int) -> tuple[float, ...]:
    """Widths of the RBF kernel on standardised features: 1/d, as scikit-learn's "scale", and a few around it."""
    return tuple(factor / n_features for factor in (1.0, 0.3, 3.0))


def is_low_dimensional(X: Any) -> bool:
    """Whether X has few features, mostly not 0, so that linear scores are likely to be too simple."""
    return np.shape(X)[1] <= MOST_DENSE_FEATURES and not is_mostly_zero(X)


def is_mostly_zero(X: Any) -> bool:
    """Whether X has few values other than 0, as counts of words have."""
    n, d = np.shape(X)
    filled = X.nnz if sp.issparse(X) else np.count_nonzero(np.asarray(X))
    return bool(filled < _SPARSE * n * d)


def with_known_parameters(plan: Plan, parameters: Mapping[str, Any]) -> Plan:
    """Return a copy with those of the given parameters that the learner has."""
    known = parameter_names(plan.learner)
    return plan.with_parameters(**{name: value for name, value in parameters.items() if name in known})
