"""Metrics of rankings. Ties count as errors everywhere."""

from arcrank.metrics.bipartite import auc, precision_recall, top_precision, uninterpolated_precision
from arcrank.metrics.generalized import (
    disagreement_error,
    dominated_error,
    domination_error,
    generalized_error,
    zero_one_error,
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
from arcrank.metrics.scorers import scorer

__all__ = [
    "PrecisionRecall",
    "auc",
    "average_precision",
    "coverage",
    "disagreement_error",
    "disagreement_error_percent",
    "dominated_error",
    "domination_error",
    "domination_error_percent",
    "generalized_error",
    "identity_error_percent",
    "indicator_loss",
    "kendall_tau",
    "max_f1",
    "ndcg_at",
    "normalized_loss",
    "one_error",
    "precision_at",
    "precision_recall",
    "precision_recall_graph",
    "ranking_loss",
    "recall_at",
    "scorer",
    "size_loss",
    "spearman",
    "top_precision",
    "uninterpolated_precision",
    "zero_one_error",
]
