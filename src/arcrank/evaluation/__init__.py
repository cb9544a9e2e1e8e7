"""Measures of a model on documents that it has not seen, comparisons of two models, and reports of both.

Names are imported when they are first used, so that a command which only writes reports starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.evaluation.candidates import CandidateEvaluation, evaluate_candidates
    from arcrank.evaluation.comparer import compare
    from arcrank.evaluation.comparison import Comparison
    from arcrank.evaluation.documents import DocumentEvaluation, evaluate_documents
    from arcrank.evaluation.evaluator import evaluate
    from arcrank.evaluation.leaderboard import LeaderboardReport
    from arcrank.evaluation.results import Evaluation

__all__ = [
    "CandidateEvaluation",
    "Comparison",
    "DocumentEvaluation",
    "Evaluation",
    "LeaderboardReport",
    "compare",
    "evaluate",
    "evaluate_candidates",
    "evaluate_documents",
]

_HOMES = {"Comparison": "comparison", "Evaluation": "results", "compare": "comparer", "evaluate": "evaluator"}
_HOMES |= {"LeaderboardReport": "leaderboard"}
_HOMES |= dict.fromkeys(("CandidateEvaluation", "evaluate_candidates"), "candidates")
_HOMES |= dict.fromkeys(("DocumentEvaluation", "evaluate_documents"), "documents")
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
