"""Measures of a model on documents that it has not seen, comparisons of two models, and reports of both.

Names are imported when they are first used, so that a command which only writes reports starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcrank.evaluation.comparer import compare
    from arcrank.evaluation.comparison import Comparison
    from arcrank.evaluation.evaluator import evaluate
    from arcrank.evaluation.results import Evaluation

__all__ = ["Comparison", "Evaluation", "compare", "evaluate"]

_HOME = {"Comparison": "comparison", "Evaluation": "results", "compare": "comparer", "evaluate": "evaluator"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
