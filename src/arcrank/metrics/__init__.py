"""Metrics of rankings, where a tie always counts as an error, and of predicted label sets and probabilities."""

from arcrank.metrics.bipartite import auc, precision_recall, top_precision, uninterpolated_precision
from arcrank.metrics.calibration import (
    expected_calibration_error,
    expected_calibration_error_interval,
    first_label_calibration_error,
    reliability_curve,
)
from arcrank.metrics.generalized import (
    disagreement_error,
    dominated_error,
    domination_error,
    generalized_error,
    zero_one_error,
)
from arcrank.metrics.label_sets import (
    label_f1,
    macro_f1,
    micro_f1,
    micro_precision,
    micro_recall,
    subset_accuracy,
)
from arcrank.metrics.orders import kendall_tau, ndcg_at, spearman
from arcrank.metrics.ranking import (
    PrecisionRecall,
    average_precision,
    coverage,
    disagreement_error_percent,
    domination_error_percent,
    identity_error_percent,
    indicator_loss,
    max_f1,
    normalized_loss,
    one_error,
    precision_at,
    precision_recall_graph,
    ranking_loss,
    recall_at,
    size_loss,
)
from arcrank.metrics.reliability import ReliabilityCurve
from arcrank.metrics.scorers import scorer

__all__ = [
    "PrecisionRecall",
    "ReliabilityCurve",
    "auc",
    "average_precision",
    "coverage",
    "disagreement_error",
    "disagreement_error_percent",
    "dominated_error",
    "domination_error",
    "domination_error_percent",
    "expected_calibration_error",
    "expected_calibration_error_interval",
    "first_label_calibration_error",
    "generalized_error",
    "identity_error_percent",
    "indicator_loss",
    "kendall_tau",
    "label_f1",
    "macro_f1",
    "max_f1",
    "micro_f1",
    "micro_precision",
    "micro_recall",
    "ndcg_at",
    "normalized_loss",
    "one_error",
    "precision_at",
    "precision_recall",
    "precision_recall_graph",
    "ranking_loss",
    "recall_at",
    "reliability_curve",
    "scorer",
    "size_loss",
    "spearman",
    "subset_accuracy",
    "top_precision",
    "uninterpolated_precision",
    "zero_one_error",
]
