"""arcrank learns to rank labels from preferences.

Rankers are scikit-learn estimators: `fit(X, y)` takes any kind of preference over labels, `rank(X)` puts all labels in
order. Names are imported when they are first used, so `import arcrank` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "CandidateSets": "arcrank.rankers.candidates",
    "LogLinearRanker": "arcrank.rankers.loglinear",
}

__all__ = ["CandidateSets", "LogLinearRanker", "__version__"]

if TYPE_CHECKING:
    from arcrank.rankers.candidates import CandidateSets
    from arcrank.rankers.loglinear import LogLinearRanker


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'arcrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
