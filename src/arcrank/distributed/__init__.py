"""Training past one machine and past its memory: the rankers on Dask, and over blocks of mapped files.

Names are imported when they are first used; those that start with Dask need the extra `dask`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.distributed.loglinear import DaskLogLinearRanker
    from arcrank.distributed.machine import DaskPreferenceMachine
    from arcrank.distributed.mmp import DaskMMPRanker
    from arcrank.distributed.outofcore import fit_shards, plan_shards
    from arcrank.distributed.rankboost import DaskRankBoost
    from arcrank.distributed.shards import ShardFolder, write_shards
    from arcrank.distributed.shortlist import DaskShortlistRanker
    from arcrank.distributed.text import DaskTextFeatures

__all__ = [
    "DaskLogLinearRanker",
    "DaskMMPRanker",
    "DaskPreferenceMachine",
    "DaskRankBoost",
    "DaskShortlistRanker",
    "DaskTextFeatures",
    "ShardFolder",
    "fit_shards",
    "plan_shards",
    "write_shards",
]

_HOMES = {
    "DaskLogLinearRanker": "loglinear",
    "DaskMMPRanker": "mmp",
    "DaskPreferenceMachine": "machine",
    "DaskRankBoost": "rankboost",
    "DaskShortlistRanker": "shortlist",
    "DaskTextFeatures": "text",
    "ShardFolder": "shards",
    "fit_shards": "outofcore",
    "plan_shards": "outofcore",
    "write_shards": "shards",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
