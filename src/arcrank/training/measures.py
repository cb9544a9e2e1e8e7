"""The measures that candidates are compared by and that training reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arcrank import metrics
from arcrank.errors import ParameterError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.training.plan import Measure

__all__ = [
    "GREATER_IS_BETTER",
    "all_measures",
    "check_measure",
    "default_measure",
    "is_of_label_sets",
    "known_mean",
    "loss_of",
    "measure_documents",
]

GREATER_IS_BETTER = (Measure.AVERAGE_PRECISION, Measure.BALANCED)
_OF_LABEL_SETS = ("average_precision", "ranking_loss", "coverage", "one_error")
_OF_GRAPHS = ("domination_error", "dominated_error", "disagreement_error", "zero_one_error")


def is_of_label_sets(graphs: PreferenceGraphs) -> bool:
    """Whether every graph has at most two layers, so that there are relevant labels and others."""
    return isinstance(graphs, LayeredGraphs) and graphs.n_layers <= 2


def check_measure(measure: str, graphs: PreferenceGraphs) -> None:
    """Refuse a measure of label sets for graphs with more than two layers or with arcs."""
    if measure in (Measure.BALANCED, *_OF_LABEL_SETS) and not is_of_label_sets(graphs):
        raise ParameterError(
            f"The measure {measure} is for label sets, and these documents have layers, rankings or arcs.\n"
            f"Use {', '.join(_OF_GRAPHS[:-1])} or {_OF_GRAPHS[-1]}."
        )


def default_measure(graphs: PreferenceGraphs) -> str:
    """Return the measure used unless the user names another.

    For label sets it must serve both ends of the list: average precision sees the top, ranking loss all of it. For
    other preferences it is the share of wrong arcs.
    """
    return Measure.BALANCED if is_of_label_sets(graphs) else Measure.DISAGREEMENT_ERROR


def measure_documents(name: str, graphs: PreferenceGraphs, scores: Any) -> Any:
    """Compute one measure, by its name, for each document."""
    if name == Measure.BALANCED:
        precision = metrics.average_precision(graphs, scores, reduce="none")
        return (precision + 1.0 - metrics.ranking_loss(graphs, scores, reduce="none")) / 2.0
    return getattr(metrics, name)(graphs, scores, reduce="none")


def loss_of(value: float, measure: str) -> float:
    """Turn the value of a measure into a loss, 0 at best; infinite where there was nothing to measure."""
    if math.isnan(value):
        return math.inf
    return 1.0 - value if measure in GREATER_IS_BETTER else value


def known_mean(per_document: Any) -> float:
    """Average over the documents that have something to measure; NaN if there are none."""
    known = per_document[~np.isnan(per_document)]
    return float(known.mean()) if len(known) else math.nan


def all_measures(graphs: PreferenceGraphs, scores: Any) -> dict[str, float]:
    """Compute the measures that suit this kind of supervision."""
    names = _OF_LABEL_SETS if is_of_label_sets(graphs) else _OF_GRAPHS
    return {name: known_mean(measure_documents(name, graphs, scores)) for name in names}
