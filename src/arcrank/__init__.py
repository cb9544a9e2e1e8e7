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
    "AutoRanker": "arcrank.training.auto",
    "AverageRanker": "arcrank.rankers.average",
    "BootstrapRanker": "arcrank.rankers.bootstrap",
    "BradleyTerry": "arcrank.rankers.bradley_terry",
    "CUT": "arcrank.graphs.cut",
    "CandidateSets": "arcrank.rankers.candidates",
    "ConformalSets": "arcrank.rankers.conformal",
    "LogLinearRanker": "arcrank.rankers.loglinear",
    "MMPRanker": "arcrank.rankers.online.mmp",
    "OnlinePreferenceMachine": "arcrank.rankers.online.preference_machine",
    "OrdinalRanker": "arcrank.rankers.ordinal",
    "PRankRanker": "arcrank.rankers.online.prank",
    "PerceptronRanker": "arcrank.rankers.online.perceptron",
    "PreferenceMachine": "arcrank.rankers.preference_machine.machine",
    "RankBoost": "arcrank.bipartite.rankboost",
    "RankingPipeline": "arcrank.rankers.pipeline",
    "RocchioRanker": "arcrank.rankers.rocchio",
    "SemiSupervisedLogistic": "arcrank.bipartite.semisupervised_logistic",
    "SemiSupervisedRankBoost": "arcrank.bipartite.semisupervised_rankboost",
    "SemiSupervisedRanker": "arcrank.rankers.semisupervised",
    "ShortlistRanker": "arcrank.rankers.shortlist.ranker",
    "TransductiveSVM": "arcrank.bipartite.transductive_svm",
    "TreeRanker": "arcrank.rankers.trees",
    "load": "arcrank.modelfile",
    "make_ranking_pipeline": "arcrank.rankers.pipeline",
    "save": "arcrank.modelfile",
}

__all__ = [
    "CUT",
    "AutoRanker",
    "AverageRanker",
    "BootstrapRanker",
    "BradleyTerry",
    "CandidateSets",
    "ConformalSets",
    "LogLinearRanker",
    "MMPRanker",
    "OnlinePreferenceMachine",
    "OrdinalRanker",
    "PRankRanker",
    "PerceptronRanker",
    "PreferenceMachine",
    "RankBoost",
    "RankingPipeline",
    "RocchioRanker",
    "SemiSupervisedLogistic",
    "SemiSupervisedRankBoost",
    "SemiSupervisedRanker",
    "ShortlistRanker",
    "TransductiveSVM",
    "TreeRanker",
    "__version__",
    "load",
    "make_ranking_pipeline",
    "save",
]

if TYPE_CHECKING:
    from arcrank.bipartite.rankboost import RankBoost
    from arcrank.bipartite.semisupervised_logistic import SemiSupervisedLogistic
    from arcrank.bipartite.semisupervised_rankboost import SemiSupervisedRankBoost
    from arcrank.bipartite.transductive_svm import TransductiveSVM
    from arcrank.graphs.cut import CUT
    from arcrank.modelfile import load, save
    from arcrank.rankers.average import AverageRanker
    from arcrank.rankers.bootstrap import BootstrapRanker
    from arcrank.rankers.bradley_terry import BradleyTerry
    from arcrank.rankers.candidates import CandidateSets
    from arcrank.rankers.conformal import ConformalSets
    from arcrank.rankers.loglinear import LogLinearRanker
    from arcrank.rankers.online import MMPRanker, OnlinePreferenceMachine, PerceptronRanker
    from arcrank.rankers.online.prank import PRankRanker
    from arcrank.rankers.ordinal import OrdinalRanker
    from arcrank.rankers.pipeline import RankingPipeline, make_ranking_pipeline
    from arcrank.rankers.preference_machine.machine import PreferenceMachine
    from arcrank.rankers.rocchio import RocchioRanker
    from arcrank.rankers.semisupervised import SemiSupervisedRanker
    from arcrank.rankers.shortlist.ranker import ShortlistRanker
    from arcrank.rankers.trees import TreeRanker
    from arcrank.training.auto import AutoRanker


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'arcrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
