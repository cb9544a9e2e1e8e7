"""How `PreferenceMachine` learns from CandidateSets: linear, or with a kernel on the candidates' features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.rankers.base import check_sample_weight, warn_without_arcs
from arcrank.rankers.candidate_ranker import candidate_scale
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.outer_features import OuterFeatures
from arcrank.rankers.preference_machine.fitting import solve
from arcrank.rankers.preference_machine.landmarks import LandmarkMap, make_landmarks
from arcrank.rankers.scale import DataScale

if TYPE_CHECKING:
    from arcrank.rankers.preference_machine.machine import PreferenceMachine

__all__ = ["fit_candidates"]

_WEIGHTS = "coef_", "codes_", "intercept_", "embedding_", "dual_coef_", "support_vectors_"
_MOST_LANDMARKS = 5000  # candidates of which an exact kernel machine is made; its matrix then takes 200 MB


def fit_candidates(machine: PreferenceMachine, given: CandidateSets, y: Any, sample_weight: Any) -> PreferenceMachine:
    """Learn weights of the joint features; y has a grade for each candidate, or graphs over the candidates.

    With a kernel, landmarks among the candidates make the features of a linear machine. With all candidates as
    landmarks its margins are those of the kernel machine.
    """
    from arcrank.rankers.preference_machine.machine import LEARNT
    from arcrank.solvers.candidate_machine import CandidateMachine, make_candidate_problem

    _check_given(machine, given)
    weight = check_sample_weight(sample_weight, len(given))
    features, landmarks, scale = _features(machine, given, weight)
    sets, graphs = machine._learn_candidates(CandidateSets(features, given.ptr), y)
    machine.n_features_in_ = given.shape[1]
    warn_without_arcs(graphs)
    options: dict[str, Any] = {"aggregate": machine.aggregate, "normalize": machine.normalize}
    problem = make_candidate_problem(graphs, machine._pieces(), machine._loss(), weight, **options)
    pieces = float(problem.cost @ problem.pieces_of)
    machine.C_ = scale.cost(machine.C, machine._factor() if landmarks is None else 1.0, 1, pieces)
    problem.cost = machine.C_ * problem.cost
    for name in LEARNT:
        machine.__dict__.pop(name, None)
    solver = CandidateMachine(sets.features, sets.ptr, problem, shrinking=machine.shrinking, n_jobs=machine.n_jobs)
    solution = solve(machine, solver, graphs, problem)
    machine.support_ = np.flatnonzero(solution.store.count)
    machine._set_weights(solution.weights[:, None], features.shape[1])
    if landmarks is not None:
        machine._kernel, machine.support_, machine.support_vectors_ = (
            landmarks.kernel,
            landmarks.rows,
            landmarks.vectors,
        )
        machine.dual_coef_ = landmarks.coefficients(machine.coef_.T)
        del machine.coef_
    return machine


def _check_given(machine: PreferenceMachine, given: CandidateSets) -> None:
    if machine.codes is not None:
        raise ParameterError("codes are those of labels that all instances share; leave them out with CandidateSets.")
    if machine.kernel == "precomputed":
        raise ParameterError("CandidateSets need features; kernel='precomputed' knows only kernel values.")
    if isinstance(given.features, OuterFeatures):
        raise ParameterError("PreferenceMachine needs the joint features in memory: pass sets.stored().")


def _features(
    machine: PreferenceMachine, given: CandidateSets, weight: Array
) -> tuple[Any, LandmarkMap | None, DataScale]:
    """The features that a linear machine learns from, and what C="scale" is relative to."""
    machine._kind, machine.n_features_in_ = "candidates", given.shape[1]
    machine._check_candidates(given)
    if machine.kernel == "linear":
        return given.features, None, candidate_scale(given, weight)
    n, wanted = int(given.ptr[-1]), machine.landmarks
    if wanted is None and n > _MOST_LANDMARKS:
        raise ParameterError(
            f"An exact kernel machine of {n:,} candidates is too large; set landmarks, the number of candidates that "
            f"it is made of, such as {_MOST_LANDMARKS // 5}."
        )
    kernel = machine._kernel_without_constant(given.features)
    random = check_random_state(machine.random_state)
    found = make_landmarks(kernel, given.features, n if wanted is None else int(wanted), random)
    rows = np.repeat(weight, given.counts())
    return found.features(given.features), found, DataScale.of_diagonal(kernel.diagonal(given.features), rows)
