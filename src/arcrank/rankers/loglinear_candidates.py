"""How `LogLinearRanker` learns from CandidateSets: the three solvers on joint features."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.graphs import ArcGraphs, CandidateGraphs
from arcrank.losses.candidates import CandidateLoss
from arcrank.rankers.base import Sizes, check_sample_weight, warn_without_arcs
from arcrank.rankers.candidate_ranker import candidate_scale
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.fingerprint import fingerprint
from arcrank.rankers.outer_features import OuterFeatures
from arcrank.solvers.design import CandidateDesign

if TYPE_CHECKING:
    from arcrank.rankers.loglinear import LogLinearRanker

__all__ = ["fit_candidates"]


def fit_candidates(ranker: LogLinearRanker, given: CandidateSets, y: Any, sample_weight: Any) -> LogLinearRanker:
    """Learn weights of the joint features; y has a grade for each candidate, or graphs over the candidates."""
    if ranker.label_features is not None:
        raise ParameterError("CandidateSets have features of their own; leave label_features out.")
    weight = check_sample_weight(sample_weight, len(given))
    sets, graphs = ranker._learn_candidates(given, y)
    warn_without_arcs(graphs)
    ranker._set_scale(candidate_scale(given, weight), n_labels=1)
    ranker._constant = 1.0
    outer = isinstance(sets.features, OuterFeatures)
    ranker.solver_ = "lbfgs" if outer and ranker.solver == "auto" else _choose_solver(ranker, sets, graphs)
    if ranker.solver_ == "lbfgs":
        ranker._minimise(CandidateDesign(sets.features), _loss(ranker, graphs, ranker.C_ * weight))
        return ranker
    if outer:
        raise ParameterError(
            f"solver={ranker.solver!r} needs the joint features in memory: use solver='lbfgs', or pass sets.stored()."
        )
    if ranker.solver_ == "dual":
        _fit_dual(ranker, sets.features, graphs, weight)
    else:
        from arcrank.solvers.loglinear_boosting import CandidateSums

        problem = CandidateSums(sets.features, graphs, ranker._pieces(), weight, normalize=ranker._divides)
        ranker._boost(problem, (sets.shape[1],))
    return ranker


def _choose_solver(ranker: LogLinearRanker, sets: CandidateSets, graphs: CandidateGraphs) -> str:
    if ranker.solver != "auto":
        return ranker.solver
    from arcrank.solvers.candidate_dual import count_candidate_flows

    flows = count_candidate_flows(graphs, ranker._pieces())
    explicit = isinstance(graphs.graphs, ArcGraphs)
    # A row of scores for each candidate: "few" flows are at most four for each of them.
    return ranker._choose_solver(Sizes(int(sets.ptr[-1]), sets.shape[1], 1, flows, explicit))


def _loss(ranker: LogLinearRanker, graphs: CandidateGraphs, weight: Array) -> CandidateLoss:
    from arcrank.losses import LogLinearLoss

    bind = ranker.loss or partial(LogLinearLoss, normalize=ranker._divides, n_jobs=ranker.n_jobs)
    return CandidateLoss(graphs, ranker._pieces(), weight, bind)


def _fit_dual(ranker: LogLinearRanker, features: Any, graphs: CandidateGraphs, weight: Array) -> None:
    from arcrank.solvers.candidate_dual import CandidateAscent

    ascent = CandidateAscent(features, graphs, ranker._pieces(), ranker.C_ * weight, normalize=ranker._divides)
    ranker._ascend(ascent, fingerprint(features, graphs, weight) if ranker.warm_start else "")
