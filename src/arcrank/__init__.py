"""arcrank learns to rank labels from preferences.

Rankers are scikit-learn estimators: `fit(X, y)` takes any kind of preference over labels, `rank(X)` puts all labels in
order. `save` and `load` keep a fitted model in one file. Names are imported when they are first used, so
`import arcrank` is fast.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # of `typing`, which takes longer to import than all of this file
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_HOME = {
    "CandidateSets": "arcrank.rankers.candidates",
    "LogLinearRanker": "arcrank.rankers.loglinear",
    "MMPRanker": "arcrank.rankers.online",
    "PerceptronRanker": "arcrank.rankers.online",
    "PreferenceMachine": "arcrank.rankers.preference_machine",
    "RankBoost": "arcrank.rankers.rankboost",
    "RocchioRanker": "arcrank.rankers.rocchio",
    "SemiSupervisedLogistic": "arcrank.rankers.semisupervised_logistic",
    "SemiSupervisedRankBoost": "arcrank.rankers.semisupervised",
    "TransductiveSVM": "arcrank.rankers.transductive",
    "load": "arcrank.modelfile",
    "save": "arcrank.modelfile",
}

__all__ = [
    "CandidateSets",
    "LogLinearRanker",
    "MMPRanker",
    "PerceptronRanker",
    "PreferenceMachine",
    "RankBoost",
    "RocchioRanker",
    "SemiSupervisedLogistic",
    "SemiSupervisedRankBoost",
    "TransductiveSVM",
    "__version__",
    "load",
    "save",
]

if TYPE_CHECKING:
    from arcrank.modelfile import load, save
    from arcrank.rankers.candidates import CandidateSets
    from arcrank.rankers.loglinear import LogLinearRanker
    from arcrank.rankers.online import MMPRanker, PerceptronRanker
    from arcrank.rankers.preference_machine import PreferenceMachine
    from arcrank.rankers.rankboost import RankBoost
    from arcrank.rankers.rocchio import RocchioRanker
    from arcrank.rankers.semisupervised import SemiSupervisedRankBoost
    from arcrank.rankers.semisupervised_logistic import SemiSupervisedLogistic
    from arcrank.rankers.transductive import TransductiveSVM


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'arcrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
